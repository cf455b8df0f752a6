//! The baseline: a file of known findings that are not reported. `--write-baseline` writes it.

use std::collections::BTreeMap;
use std::path::Path;

use gavel_engine::value::Json;
use gavel_manifest::Problem;
use serde_json::json;

use crate::input;

/// How often each known finding may occur. Line numbers are not compared, so that findings stay known when lines move.
#[derive(Debug, Default)]
pub(crate) struct Baseline(BTreeMap<BaselineKey, usize>);

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
        Ok(Baseline(known))
    }

    /// Whether the baseline has an unused entry for a problem. Marks the entry as used, because each entry covers one problem.
    pub(crate) fn takes(&mut self, problem: &Problem) -> bool {
        match self.0.get_mut(&key(problem)) {
            Some(count) if *count > 0 => {
                *count = count.saturating_sub(1);
                true
            }
            _ => false,
        }
    }
}

/// The text of a baseline file that lists these problems.
pub(crate) fn written(problems: &[Problem]) -> String {
    let findings: Vec<Json> = problems
        .iter()
        .map(|problem| {
            let [file, rule, field, message] = key(problem);
            json!({"file": file, "rule": rule, "field": field, "message": message})
        })
        .collect();
    let file = json!({"findings": findings});
    format!("{file:#}\n")
}

fn key(problem: &Problem) -> BaselineKey {
    let file = problem.file.as_deref();
    let file = file.map(|file| file.display().to_string());
    let file = file.unwrap_or_default();
    let file = file.strip_prefix("./").unwrap_or(&file).to_owned();
    [
        file,
        problem.rule.to_owned(),
        problem.field.to_string(),
        problem.message.clone(),
    ]
}
