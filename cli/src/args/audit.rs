//! The arguments of `gavel audit`.

use std::path::PathBuf;

use clap::Args;
use gavel_cluster::audit::Shard;
use gavel_libraries::KubeVersion;
use gavel_protocol::kubernetes_version;

use super::serve::TargetArgs;
use super::{FolderArgs, RequesterArgs, number};
use crate::findings::Format;

/// The arguments of `gavel audit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    "recursive" | "exclude" => arg.requires("policies"),
    _ => arg,
}))]
pub(crate) struct AuditArgs {
    /// Audit these objects by the policies of --policies, instead of a cluster: YAML or JSON files, folders of them, or - for standard
    /// input
    #[arg(value_name = "OBJECT", requires = "policies")]
    pub(crate) objects: Vec<PathBuf>,

    /// The policies, and the bindings, params, namespaces, CustomResourceDefinitions and RBAC objects that they use: files, or
    /// folders of them
    #[arg(long, value_name = "FILE|FOLDER", requires = "objects")]
    pub(crate) policies: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) folders: FolderArgs,

    /// The Kubernetes version of the API server
    #[arg(long, value_name = "VERSION", default_value_t, value_parser = kubernetes_version, requires = "policies")]
    pub(crate) kubernetes_version: KubeVersion,

    /// The namespace of objects that do not name one
    #[arg(short, long, default_value = "default")]
    pub(crate) namespace: String,

    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Evaluate the cluster's policies of the group admissionregistration.k8s.io instead of those of policies.gavel.example.com
    #[arg(long, conflicts_with = "policies")]
    pub(crate) native: bool,

    #[command(flatten)]
    pub(crate) requester: RequesterArgs,

    /// Split the objects into N shards, and audit only shard K; K counts from 0
    #[arg(long, value_name = "K/N", default_value = "0/1")]
    pub(crate) shard: Shard,

    /// The number of objects per request to the API server
    #[arg(long, value_name = "COUNT", default_value_t = 500, value_parser = number(1..=10_000_u32))]
    pub(crate) chunk_size: u32,

    /// Also write the findings into the cluster, as reports of openreports.io or wgpolicyk8s.io, whichever is installed
    #[arg(long, conflicts_with = "policies")]
    pub(crate) reports: bool,

    /// Write metrics to this file, in the format of the node exporter's textfile collector
    #[arg(long, value_name = "FILE")]
    pub(crate) metrics: Option<PathBuf>,

    /// Exit with status 0 even if objects violate policies, so that a Job does not count as failed
    #[arg(long)]
    pub(crate) exit_zero: bool,

    /// How to print findings; json prints one line per finding
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

const EXAMPLES: &str = "Examples:
  gavel audit
  gavel audit --reports --shard 2/8
  kubectl get deployments -A -o json | gavel audit --policies policies/ -";
