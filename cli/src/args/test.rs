//! The arguments of `gavel test`.

use std::path::PathBuf;

use clap::Args;
use gavel_libraries::KubeVersion;
use gavel_protocol::kubernetes_version;

use super::{FolderArgs, number};
use crate::findings::Format;

/// The arguments of `gavel test`.
#[derive(Debug, Args)]
#[command(after_help = TEST_EXAMPLES)]
pub(crate) struct TestArgs {
    /// Test files, or folders of them
    #[arg(value_name = "PATH", required_unless_present = "init")]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) folders: FolderArgs,

    /// Run only the tests whose names contain this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Option<String>,

    /// Show which expressions of the policies and definitions were evaluated, and whether each condition was true in one evaluation and
    /// false in another
    #[arg(long)]
    pub(crate) coverage: bool,

    /// Fail if the coverage is below this percentage; needs --coverage
    #[arg(long, value_name = "PERCENT", requires = "coverage", value_parser = number(0..=100_u8))]
    pub(crate) coverage_threshold: Option<u8>,

    /// Write the coverage to a file, in the format of lcov; needs --coverage
    #[arg(long, value_name = "FILE", requires = "coverage")]
    pub(crate) lcov: Option<PathBuf>,

    /// Write the coverage to a file, as an HTML page; needs --coverage
    #[arg(long, value_name = "FILE", requires = "coverage")]
    pub(crate) html: Option<PathBuf>,

    /// Print a test file to start from, for the policies and definitions in FILE
    #[arg(long, value_name = "FILE", conflicts_with = "paths")]
    pub(crate) init: Option<PathBuf>,

    /// The Kubernetes version of the API server
    #[arg(long, value_name = "VERSION", default_value_t, value_parser = kubernetes_version)]
    pub(crate) kubernetes_version: KubeVersion,

    /// How to print the results
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

const TEST_EXAMPLES: &str = "Examples:
  gavel test --init policy.yaml > policy-test.yaml
  gavel test policy-test.yaml
  gavel test -R . --filter production --coverage --coverage-threshold 90";
