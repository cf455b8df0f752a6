//! `gavel.yaml`: the options of a project for `gavel lint`, found in the working directory or above it.

use std::path::{Path, PathBuf};

use gavel_manifest::Problem;
use serde::Deserialize;

use crate::input;

/// The name of the file.
const NAME: &str = "gavel.yaml";

/// The contents of the file. Flags override them.
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
    /// The versions of Kubernetes, such as `1.36` or `1.34..1.37`.
    pub(crate) kubernetes_version: Option<String>,
    /// The assumed size of the largest object, in bytes.
    pub(crate) max_object: Option<u64>,
    /// A file of findings that are not reported; the path is relative to `gavel.yaml`.
    pub(crate) baseline: Option<PathBuf>,
    /// OpenAPI documents; the paths are relative to `gavel.yaml`.
    pub(crate) openapi: Vec<PathBuf>,
}

impl Config {
    /// Reads the given file, or the file that is found in the working directory or above it; without a file, returns the defaults.
    pub(crate) fn read(path: Option<&Path>) -> Result<Config, Problem> {
        let found = match path {
            Some(path) => Some(path.to_owned()),
            None => find(),
        };
        let Some(path) = found else {
            return Ok(Config::default());
        };
        let value = input::document(&path)?;
        let config: Config =
            Config::deserialize(&value).map_err(|error| Problem::unreadable(&path, error))?;
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
