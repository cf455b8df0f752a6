//! The baseline: a file of known findings that are not reported. `--write-baseline` writes it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gavel_engine::value::Json;
use gavel_manifest::Problem;
use serde_json::json;

use crate::input;

/// How often each known finding may occur. Line numbers are not compared, so that findings stay known when lines move.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    known: BTreeMap<BaselineKey, usize>,
    folder: Folder,
}

/// The file, rule, field and message of a finding.
type BaselineKey = [String; 4];

impl Baseline {
    /// Reads a baseline file.
    pub(crate) fn read(path: &Path) -> Result<Self, Vec<Problem>> {
        let value = input::document(path)?;
        let findings = value.get("findings").and_then(Json::as_array);
        let findings = findings.ok_or_else(|| {
            let message = "must be a baseline, as --write-baseline writes it";
            vec![Problem::unreadable(path, message)]
        })?;
        let mut known = BTreeMap::new();
        for finding in findings {
            let text = |key: &str| {
                let text = finding.get(key).and_then(Json::as_str);
                text.unwrap_or_default().to_owned()
            };
            let count: &mut usize = known
                .entry(["file", "rule", "field", "message"].map(text))
                .or_default();
            *count = count.saturating_add(1);
        }
        let folder = Folder::of(path);
        Ok(Baseline { known, folder })
    }

    /// Whether the baseline has an unused entry for a problem. Marks the entry as used, because each entry covers one problem.
    pub(crate) fn takes(&mut self, problem: &Problem) -> bool {
        match self.known.get_mut(&self.folder.key(problem)) {
            Some(count) if *count > 0 => {
                *count = count.saturating_sub(1);
                true
            }
            _ => false,
        }
    }
}

/// The text of a baseline file at `path` that lists these problems.
pub(crate) fn written(path: &Path, problems: &[Problem]) -> String {
    let folder = Folder::of(path);
    let findings: Vec<Json> = problems
        .iter()
        .map(|problem| {
            let [file, rule, field, message] = folder.key(problem);
            json!({"file": file, "rule": rule, "field": field, "message": message})
        })
        .collect();
    let file = json!({"findings": findings});
    format!("{file:#}\n")
}

/// The folder of a baseline file, as an absolute path; empty if it is unknown.
#[derive(Debug, Default)]
struct Folder(PathBuf);

impl Folder {
    fn of(baseline: &Path) -> Self {
        let folder = Path::new(".").join(baseline.parent().unwrap_or(Path::new("")));
        Folder(folder.canonicalize().unwrap_or_default())
    }

    /// The path of a file within the folder is relative to the folder, so that it does not depend on the working directory.
    fn key(&self, problem: &Problem) -> BaselineKey {
        let file = problem.file.as_deref().unwrap_or(Path::new(""));
        let absolute = file.canonicalize().unwrap_or_default();
        let within = absolute.strip_prefix(&self.0);
        let file = within.unwrap_or(file).display().to_string();
        let file = file.strip_prefix("./").unwrap_or(&file).to_owned();
        [
            file,
            problem.rule.to_owned(),
            problem.field.to_string(),
            problem.message.clone(),
        ]
    }
}
