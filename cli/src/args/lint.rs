//! The arguments of `gavel lint` and `gavel explain`.

use std::path::PathBuf;

use clap::Args;
use gavel_libraries::KubeVersion;

use super::{FolderArgs, bytes};
use crate::findings::Format;

/// The arguments of `gavel lint`.
#[derive(Debug, Args)]
#[command(after_help = LINT_EXAMPLES)]
pub(crate) struct LintArgs {
    /// YAML or JSON files, folders of them, or - for standard input
    #[arg(value_name = "PATH", required_unless_present = "filename")]
    pub(crate) paths: Vec<PathBuf>,

    /// Another PATH, as with kubectl -f; can be repeated
    #[arg(short, long, value_name = "PATH")]
    pub(crate) filename: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) folders: FolderArgs,

    /// Report only findings of these rules, separated by commas. Findings of the rules of --deny, and errors for which an API server rejects
    /// an object, are always reported. 'all' stands for every rule
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) select: Vec<String>,

    /// Do not report findings of these rules, separated by commas
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) ignore: Vec<String>,

    /// Turn findings of these rules, separated by commas, into errors. 'warnings' stands for every rule with the severity warning, 'all' for
    /// every rule
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) deny: Vec<String>,

    /// Do not report the findings that this baseline file lists
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,

    /// Write all findings to this file, as a baseline
    #[arg(long, value_name = "FILE", conflicts_with = "fix")]
    pub(crate) write_baseline: Option<PathBuf>,

    /// Read this file instead of the nearest gavel.yaml in the working directory or its parents
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// A file or folder of older CustomResourceDefinitions; report the changes that make stored objects invalid
    #[arg(long, value_name = "PATH")]
    pub(crate) old: Vec<PathBuf>,

    /// An OpenAPI v3 document that describes more kinds, as printed by kubectl get --raw /openapi/v3/apis/GROUP/VERSION
    #[arg(long, value_name = "FILE")]
    pub(crate) openapi: Vec<PathBuf>,

    /// The Kubernetes versions that the manifests are for: one (1.36), several (1.34,1.36) or a range (1.34..1.37); the default is the newest
    /// version that Gavel knows
    #[arg(long, value_name = "VERSIONS", value_parser = kubernetes_versions)]
    pub(crate) kubernetes_version: Option<Versions>,

    /// The largest object size, in bytes, that the rule policy-cost assumes; the default is 3145728
    #[arg(long, value_name = "BYTES", value_parser = bytes::<u64>)]
    pub(crate) max_object: Option<u64>,

    /// Edit the files: apply the fix of each finding that has only one correct fix
    #[arg(long)]
    pub(crate) fix: bool,

    /// How to print findings
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

impl LintArgs {
    /// All paths that are linted.
    pub(crate) fn all_paths(&self) -> Vec<PathBuf> {
        [&self.paths[..], &self.filename].concat()
    }
}

const LINT_EXAMPLES: &str = "Examples:
  gavel lint policy.yaml crds/
  gavel lint -R . --deny warnings --output github
  gavel lint crd.yaml --old released/crd.yaml --kubernetes-version 1.34..1.37
  helm template chart/ | gavel lint -";

/// The arguments of `gavel explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The rule, such as optional-field
    #[arg(value_name = "RULE")]
    pub(crate) rule: Option<String>,

    /// The output format
    #[arg(short, long, value_enum, default_value_t = ExplainOutput::Text)]
    pub(crate) output: ExplainOutput,
}

/// The output formats of `gavel explain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExplainOutput {
    /// For people
    Text,
    /// The rule, or all rules, as one document
    Markdown,
    /// For programs: one JSON object per line
    Json,
}

/// Kubernetes versions, sorted and without duplicates.
#[derive(Debug, Clone)]
pub(crate) struct Versions(pub(crate) Vec<KubeVersion>);

/// Parses one version, a range, or several of them separated by commas.
pub(crate) fn kubernetes_versions(text: &str) -> Result<Versions, String> {
    let mut versions = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            Some((first, last)) => {
                let first = gavel_protocol::kubernetes_version(first)?;
                let last = gavel_protocol::kubernetes_version(last.trim_start_matches('='))?;
                if first > last {
                    return Err(format!("{first} must not be later than {last}"));
                }
                versions.extend((first.minor..=last.minor).map(KubeVersion::v1));
            }
            None => versions.push(gavel_protocol::kubernetes_version(part)?),
        }
    }
    versions.sort();
    versions.dedup();
    Ok(Versions(versions))
}
