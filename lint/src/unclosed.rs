//! Finds brackets and quotes in expressions that are never closed.

use gavel_manifest::{Lexeme, Place, place_of, unclosed};

/// The innermost unclosed bracket or quote of an expression, and its position; `None` if everything is closed.
pub(crate) fn unclosed_in(expression: &str) -> Option<(char, Place)> {
    let byte = *unclosed(expression, lexeme).last()?;
    let opener = expression.get(byte..)?.chars().next()?;
    Some((opener, place_of(expression, byte)))
}

fn lexeme(text: &str, at: usize) -> Lexeme {
    let rest = text.get(at..).unwrap_or_default();
    if rest.starts_with("//") {
        return Lexeme::Opaque(rest.find('\n').unwrap_or(rest.len()));
    }
    let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return Lexeme::Character;
    };
    let triple: String = std::iter::repeat_n(quote, 3).collect();
    let is_triple = rest.starts_with(&triple);
    let open = if is_triple { 3 } else { 1 };
    let is_raw = is_raw(text.get(..at).unwrap_or_default());
    let mut is_escaped = false;
    for (length, c) in rest.char_indices().skip(open) {
        let closes = match is_triple {
            true => rest
                .get(length..)
                .is_some_and(|rest| rest.starts_with(&triple)),
            false => c == quote,
        };
        match c {
            '\n' if !is_triple => return Lexeme::Unclosed,
            _ if is_escaped => is_escaped = false,
            '\\' if !is_raw => is_escaped = true,
            _ if closes => return Lexeme::Opaque(length.saturating_add(open)),
            _ => {}
        }
    }
    Lexeme::Unclosed
}

/// Whether the prefix before a quote makes the text raw: `r`, `br`, `rb`.
fn is_raw(before: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let prefix = before.rsplit(|c| !word(c)).next().unwrap_or_default();
    matches!(prefix.to_ascii_lowercase().as_str(), "r" | "br" | "rb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unclosed_brackets_are_found() {
        let found = |expression: &str| unclosed_in(expression).map(|(c, at)| format!("{c} {at}"));
        for (expression, expected) in [
            ("object.name.startsWith('a) &&\n true", "' 1:24"),
            ("a &&\n (b == '(' || c", "( 2:2"),
            ("(1 + [2, 3)", "[ 1:6"),
            ("[1, '''it's ]''', r'\\', // [\n 2", "[ 1:1"),
            ("f({'a': b'\\''}", "( 1:2"),
        ] {
            assert_eq!(found(expression).as_deref(), Some(expected), "{expression}");
        }
        for expression in ["f([{}])", "a)", "'it\\'s' + \"[\"", "1 + // ("] {
            assert_eq!(found(expression), None, "{expression}");
        }
    }
}
