//! Formats problems of an expression as compilers do: the source line, with a caret below the position.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use gavel_engine::issues::Issues;
use gavel_engine::source::{Location, Source};

/// Formats issues for a terminal, in color: each message, with the source line and a caret below the position.
pub(super) fn render(issues: &Issues) -> String {
    let source = issues.source();
    let groups: Vec<Group<'_>> = issues
        .sorted()
        .into_iter()
        .map(|issue| {
            let title = Group::with_title(Level::ERROR.primary_title(issue.message.as_str()));
            match byte_of(source, issue.location) {
                Some(byte) => {
                    let annotation = AnnotationKind::Primary.span(byte..byte);
                    title.element(Snippet::source(source.text()).annotation(annotation))
                }
                None => title,
            }
        })
        .collect();
    Renderer::styled().render(&groups).to_string()
}

/// The byte offset of a location in the source; `None` if the source has no such line.
fn byte_of(source: &Source, location: Location) -> Option<usize> {
    let line = source.line(location.line)?;
    let column = usize::try_from(location.column).ok()?;
    let within = line
        .char_indices()
        .nth(column)
        .map_or(line.len(), |(byte, _)| byte);
    let before = usize::try_from(location.line).ok()?.checked_sub(1)?;
    let start = source
        .text()
        .split_inclusive('\n')
        .take(before)
        .map(str::len)
        .sum::<usize>();
    start.checked_add(within)
}
