//! The arguments of `gavel version`, `gavel completions` and `gavel man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::Output;

/// The version of the program, and the versions of Kubernetes that it knows.
#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    /// How to print it
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub(crate) output: Output,
}

/// Completions of commands and flags, for the shell to load: source <(gavel completions bash)
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// The man page of the program.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands into this folder
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}
