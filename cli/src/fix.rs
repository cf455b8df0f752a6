//! `gavel lint --fix`: applies the suggestions of findings to the texts of the files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use gavel_manifest::{Problem, Suggestion};

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
        let Some(source) = findings.text(&file) else {
            continue;
        };
        // The last suggestion comes first.
        wanted.sort_by_key(|(suggestion, _)| std::cmp::Reverse(suggestion.range));
        let mut end = source.text().len();
        let mut last = None;
        // The parts of the new text, from the end of the file.
        let mut parts = Vec::new();
        for (suggestion, problem) in wanted {
            if last == Some(suggestion) {
                continue;
            }
            let range = suggestion.range;
            let bytes = source.byte_of(range.start).zip(source.byte_of(range.end));
            match bytes.filter(|(from, to)| from <= to && *to <= end) {
                Some((from, to)) => {
                    parts.push(source.text().get(to..end).unwrap_or_default());
                    parts.push(suggestion.replacement.as_str());
                    (end, last) = (from, Some(suggestion));
                }
                None => left.push(problem.clone()),
            }
        }
        parts.push(source.text().get(..end).unwrap_or_default());
        files.insert(file, parts.into_iter().rev().collect());
    }
    (files, left)
}

#[cfg(test)]
mod tests {
    use gavel_manifest::{Place, Range, Source};

    use super::*;

    #[test]
    fn problems_whose_suggestions_overlap_another_one_are_left() {
        let file: Arc<Path> = Arc::from(Path::new("a.yaml"));
        let mut findings = Findings::default();
        findings.add_text(&file, Source::new("one two three"));
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
