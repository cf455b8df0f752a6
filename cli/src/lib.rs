//! The program `gavel`: evaluates CEL as a Kubernetes API server does, on the command line and as an admission webhook.
//!
//! ```text
//! $ gavel eval '[1, 2, 3].map(x, x * x)'
//! $ gavel lint policies/                       # what an API server would reject, and probable mistakes
//! $ gavel check policies/ deployment.yaml      # what policies decide about manifests
//! $ gavel serve --demo                         # the admission webhook with sample policies
//! ```
//!
//! `docs/command-line.md` lists all commands and flags. To evaluate CEL from another program, do not use this crate, which prints its
//! results. Call the crate `gavel` in the process, or send JSON requests over a pipe to `gavel batch`.
//!
//! Layer 6: this crate reads arguments and files, calls the other crates, and prints the results. Results go to standard output; errors,
//! warnings, summaries and the progress bar go to standard error.

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
mod usage;

/// Runs the command that the arguments describe. The first argument is the name of the program.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    match args::Cli::try_parse_from(&args) {
        Ok(cli) => commands::run(cli).into(),
        Err(error) => {
            // Help goes to standard output, with exit status 0. A usage error goes to standard error, with exit status 2.
            let _ = error.print();
            if error.use_stderr() {
                let _ = usage::print(&args, &error);
            }
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}
