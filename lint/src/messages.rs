//! Messages of validations and rules.

use gavel_manifest::{Document, Problem, Suggestion};

use crate::expressions::problem;
use crate::rules::{LONE_MESSAGE_EXPRESSION, MESSAGE_CONVENTION};

/// Reports the problems of the message of a validation or rule; `field` is the path of the validation or rule.
pub(crate) fn check_message(
    document: &Document,
    field: &str,
    message: &str,
    expression: &str,
    problems: &mut Vec<Problem>,
) {
    if message.is_empty() && !expression.is_empty() {
        let what = "the messageExpression has no message to fall back to";
        let field = format!("{field}.messageExpression");
        problems.push(problem(document, &LONE_MESSAGE_EXPRESSION, &field, what));
    }
    let Some(at) = word(message, "should") else {
        return;
    };
    let what =
        "the message says \"should\" where the object is rejected; the convention is \"must\"";
    let field = format!("{field}.message");
    let found = problem(document, &MESSAGE_CONVENTION, &field, what);
    let before = message.get(..at).unwrap_or_default();
    let line = before.matches('\n').count().saturating_add(1);
    let column = before.rsplit('\n').next().unwrap_or_default();
    let column = column.chars().count().saturating_add(1);
    let range = document.range_within(
        &field,
        u32::try_from(line).unwrap_or(1),
        u32::try_from(column).unwrap_or(1),
        6,
    );
    let found = match range {
        Some(range) => found.at(range).with_suggestion(Suggestion {
            range,
            replacement: "must".to_owned(),
        }),
        None => found,
    };
    problems.push(found);
}

/// The position of a word in a text, in bytes; `None` if the text does not contain the word. Upper and lower case are the same.
fn word(text: &str, wanted: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    lower.match_indices(wanted).map(|(at, _)| at).find(|at| {
        let before = lower.get(..*at).unwrap_or_default().chars().next_back();
        let after = lower.get(at.saturating_add(wanted.len())..);
        let after = after.unwrap_or_default().chars().next();
        !is_letter(before) && !is_letter(after)
    })
}
