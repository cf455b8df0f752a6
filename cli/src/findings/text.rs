//! Prints findings for people: each with the line of the file, and with carets below the error.

use std::io::{self, Write};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use gavel_manifest::{Place, Problem, Severity, Source};

use super::{Findings, message_of};
use crate::report::{line_of_excerpt, visible};

/// The maximum length of a line from which an excerpt is printed, in bytes: a manifest may contain a whole file in one line.
const MAX_LINE: usize = 8192;

pub(super) fn write(findings: &Findings, out: &mut impl Write) -> io::Result<()> {
    let renderer = Renderer::styled();
    for problem in &findings.problems {
        writeln!(
            out,
            "{}\n",
            one(problem, findings.text_of(problem), &renderer)
        )?;
    }
    Ok(())
}

/// Renders a finding in color.
fn one(problem: &Problem, text: Option<&Source>, renderer: &Renderer) -> String {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let message = message_of(problem);
    // Lines that begin with ` | ` are the API server's excerpt of the expression. The snippet below replaces that excerpt.
    let lines = message.lines().filter(|line| !line.starts_with(" | "));
    let lines: Vec<&str> = lines.collect();
    let message = lines.join("\n");
    let message = visible(message.trim_end());
    let path = problem.file.as_deref();
    let path = path.map(|path| path.display().to_string());
    let path = visible(path.as_deref().unwrap_or_default()).into_owned();
    let range = problem.range;
    let line = range.and_then(|range| Some((range, text?.line(range.start.line)?)));
    let line = line.filter(|(_, line)| line.len() <= MAX_LINE);
    let shown = line.map(|(range, line)| (range, line_of_excerpt(line)));
    let title = level.primary_title(message).id(problem.rule);
    let mut group = Group::with_title(title);
    if let Some((range, line)) = &shown {
        let span = span(line, range.start, range.end);
        let snippet = Snippet::source(line.as_str())
            .line_start(usize::try_from(range.start.line).unwrap_or(1))
            .path(path.as_str())
            .annotation(AnnotationKind::Primary.span(span));
        group = group.element(snippet);
    } else if let Some(range) = range {
        group = group.element(
            Level::NOTE
                .no_name()
                .message(format!("at {path}:{}", range.start)),
        );
    } else if !path.is_empty() {
        group = group.element(Level::NOTE.no_name().message(format!("in {path}")));
    }
    if !problem.help().is_empty() {
        group = group.element(Level::HELP.message(visible(problem.help())));
    }
    renderer.render(&[group])
}

/// The bytes of a line between two positions. If the second position is on a later line, the range ends with the line.
fn span(line: &str, start: Place, end: Place) -> std::ops::Range<usize> {
    let byte = |column: u32| {
        let n = usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX);
        let nth = line.char_indices().nth(n);
        nth.map_or(line.len(), |(byte, _)| byte)
    };
    let first = byte(start.column);
    let last = match end.line == start.line {
        true => byte(end.column),
        false => line.trim_end().len(),
    };
    first..last.max(first)
}

#[cfg(test)]
mod tests {
    use gavel_manifest::Range;
    use gavel_manifest::problem::rule;

    use super::*;

    #[test]
    fn excerpts_show_the_part_of_a_line_that_is_wrong() {
        let check = |length: usize, expected: &str| {
            let text = format!("a: {} wrong\n", "x".repeat(length));
            let column = u32::try_from(text.len() - 5).unwrap();
            let problem = Problem::new(rule::SYNTAX, "message").at(Range {
                start: Place { line: 1, column },
                end: Place {
                    line: 1,
                    column: column + 5,
                },
            });
            let found = one(&problem, Some(&Source::new(&text)), &Renderer::plain());
            assert!(found.contains(expected), "{found}");
        };
        check(10, "1 | a: xxxxxxxxxx wrong\n");
        check(5000, "xxx wrong\n");
        check(10_000, "= at :1:");
    }

    #[test]
    fn carets_are_below_what_is_wrong() {
        for (before, shown) in [
            ("ä: ", "1 | ä: wrong\n  |    ^^^^^"),
            ("日本: ", "1 | 日本: wrong\n  |       ^^^^^"),
            ("a:\t", "1 | a:    wrong\n  |       ^^^^^"),
            ("\u{7f}\r\u{9b}: ", "1 | ␡␍\u{fffd}: wrong\n  |      ^^^^^"),
        ] {
            let column = u32::try_from(before.chars().count() + 1).unwrap();
            let problem = Problem::new(rule::SYNTAX, "message").at(Range {
                start: Place { line: 1, column },
                end: Place {
                    line: 1,
                    column: column + 5,
                },
            });
            let text = Source::new(&format!("{before}wrong # not\n"));
            let found = one(&problem, Some(&text), &Renderer::styled());
            assert!(
                found.starts_with("\u{1b}[1m\u{1b}[91merror[syntax]"),
                "{found:?}"
            );
            let found = anstream::adapter::strip_str(&found).to_string();
            let shown = shown.replacen("wrong", "wrong # not", 1);
            assert!(found.contains(&shown), "{shown}\n{found}");
        }
    }
}
