//! The arguments of `gavel mutate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gavel_libraries::KubeVersion;
use gavel_protocol::kubernetes_version;

use super::{FolderArgs, RequesterArgs};

/// The arguments of `gavel mutate`.
#[derive(Debug, Args)]
#[command(after_help = MUTATE_EXAMPLES)]
pub(crate) struct MutateArgs {
    /// Policies, bindings, params, Namespaces and CustomResourceDefinitions: files, or folders of them
    #[arg(long, value_name = "FILE|FOLDER", required = true)]
    pub(crate) policies: Vec<PathBuf>,

    /// Objects: YAML or JSON files of one or several documents, folders of them, or - for standard input
    #[arg(required = true, value_name = "OBJECT")]
    pub(crate) objects: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) folders: FolderArgs,

    /// The namespace of objects that do not name one
    #[arg(short, long, default_value = "default")]
    pub(crate) namespace: String,

    #[command(flatten)]
    pub(crate) requester: RequesterArgs,

    /// The Kubernetes version of the API server
    #[arg(long, value_name = "VERSION", default_value_t, value_parser = kubernetes_version)]
    pub(crate) kubernetes_version: KubeVersion,

    /// How to print the objects; diff prints only the changes
    #[arg(short, long, value_enum, default_value_t = MutateOutput::Yaml)]
    pub(crate) output: MutateOutput,
}

/// The formats in which `gavel mutate` prints the mutated objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MutateOutput {
    /// All objects, as YAML
    Yaml,
    /// All objects, as JSON
    Json,
    /// The changes of the YAML, as a unified diff
    Diff,
}

const MUTATE_EXAMPLES: &str = "Examples:
  gavel mutate pod.yaml --policies policies/
  gavel mutate -o diff -R manifests/ --policies policies/
  helm template chart/ | gavel mutate -o json - --policies policies/";
