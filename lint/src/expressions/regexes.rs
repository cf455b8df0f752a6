//! Regular expressions that do not match what they seem to match, or that could be simpler.

use std::collections::HashSet;

use gavel_engine::ast::{Expr, ExprKind, operators};
use gavel_engine::source::ExprId;
use gavel_manifest::Problem;

use super::Subject;
use super::path::text;
use crate::rules::{REGEX_ALTERNATIVES, UNANCHORED_REGEX};

pub(super) fn check(subject: &Subject<'_>, problems: &mut Vec<Problem>) {
    let mut negated = HashSet::new();
    find_negated(subject.checked.ast().root(), false, &mut negated);
    for (expr, call) in subject.checked.calls(|function| function.name == "matches") {
        let Some((argument, pattern)) = call
            .args
            .iter()
            .next_back()
            .and_then(|argument| Some((argument, text(argument)?)))
        else {
            continue;
        };
        if let Some(texts) = listed(pattern) {
            let texts: Vec<_> = texts.iter().map(|text| format!("'{text}'")).collect();
            let message = format!("the regular expression `{pattern}` is a list of texts");
            let help = format!("write `… in [{}]`", texts.join(", "));
            let problem = subject.problem(&REGEX_ALTERNATIVES, argument, message);
            problems.push(problem.with_help(help));
        } else if let Some((message, help)) = misplaced_anchor(pattern)
            // A negated pattern is meant to match anywhere.
            .or_else(|| unanchored(pattern).filter(|_| !negated.contains(&expr.id)))
        {
            let problem = subject.problem(&UNANCHORED_REGEX, argument, message);
            problems.push(problem.with_help(help));
        }
    }
}

/// Finds the nodes that are below an odd number of negations. The recursion is as deep as the tree; the parser limits this depth.
fn find_negated(expr: Expr<'_>, is_negated: bool, negated: &mut HashSet<ExprId>) {
    if is_negated {
        negated.insert(expr.id);
    }
    let is_not =
        matches!(expr.kind(), ExprKind::Call(call) if call.function == operators::LOGICAL_NOT);
    expr.for_each_child(|child| find_negated(child, is_negated != is_not, negated));
}

/// The texts that a pattern such as `^(a|b)$` lists; `None` for patterns of another form.
fn listed(pattern: &str) -> Option<Vec<&str>> {
    let inner = pattern.strip_prefix('^')?.strip_suffix('$')?;
    let inner = inner
        .strip_prefix("(?:")
        .or_else(|| inner.strip_prefix('('))?;
    let inner = inner.strip_suffix(')')?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_/ :".contains(c);
    let texts: Vec<_> = inner.split('|').collect();
    let all_plain = texts
        .iter()
        .all(|text| !text.is_empty() && text.chars().all(is_plain));
    (texts.len() > 1 && all_plain).then_some(texts)
}

/// Finds a pattern such as `^a|b$`, in which the anchors belong only to the first and the last alternative. Returns a message and help;
/// `None` for other patterns.
fn misplaced_anchor(pattern: &str) -> Option<(String, String)> {
    let alternatives = alternatives(pattern);
    let [first, .., last] = alternatives.as_slice() else {
        return None;
    };
    let starts = alternatives
        .iter()
        .filter(|each| each.starts_with('^'))
        .count();
    let ends = alternatives
        .iter()
        .filter(|each| each.ends_with('$'))
        .count();
    (first.starts_with('^') && last.ends_with('$') && starts == 1 && ends == 1).then(|| {
        let inner = alternatives.join("|");
        let inner = inner.trim_start_matches('^').trim_end_matches('$');
        (
            format!(
                "in `{pattern}`, `^` belongs to the first alternative only, and `$` to the last"
            ),
            format!("write `^({inner})$`"),
        )
    })
}

fn unanchored(pattern: &str) -> Option<(String, String)> {
    let is_anchored = pattern.contains('^')
        || pattern.contains('$')
        || pattern.contains("\\A")
        || pattern.contains("\\z")
        || pattern.contains("\\b")
        // The `.*` at both ends shows that the match may be anywhere.
        || (pattern.starts_with(".*") && pattern.ends_with(".*"));
    let is_literal = !pattern.contains(['[', '(', '.', '*', '+', '?', '|', '\\', '{']);
    (!is_anchored).then(|| {
        let help = match is_literal {
            true => format!("to look for the text anywhere, `contains('{pattern}')` costs less; for the whole text, write `^{pattern}$`"),
            false => format!("for the whole text, write `^{}$`", grouped(pattern)),
        };
        (format!("the regular expression `{pattern}` matches anywhere in the text"), help)
    })
}

fn grouped(pattern: &str) -> String {
    match alternatives(pattern).len() {
        1 => pattern.to_owned(),
        _ => format!("({pattern})"),
    }
}

/// The alternatives of a pattern at its top level: a `|` inside of a group does not count.
fn alternatives(pattern: &str) -> Vec<&str> {
    let (mut depth, mut in_class, mut escaped) = (0_usize, false, false);
    let mut from = 0;
    let mut found = Vec::new();
    for (at, c) in pattern.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            _ if in_class => {}
            '(' => depth = depth.saturating_add(1),
            ')' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => {
                found.extend(pattern.get(from..at));
                from = at.saturating_add(1);
            }
            _ => {}
        }
    }
    found.extend(pattern.get(from..));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_split_outside_of_groups() {
        assert_eq!(alternatives("^a|b$"), ["^a", "b$"]);
        assert_eq!(alternatives("^(a|b)$"), ["^(a|b)$"]);
        assert_eq!(alternatives(r"[|]\|x|y"), [r"[|]\|x", "y"]);
        assert_eq!(listed("^(a|b-c)$"), Some(vec!["a", "b-c"]));
        assert_eq!(listed("^(a|b+)$"), None);
        assert!(misplaced_anchor("^a|b$").is_some());
        assert!(misplaced_anchor("^a$|^b$").is_none());
        assert!(unanchored("[a-z]+").is_some());
        assert!(unanchored("^[a-z]+").is_none());
        assert!(unanchored(".*#.*").is_none());
    }
}
