//! Comments that suppress findings: `# gavel: ignore RULE, RULE`.

use std::collections::BTreeMap;

use gavel_manifest::{Document, Place, Problem, Range};

use crate::rules::{self, UNKNOWN_SUPPRESSION};

/// The suppressions in the comments of a file.
#[derive(Debug, Default)]
pub struct Suppressions {
    comments: Vec<Suppression>,
    /// For each rule, the lines on which comments suppress it: sorted ranges that do not overlap. [`ALL`] stands for all rules.
    lines: BTreeMap<String, Vec<(u32, u32)>>,
}

/// The name under which the lines are stored on which comments suppress all rules.
const ALL: &str = "";

#[derive(Debug)]
struct Suppression {
    rules: Vec<String>,
    /// The first and the last line, from 1.
    lines: (u32, u32),
    /// The beginning of the comment.
    place: Place,
}

/// The beginning of a comment that suppresses findings, after `#` or `//`. The word `ignore` follows.
const MARKER: &str = "gavel:";

impl Suppressions {
    /// Reads the comments of a text with these documents. A comment at the end of a line applies to that line. A comment on its own line
    /// applies to the next line and everything indented below it. A comment `# gavel: ignore-file` anywhere applies to the whole file. In a
    /// CEL expression over several lines, comments begin with `//`.
    pub fn read(text: &str, documents: &[Document]) -> Self {
        if !text.contains(MARKER) {
            return Suppressions::default();
        }
        let strings = Strings::of(documents);
        let lines: Vec<&str> = text.lines().collect();
        let mut comments = Vec::new();
        let mut blocks = Blocks::default();
        for (n, line) in lines.iter().enumerate().rev() {
            comments.extend(suppression(n, line, &strings, &blocks));
            blocks.add(n, line);
        }
        comments.reverse();
        let lines = lines_by_rule(&comments);
        Suppressions { comments, lines }
    }

    /// The problems of the comments: names that no rule has.
    pub fn problems(&self) -> impl Iterator<Item = Problem> {
        self.comments.iter().flat_map(|suppression| {
            let names = suppression.rules.iter();
            let unknown = names.filter(|name| rules::find(name).is_none());
            unknown.map(|name| {
                let help = match rules::nearest(name) {
                    Some(meant) => format!("did you mean {meant}?"),
                    None => "a comment without names suppresses all rules; `--` must come before a reason; `gavel explain` lists the rules".to_owned(),
                };
                let message = format!("there is no rule {name:?}, so the comment does not suppress it");
                Problem::new(UNKNOWN_SUPPRESSION.id, message)
                    .with_severity(UNKNOWN_SUPPRESSION.severity)
                    .with_help(help)
                    .at(suppression.place)
            })
        })
    }

    /// Whether a comment suppresses a problem. A comment without names of rules suppresses all problems.
    pub fn cover(&self, problem: &Problem) -> bool {
        let line = problem.range.map_or(1, |range| range.start.line);
        [ALL, problem.rule].iter().any(|rule| {
            let ranges = self.lines.get(*rule).map_or(&[][..], Vec::as_slice);
            let begun = ranges.partition_point(|(first, _)| *first <= line);
            let last = begun.checked_sub(1).and_then(|n| ranges.get(n));
            last.is_some_and(|(_, last)| line <= *last)
        })
    }
}

/// The strings of documents, sorted.
struct Strings(Vec<Range>);

impl Strings {
    fn of(documents: &[Document]) -> Self {
        let mut texts: Vec<Range> = documents.iter().flat_map(Document::texts).collect();
        texts.sort_unstable();
        Strings(texts)
    }

    /// The string in which a place lies.
    fn around(&self, place: Place) -> Option<&Range> {
        let begun = self.0.partition_point(|text| text.start <= place);
        let text = self.0.get(begun.checked_sub(1)?)?;
        (place < text.end).then_some(text)
    }
}

