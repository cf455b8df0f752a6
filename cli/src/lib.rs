//! The program `gavel`: evaluates CEL as a Kubernetes API server does, on the command line and as an admission webhook.
//!
//! ```text
//! $ gavel eval '[1, 2, 3].map(x, x * x)'
//! $ gavel lint policies/                       # what an API server would reject, and probable mistakes
//! $ gavel check policies/ deployment.yaml      # what policies decide about manifests
//! $ gavel serve --demo                         # the admission webhook with sample policies
//! ```
//!
//! `docs/command-line.md` lists all commands and flags. A program of your own calls the crate `gavel` (in process), or `gavel batch`
//! (JSON requests over a pipe), not this crate: [`run`] parses arguments and prints.
//!
//! Layer 6: reads arguments and files, calls the other crates, prints. Machine-readable output goes to standard output, everything else to
//! standard error.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

mod args;
mod baseline;
mod commands;
mod config;
mod exit_code;
mod findings;
mod fix;
mod input;
mod manifests;
mod newer;
mod progress;
mod rbac;
#[cfg(test)]
mod reference;
mod report;

/// Runs the command that the arguments describe; the first of them is the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    match args::Cli::try_parse_from(args) {
        Ok(cli) => commands::run(cli).into(),
        Err(error) => {
            // Help goes to standard output with status 0, a wrong command line to standard error with status 2.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}
