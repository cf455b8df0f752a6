//! `gavel lint --fix`: applies the suggestions of findings to the texts of the files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use gavel_manifest::{Place, Problem, Suggestion};

use crate::findings::Findings;

/// Returns the contents of the files with the suggestions applied, and the problems that were not fixed. If two suggestions overlap, only
/// the one that begins later in the file is applied.
pub(crate) fn fixed(findings: &Findings) -> (BTreeMap<Arc<Path>, String>, Vec<Problem>) {
    let mut wanted: BTreeMap<Arc<Path>, Vec<(&Suggestion, &Problem)>> = BTreeMap::new();
    let mut left = Vec::new();
    for problem in &findings.problems {
        match (
            &problem.file,
            problem.suggestion(),
            findings.text_of(problem),
        ) {
            (Some(file), Some(suggestion), Some(_)) => {
                let wanted = wanted.entry(Arc::clone(file)).or_default();
                wanted.push((suggestion, problem));
            }
            _ => left.push(problem.clone()),
        }
    }
    let mut files = BTreeMap::new();
    for (file, mut wanted) in wanted {
        let mut text = findings.text(&file).unwrap_or_default().to_owned();
        // Suggestions are applied from the end of the file, so that earlier positions stay valid.
        wanted.sort_by_key(|(suggestion, _)| std::cmp::Reverse(suggestion.range));
        let mut from = usize::MAX;
        let mut last = None;
        for (suggestion, problem) in wanted {
            if last == Some(suggestion) {
                continue;
            }
            let range = suggestion.range;
            let bytes = byte_of(&text, range.start).zip(byte_of(&text, range.end));
            match bytes.filter(|(start, end)| start <= end && *end <= from) {
                Some((start, end)) => {
                    text.replace_range(start..end, &suggestion.replacement);
                    (from, last) = (start, Some(suggestion));
                }
                None => left.push(problem.clone()),
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

#[cfg(test)]
mod tests {
    use gavel_manifest::Range;

    use super::*;

    #[test]
    fn problems_whose_suggestions_overlap_another_one_are_left() {
        let file: Arc<Path> = Arc::from(Path::new("a.yaml"));
        let mut findings = Findings::default();
        findings.add_text(&file, &Arc::from("one two three"));
        for (begin, end, replacement) in [(1, 8, "12"), (5, 14, "23"), (5, 14, "23"), (1, 4, "1")] {
            let [start, end] = [begin, end].map(|column| Place { line: 1, column });
            let range = Range { start, end };
            let replacement = replacement.to_owned();
            let problem = Problem::new("rule", replacement.as_str()).in_file(&file);
            let problem = problem.with_suggestion(Suggestion { range, replacement });
            findings.problems.push(problem.at(range));
        }
        let (files, left) = fixed(&findings);
        assert_eq!(files[&file], "1 23");
        let left: Vec<_> = left.iter().map(|problem| &*problem.message).collect();
        assert_eq!(left, ["12"]);
    }
}