/// The suppression in the comment on line `n`. `below` are the blocks below this line.
fn suppression(n: usize, line: &str, strings: &Strings, below: &Blocks) -> Option<Suppression> {
    let place_behind = |before: &str| Place {
        line: number(n),
        column: number(before.chars().count()),
    };
    let (before, comment) = comment(line, |before, sign| {
        let text = strings.around(place_behind(before));
        match sign {
            "#" => text.is_none(),
            _ => text.is_some_and(|text| text.start.line < text.end.line),
        }
    })?;
    let (is_file, rules) = match comment.strip_prefix("-file") {
        Some(rest) => (true, rest),
        None => (false, comment),
    };
    // Another word, such as `ignored`.
    if rules.starts_with(char::is_alphanumeric) {
        return None;
    }
    let (rules, _reason) = rules.split_once("--").unwrap_or((rules, ""));
    let rules = rules.split([',', ' ']).filter(|rule| !rule.is_empty());
    let lines = match (is_file, before.trim().is_empty()) {
        (true, _) => (1, u32::MAX),
        (false, false) => (number(n), number(n)),
        (false, true) => (number(n), number(below.first_end().unwrap_or(n))),
    };
    Some(Suppression {
        rules: rules.map(str::to_owned).collect(),
        lines,
        place: place_behind(before),
    })
}

fn lines_by_rule(comments: &[Suppression]) -> BTreeMap<String, Vec<(u32, u32)>> {
    let mut by_rule: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
    for comment in comments {
        for rule in &comment.rules {
            by_rule.entry(rule.clone()).or_default().push(comment.lines);
        }
        if comment.rules.is_empty() {
            by_rule
                .entry(ALL.to_owned())
                .or_default()
                .push(comment.lines);
        }
    }
    for ranges in by_rule.values_mut() {
        ranges.sort_unstable();
        ranges.dedup_by(|(first, last), (_, last_before)| {
            let overlaps = first <= last_before;
            if overlaps {
                *last_before = (*last_before).max(*last);
            }
            overlaps
        });
    }
    by_rule
}

/// The text before a comment that suppresses findings, and the text after its word `ignore`; `None` if the line has no such comment.
/// `is_comment` says whether `#` or `//` behind a text begins a comment.
fn comment(line: &str, is_comment: impl Fn(&str, &str) -> bool) -> Option<(&str, &str)> {
    line.match_indices(MARKER).find_map(|(at, _)| {
        let (before, comment) = line.split_at_checked(at)?;
        let before = before.trim_end();
        let before = ["#", "//"].iter().find_map(|sign| {
            let before = before.strip_suffix(sign)?;
            is_comment(before, sign).then_some(before)
        })?;
        let comment = comment.strip_prefix(MARKER)?.trim_start();
        Some((before, comment.strip_prefix("ignore")?))
    })
}

/// The blocks of a text that is read from its last line to its first. A block is a line that is neither empty nor a comment, with the lines
/// that are indented below that line.
#[derive(Debug, Default)]
struct Blocks {
    /// The blocks below the current line that are in no other block, the first block last: the indentation and the last line of each.
    open: Vec<(usize, usize)>,
}

impl Blocks {
    /// Adds line `n`, which is above all lines that were added before.
    fn add(&mut self, n: usize, line: &str) {
        let content = line.trim_start();
        if content.is_empty() || content.starts_with('#') || content.starts_with("//") {
            return;
        }
        let indentation = indent(line);
        let mut end = n;
        while let Some((_, last)) = self.open.pop_if(|(indent, _)| *indent > indentation) {
            end = last;
        }
        self.open.push((indentation, end));
    }

    /// The last line of the first block.
    fn first_end(&self) -> Option<usize> {
        self.open.last().map(|(_, end)| *end)
    }
}

fn indent(line: &str) -> usize {
    let trimmed = line.trim_start();
    line.len().saturating_sub(trimmed.len())
}

