//! The arguments of `gavel audit`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gavel_cluster::audit::Shard;

use super::serve::TargetArgs;

/// Holds the objects that exist against the policies, as if each were created now.
///
/// The exit status is 0 where nothing is found, 1 where something is, and 2 where something cannot be read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditArgs {
    /// Look at these objects, and not at those of a cluster: YAML or JSON files, folders of them, or - for standard input
    #[arg(value_name = "OBJECT", requires = "policies")]
    pub(crate) objects: Vec<PathBuf>,

    /// The policies, bindings, params, namespaces, CustomResourceDefinitions and RBAC objects by which they are judged: files,
    /// or folders of them
    #[arg(long, value_name = "FILE|FOLDER", requires = "objects")]
    pub(crate) policies: Vec<PathBuf>,

    /// Look into the folders of folders too
    #[arg(short = 'R', long, requires = "policies")]
    pub(crate) recursive: bool,

    /// The namespace of objects that name none
    #[arg(short, long, default_value = "default")]
    pub(crate) namespace: String,

    #[command(flatten)]
    pub(crate) target: TargetArgs,

    /// Ask the built-in policies of the cluster, and not those of policies.gavel.example.com
    #[arg(long, conflicts_with = "policies")]
    pub(crate) native: bool,

    /// The user who is taken to have created the objects
    #[arg(long = "as", value_name = "USER", default_value = "")]
    pub(crate) user: String,

    /// Look at one part of the objects: the one of this number, counted from 0, of so many
    #[arg(long, value_name = "K/N", default_value = "0/1")]
    pub(crate) shard: Shard,

    /// The objects that are asked for at once
    #[arg(long, value_name = "COUNT", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) chunk_size: u32,

    /// Write what is found into the cluster, too: as reports of openreports.io or wgpolicyk8s.io, whichever it has
    #[arg(long, conflicts_with = "policies")]
    pub(crate) reports: bool,

    /// Write metrics to this file, as the node exporter's textfile collector reads them
    #[arg(long, value_name = "FILE")]
    pub(crate) metrics: Option<PathBuf>,

    /// End with status 0 whatever is found: for jobs, whose runs are no failures
    #[arg(long)]
    pub(crate) exit_zero: bool,

    /// How to print what is found; json is one object a line
    #[arg(short, long, value_enum, default_value_t = AuditOutput::Text)]
    pub(crate) output: AuditOutput,
}

/// How what is found is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditOutput {
    /// For people: a line each
    Text,
    /// For programs: an object a line
    Json,
}

const EXAMPLES: &str = "Examples:
  gavel audit
  gavel audit --reports --shard 2/8
  kubectl get deployments -A -o json | gavel audit --policies policies/ -";
