//! `--fix`: writes suggestions into the files if there is only one correct fix.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use gavel_manifest::{Place, Problem, Suggestion};

use crate::findings::Findings;

/// The contents of the files with the suggestions applied, and the problems without a suggestion. If two suggestions overlap, only the one
/// that begins later in the file is applied.
pub(crate) fn fixed(findings: &Findings) -> (BTreeMap<Arc<Path>, String>, Vec<Problem>) {
    let mut wanted: BTreeMap<Arc<Path>, Vec<&Suggestion>> = BTreeMap::new();
    let mut left = Vec::new();
    for problem in &findings.problems {
        match (
            &problem.file,
            problem.suggestion(),
            findings.text_of(problem),
        ) {
            (Some(file), Some(suggestion), Some(_)) if file.as_os_str() != "-" => {
                wanted.entry(Arc::clone(file)).or_default().push(suggestion);
            }
            _ => left.push(problem.clone()),
        }
    }
    let mut files = BTreeMap::new();
    for (file, mut suggestions) in wanted {
        let text = findings.text(&file).unwrap_or_default().to_owned();
        // From the end, so that earlier places stay valid; if two suggestions overlap, the later one is applied.
        suggestions.sort_by_key(|suggestion| std::cmp::Reverse(suggestion.range));
        suggestions.dedup();
        let mut text = text;
        let mut from = usize::MAX;
        for suggestion in suggestions {
            let range = suggestion.range;
            let bytes = byte_of(&text, range.start).zip(byte_of(&text, range.end));
            if let Some((start, end)) = bytes.filter(|(start, end)| start <= end && *end <= from) {
                text.replace_range(start..end, &suggestion.replacement);
                from = start;
            }
        }
        files.insert(file, text);
    }
    (files, left)
}

fn byte_of(text: &str, place: Place) -> Option<usize> {
    let line = usize::try_from(place.line).ok()?.checked_sub(1)?;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let column = usize::try_from(place.column).ok()?.checked_sub(1)?;
    let rest = text.get(start..)?;
    let within = rest.char_indices().nth(column);
    Some(start.saturating_add(within.map_or(rest.len(), |(byte, _)| byte)))
}
