//! Formats problems of an expression as compilers do: the source line, with a caret below the position.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use gavel_engine::issues::Issues;
use gavel_engine::source::{Location, Source};

use super::{line_of_excerpt, visible};

/// Formats issues for a terminal, in color: each message, with the source line and a caret below the position.
pub(super) fn render(issues: &Issues) -> String {
    let issues = issues.sorted().into_iter().map(|issue| {
        let excerpt = excerpt(issues.source(), issue.location);
        (visible(&issue.message), issue.location.line, excerpt)
    });
    let issues: Vec<_> = issues.collect();
    let groups = issues.iter().map(|(message, number, excerpt)| {
        let title = Group::with_title(Level::ERROR.primary_title(&**message));
        let Some((line, caret)) = excerpt else {
            return title;
        };
        let snippet = Snippet::source(line.as_str())
            .line_start(usize::try_from(*number).unwrap_or(1))
            .annotation(AnnotationKind::Primary.span(*caret..*caret));
        title.element(snippet)
    });
    let groups: Vec<Group<'_>> = groups.collect();
    Renderer::styled().render(&groups).to_string()
}

/// The line of a location, and the byte of the caret in it; `None` if the source has no such line.
fn excerpt(source: &Source, location: Location) -> Option<(String, usize)> {
    let line = source.line(location.line)?.trim_end_matches('\r');
    let line = line_of_excerpt(line);
    let column = usize::try_from(location.column).ok()?;
    let caret = line.char_indices().nth(column);
    let caret = caret.map_or(line.len(), |(byte, _)| byte);
    Some((line, caret))
}

#[cfg(test)]
mod tests {
    use gavel_engine::env::Env;

    use super::*;

    #[test]
    fn carets_are_below_the_position() {
        let env = Env::builder().build().unwrap();
        for (expression, expected) in [
            ("a", "1 | a\n  | ^"),
            ("'日本' == a", "1 | '日本' == a\n  |           ^"),
            ("\t'ä'\t== a", "1 |     'ä'    == a\n  |               ^"),
            ("1 ==\r\n\r\n  a", "3 |   a\n  |   ^"),
            ("1 ==\r a", "1 | 1 ==␍ a\n  |       ^"),
            (
                "'\u{9b}2J\u{1b}[2J' == a",
                "1 | '\u{fffd}2J␛[2J' == a\n  |              ^",
            ),
        ] {
            let issues = env.compile(expression).unwrap_err();
            let shown = render(&issues);
            assert!(shown.starts_with("\u{1b}[1m\u{1b}[91merror"), "{shown:?}");
            let shown = anstream::adapter::strip_str(&shown).to_string();
            assert!(shown.contains(expected), "{expected}\n{shown}");
        }
    }
}
