//! The arguments of `gavel version`, `gavel completions` and `gavel man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::Output;

/// The arguments of `gavel version`.
#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    /// The output format
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub(crate) output: Output,
}

/// The arguments of `gavel completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// The arguments of `gavel man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write the man pages of all commands into this folder
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}
