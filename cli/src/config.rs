//! Reads `gavel.yaml`, which contains the options of a project for `gavel lint`.

use std::path::{Path, PathBuf};

use gavel_lint::Selection;
use gavel_manifest::{Fields, Problem, Reading};
use glob::Pattern;

use crate::args::{Versions, bytes, kubernetes_versions};
use crate::input;

/// The name of the file.
const NAME: &str = "gavel.yaml";

/// The contents of `gavel.yaml`. Flags override single options, and add to options that are lists.
#[derive(Debug, Clone, Default)]
pub(crate) struct Config {
    pub(crate) lint: LintConfig,
}

/// The options for `gavel lint`.
#[derive(Debug, Clone, Default)]
pub(crate) struct LintConfig {
    /// The rules that are applied.
    pub(crate) select: Vec<String>,
    /// The rules that are not applied.
    pub(crate) ignore: Vec<String>,
    /// The rules whose findings are errors.
    pub(crate) deny: Vec<String>,
    /// The Kubernetes versions to check for, such as `1.36` or `1.34..1.37`.
    pub(crate) kubernetes_version: Option<Versions>,
    /// The assumed size of the largest object, in bytes.
    pub(crate) max_object: Option<u64>,
    /// A file that lists the findings to ignore. `gavel.yaml` contains its path relative to itself.
    pub(crate) baseline: Option<PathBuf>,
    /// The files and subfolders that are left out.
    pub(crate) exclude: Vec<Pattern>,
    /// The files of OpenAPI documents. `gavel.yaml` contains their paths relative to itself.
    pub(crate) openapi: Vec<PathBuf>,
}

impl Config {
    /// Reads the file at `path`. Without `path`, reads `gavel.yaml` in the working directory or the closest folder above it. Returns the
    /// defaults if there is no `gavel.yaml`, or if it is empty.
    pub(crate) fn read(path: Option<&Path>) -> Result<Config, Vec<Problem>> {
        let found = match path {
            Some(path) => Some(path.to_owned()),
            None => find(),
        };
        let Some(path) = found else {
            return Ok(Config::default());
        };
        let documents = input::manifest(&path).and_then(Reading::all);
        let folder = path.parent().unwrap_or(Path::new("."));
        match documents.map_err(|problem| vec![problem])?.as_slice() {
            [] => Ok(Config::default()),
            [document] => Fields::read(document, |fields| {
                let lint = fields.object("lint", |lint| LintConfig::read(lint, folder));
                Config {
                    lint: lint.unwrap_or_default(),
                }
            }),
            [_, more @ ..] => {
                let message = format!("must be one document, but {} follow the first", more.len());
                Err(vec![Problem::unreadable(&path, message)])
            }
        }
    }
}

impl LintConfig {
    /// Reads the options. `folder` is the folder of the file.
    fn read(fields: &mut Fields<'_>, folder: &Path) -> Self {
        let versions = fields.text_or_number("kubernetesVersion");
        let max_object = fields.text_or_number("maxObject");
        let mut parsed = LintConfig {
            select: rules(fields, "select", |names| Selection {
                select: names,
                ..Selection::default()
            }),
            ignore: rules(fields, "ignore", |names| Selection {
                ignore: names,
                ..Selection::default()
            }),
            deny: rules(fields, "deny", |names| Selection {
                deny: names,
                ..Selection::default()
            }),
            baseline: fields.text("baseline").map(|path| folder.join(path)),
            ..LintConfig::default()
        };
        let openapi = fields.texts("openapi").unwrap_or_default();
        parsed.openapi = openapi.iter().map(|path| folder.join(path)).collect();
        for (index, glob) in fields
            .texts("exclude")
            .unwrap_or_default()
            .iter()
            .enumerate()
        {
            match Pattern::new(glob) {
                Ok(glob) => parsed.exclude.push(glob),
                Err(error) => fields.problem(&format!("exclude[{index}]"), error.to_string()),
            }
        }
        match versions.map(|text| kubernetes_versions(&text)).transpose() {
            Ok(versions) => parsed.kubernetes_version = versions,
            Err(message) => fields.problem("kubernetesVersion", message),
        }
        match max_object.map(|text| bytes(&text)).transpose() {
            Ok(max_object) => parsed.max_object = max_object,
            Err(message) => fields.problem("maxObject", message),
        }
        parsed
    }
}

/// The names of rules in a list. Names that are unknown in this list are problems; `select` builds the selection that has only this list.
fn rules(
    fields: &mut Fields<'_>,
    key: &'static str,
    select: impl Fn(Vec<String>) -> Selection,
) -> Vec<String> {
    let names = fields.texts(key).unwrap_or_default();
    for (index, name) in names.iter().enumerate() {
        if let [message] = unknown_rules(&select(vec![name.clone()])).as_slice() {
            fields.problem(&format!("{key}[{index}]"), message);
        }
    }
    names
}

/// A message for each name in the selection that no rule has.
pub(crate) fn unknown_rules(selection: &Selection) -> Vec<String> {
    let unknown = selection.unknown().into_iter();
    let messages = unknown.map(|(name, meant)| {
        let hint = match meant {
            Some(meant) => format!("did you mean {meant}?"),
            None => "`gavel explain` lists all rules".to_owned(),
        };
        format!("there is no rule {name:?}; {hint}")
    });
    messages.collect()
}

fn find() -> Option<PathBuf> {
    let folder = std::env::current_dir().ok()?;
    let files = folder.ancestors().map(|folder| folder.join(NAME));
    files.into_iter().find(|file| file.is_file())
}
