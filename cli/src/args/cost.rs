//! The arguments of `gavel cost`.

use std::path::PathBuf;

use clap::Args;
use gavel_libraries::KubeVersion;
use gavel_protocol::kubernetes_version;
use gavel_schema::cel::MAX_REQUEST_SIZE;

use super::{FolderArgs, Output, bytes};

/// The arguments of `gavel cost`.
#[derive(Debug, Args)]
#[command(after_help = COST_EXAMPLES)]
pub(crate) struct CostArgs {
    /// YAML or JSON files, folders of them, or - for standard input
    #[arg(value_name = "PATH", required_unless_present = "filename")]
    pub(crate) paths: Vec<PathBuf>,

    /// Another PATH, as with kubectl -f; can be repeated
    #[arg(short, long, value_name = "PATH")]
    pub(crate) filename: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) folders: FolderArgs,

    /// Show how costs differ from the costs in these older files or folders
    #[arg(long, value_name = "OLD")]
    pub(crate) compare: Vec<PathBuf>,

    /// Compute the costs of policies for objects of at most this many bytes
    #[arg(long, value_name = "BYTES", value_parser = bytes::<u64>, default_value_t = MAX_REQUEST_SIZE)]
    pub(crate) max_object: u64,

    /// The Kubernetes version of the API server
    #[arg(long, value_name = "VERSION", default_value_t, value_parser = kubernetes_version)]
    pub(crate) kubernetes_version: KubeVersion,

    /// How to print costs; json prints one line for each expression and each total
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub(crate) output: Output,
}

const COST_EXAMPLES: &str = "Examples:
  gavel cost crd.yaml
  gavel cost crd.yaml --compare released/crd.yaml
  gavel cost -R policies/ --max-object 65536 --output json";
