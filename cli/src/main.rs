//! The command `gavel`.

use std::process::ExitCode;

fn main() -> ExitCode {
    gavel_cli::run(std::env::args_os())
}