fn number(n: usize) -> u32 {
    u32::try_from(n.saturating_add(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use gavel_manifest::{Format, read};

    use super::*;

    fn suppressions(text: &str) -> (Suppressions, Document) {
        let documents = read(text, Format::Yaml).all().unwrap();
        let suppressions = Suppressions::read(text, &documents);
        (suppressions, documents.into_iter().next().unwrap())
    }

    #[test]
    fn texts_are_no_comments() {
        let text = r##"
a: "# gavel: ignore one" # gavel: ignore two
b: '# gavel: ignore-file one'
c: {"# gavel: ignore": "// gavel: ignore", d: 'e''# gavel: ignore'}
f: |  # gavel: ignore three
  # gavel: ignore
# gavel: ignore four
g: "h
  # gavel: ignore
  i"
"##;
        let (suppressions, _) = suppressions(text);
        let lines = suppressions.lines.iter();
        let lines: Vec<_> = lines
            .map(|(rule, lines)| (rule.as_str(), lines.as_slice()))
            .collect();
        let expected = [
            ("four", &[(7, 10)][..]),
            ("three", &[(5, 5)]),
            ("two", &[(2, 2)]),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn comments_suppress_findings_at_their_place() {
        let text = "\
a: 1 # gavel: ignore one, two -- it is meant so
# gavel: ignore one
b:
  c: 2
d: 3
e: |
  x &&
    // gavel: ignore
    y
";
        let (suppressions, document) = suppressions(text);
        let covers = |field: &str, rule| suppressions.cover(&document.problem(rule, field, ""));
        assert!(covers("a", "two"));
        assert!(!covers("a", "three"));
        assert!(covers("b.c", "one"));
        assert!(!covers("b.c", "two"));
        assert!(!covers("d", "one"));
        let problem = document
            .problem("any", "e", "")
            .at(document.place_within("e", 3, 3));
        assert!(suppressions.cover(&problem));
        assert!(!covers("e", "any"));
        let whole = Suppressions::read("# gavel: ignore-file one\na: 1\n", &[]);
        assert!(whole.cover(&document.problem("one", "d", "")));
    }

    /// The lines are stored once, so that the search for a line does not depend on the number of comments.
    #[test]
    fn lines_of_overlapping_comments_are_one_range() {
        let comments = "# gavel: ignore one\n".repeat(9);
        let text = format!("{comments}a:\n  {comments}  b: 1\nc: 2\n# gavel: ignore one\nd: 3\n");
        let suppressions = Suppressions::read(&text, &[]);
        assert_eq!(suppressions.lines["one"], [(1, 20), (22, 23)]);
        let mut blocks = Blocks::default();
        for (n, line) in ["a:", "  b:", "    c:", "  d:"]
            .into_iter()
            .enumerate()
            .rev()
        {
            blocks.add(n, line);
        }
        assert_eq!(blocks.open, [(0, 3)]);
    }

    #[test]
    fn comments_need_no_spaces() {
        let text = "image: gavel:1 #gavel:ignore one\nb: 2 # gavel: ignored two\n";
        let (suppressions, document) = suppressions(text);
        assert!(suppressions.cover(&document.problem("one", "image", "")));
        assert!(!suppressions.cover(&document.problem("two", "b", "")));
    }

    #[test]
    fn unknown_names_are_reported() {
        let text = "\
a: 1 # gavel: ignore undefned-field, optional-field -- a reason
# gavel: ignore all
b: 2 # gavel: ignore
";
        let found: Vec<_> = Suppressions::read(text, &[]).problems().collect();
        let found: Vec<_> = found
            .iter()
            .map(|each| (each.to_string(), each.help()))
            .collect();
        assert_eq!(
            found,
            [
                (
                    "1:6: there is no rule \"undefned-field\", so the comment does not suppress it"
                        .to_owned(),
                    "did you mean undefined-field?"
                ),
                (
                    "2:1: there is no rule \"all\", so the comment does not suppress it".to_owned(),
                    "a comment without names suppresses all rules; `--` must come before a reason; `gavel explain` lists the rules"
                ),
            ]
        );
    }
}
