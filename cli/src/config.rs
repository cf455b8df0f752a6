//! Reads `gavel.yaml`, which contains the options of a project for `gavel lint`.

use std::path::{Path, PathBuf};

use gavel_manifest::Problem;
use serde::Deserialize;

use crate::input;

/// The name of the file.
const NAME: &str = "gavel.yaml";

/// The contents of `gavel.yaml`. Flags override single options, and add to options that are lists.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) lint: LintConfig,
}

/// The options for `gavel lint`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(crate) struct LintConfig {
    /// The rules that are applied.
    pub(crate) select: Vec<String>,
    /// The rules that are not applied.
    pub(crate) ignore: Vec<String>,
    /// The rules whose findings are errors.
    pub(crate) deny: Vec<String>,
    /// The Kubernetes versions to check for, such as `1.36` or `1.34..1.37`.
    pub(crate) kubernetes_version: Option<String>,
    /// The assumed size of the largest object, in bytes.
    pub(crate) max_object: Option<u64>,
    /// A file that lists the findings to ignore. The path is relative to `gavel.yaml`.
    pub(crate) baseline: Option<PathBuf>,
    /// The files of OpenAPI documents. The paths are relative to `gavel.yaml`.
    pub(crate) openapi: Vec<PathBuf>,
}

impl Config {
    /// Reads the file at `path`. Without `path`, reads `gavel.yaml` in the working directory or the closest folder above it. Returns the
    /// defaults if there is no `gavel.yaml`.
    pub(crate) fn read(path: Option<&Path>) -> Result<Config, Vec<Problem>> {
        let found = match path {
            Some(path) => Some(path.to_owned()),
            None => find(),
        };
        let Some(path) = found else {
            return Ok(Config::default());
        };
        let value = input::document(&path)?;
        let config: Config =
            Config::deserialize(&value).map_err(|error| vec![Problem::unreadable(&path, error)])?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let LintConfig {
            baseline, openapi, ..
        } = config.lint.clone();
        Ok(Config {
            lint: LintConfig {
                baseline: baseline.map(|path| folder.join(path)),
                openapi: openapi.iter().map(|path| folder.join(path)).collect(),
                ..config.lint
            },
        })
    }
}

fn find() -> Option<PathBuf> {
    let folder = std::env::current_dir().ok()?;
    let files = folder.ancestors().map(|folder| folder.join(NAME));
    files.into_iter().find(|file| file.is_file())
}
