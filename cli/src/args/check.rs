//! The arguments of `gavel check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gavel_libraries::KubeVersion;
use gavel_protocol::kubernetes_version;

use crate::findings::Format;

use super::{FolderArgs, RequesterArgs};

/// The arguments of `gavel check`.
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    /// The policies, what they read, and the objects to check: YAML or JSON files, folders of them, or - for standard input
    #[arg(value_name = "PATH", required_unless_present = "filename")]
    pub(crate) paths: Vec<PathBuf>,

    /// Another PATH, as with kubectl -f; can be repeated
    #[arg(short, long, value_name = "PATH")]
    pub(crate) filename: Vec<PathBuf>,

    /// More policies, and the objects that they read; objects in these files are not checked
    #[arg(long, value_name = "PATH")]
    pub(crate) policies: Vec<PathBuf>,

    /// More CustomResourceDefinitions
    #[arg(long, value_name = "PATH")]
    pub(crate) crd: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) folders: FolderArgs,

    /// Ignore documents without apiVersion or kind, such as values of a Helm chart
    #[arg(long)]
    pub(crate) ignore_missing_schemas: bool,

    /// The operation to check; by default UPDATE for objects that --old contains, and CREATE for all others
    #[arg(long, value_enum, ignore_case = true)]
    pub(crate) operation: Option<OperationName>,

    /// The objects before the update: a file, or a folder of files. Gavel matches old and new objects by kind, namespace and name
    #[arg(long, value_name = "PATH")]
    pub(crate) old: Vec<PathBuf>,

    /// The namespace of objects that do not name one
    #[arg(short, long, default_value = "default")]
    pub(crate) namespace: String,

    #[command(flatten)]
    pub(crate) requester: RequesterArgs,

    /// The Kubernetes version of the API server
    #[arg(long, value_name = "VERSION", default_value_t, value_parser = kubernetes_version)]
    pub(crate) kubernetes_version: KubeVersion,

    /// Explain each decision: which policies and bindings matched, and the value of each expression
    #[arg(long)]
    pub(crate) explain: bool,

    /// How to print findings
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

impl CheckArgs {
    /// All paths whose objects are checked.
    pub(crate) fn all_paths(&self) -> Vec<PathBuf> {
        [&self.paths[..], &self.filename].concat()
    }
}

/// The operation to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "UPPER")]
pub(crate) enum OperationName {
    /// The objects are created
    Create,
    /// The objects are updated; an object that --old does not contain is updated without a change
    Update,
    /// The objects are deleted
    Delete,
}

const CHECK_EXAMPLES: &str = "Examples:
  gavel check policies/ manifests/
  gavel check policies/ deployment.yaml --explain
  gavel check policies/ new/ --old old/ --as alice --as-group developers
  helm template chart/ | gavel check policies/ -";
