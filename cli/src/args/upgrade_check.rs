//! The arguments of `gavel upgrade-check`.

use std::path::PathBuf;

use clap::Args;
use gavel_libraries::{KubeVersion, Server};
use gavel_protocol::version_since;

use super::{FolderArgs, Output, RequesterArgs};

/// The arguments of `gavel upgrade-check`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UpgradeCheckArgs {
    /// The Kubernetes version of the cluster
    #[arg(long, value_name = "VERSION", value_parser = server_version)]
    pub(crate) from: KubeVersion,

    /// The version to upgrade to; an older version rehearses a rollback
    #[arg(long, value_name = "VERSION", default_value_t, value_parser = server_version)]
    pub(crate) to: KubeVersion,

    /// CustomResourceDefinitions, policies, bindings, webhook configurations, and the objects that policies read: params,
    /// Namespaces, RBAC objects. YAML or JSON files, folders of them, or - for standard input
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,

    /// Sample requests: AdmissionReviews, or objects; each object becomes a request that creates it
    #[arg(long, value_name = "PATH")]
    pub(crate) sample: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) folders: FolderArgs,

    /// The namespace of sample objects that do not name one
    #[arg(short, long, default_value = "default")]
    pub(crate) namespace: String,

    #[command(flatten)]
    pub(crate) requester: RequesterArgs,

    /// How to print changes; json prints one line per change
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub(crate) output: Output,
}

/// Reads a version whose answers Gavel knows.
fn server_version(text: &str) -> Result<KubeVersion, String> {
    version_since(Server::OLDEST, text)
}

const EXAMPLES: &str = "Examples:
  gavel upgrade-check --from 1.34 --to 1.37 -R manifests/
  gavel upgrade-check --from 1.36 policies/ crds/ --sample reviews/ --sample deployment.yaml
  kubectl get crd,validatingadmissionpolicies -o yaml | gavel upgrade-check --from 1.36 -";
