//! Escapes names of properties as CEL identifiers (apiserver `pkg/cel/escaping.go`).

use std::borrow::Cow;

/// CEL's reserved words, and those that Kubernetes adds.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// The replacements of characters that identifiers cannot contain.
const SEQUENCES: [(&str, &str); 4] = [
    ("__", "__underscores__"),
    (".", "__dot__"),
    ("-", "__dash__"),
    ("/", "__slash__"),
];

/// Whether expressions cannot use a word as an identifier.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Escapes a name as an identifier: `a-b` becomes `a__dash__b`, and `namespace` becomes `__namespace__`. `None` for names that cannot be
/// escaped: the empty name, names with a leading digit, and names with characters other than ASCII letters and digits, `_`, `.`, `-` and
/// `/`.
///
/// ```
/// use gavel_schema::cel::{escape, unescape};
///
/// assert_eq!(escape("a-b").as_deref(), Some("a__dash__b"));
/// assert_eq!(unescape("a__dash__b").as_deref(), Some("a-b"));
/// assert_eq!(escape("a$b"), None);
/// ```
pub fn escape(name: &str) -> Option<Cow<'_, str>> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if is_reserved(name) {
        return Some(Cow::Owned(format!("__{name}__")));
    }
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'/');
    if !name.bytes().all(is_allowed) {
        return None;
    }
    if !name.contains(['.', '-', '/']) && !name.contains("__") {
        return Some(Cow::Borrowed(name));
    }
    let mut escaped = String::with_capacity(name.len().saturating_add(16));
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let sequence = SEQUENCES
            .iter()
            .find_map(|(plain, sequence)| Some((*sequence, rest.strip_prefix(plain)?)));
        match sequence {
            Some((sequence, after)) => {
                escaped.push_str(sequence);
                rest = after;
            }
            None => {
                escaped.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or("");
            }
        }
    }
    Some(Cow::Owned(escaped))
}

/// Reverses [`escape`]. An identifier without an escape sequence is returned unchanged. `None` if a sequence is unknown, as in `__x__`, or
/// if an escaped reserved word is only a part of the identifier, as in `a__if__`.
pub fn unescape(identifier: &str) -> Option<Cow<'_, str>> {
    if !identifier.contains("__") {
        return Some(Cow::Borrowed(identifier));
    }
    let mut name = String::with_capacity(identifier.len());
    let mut rest = identifier;
    while let Some(first) = rest.chars().next() {
        let Some((word, after)) = sequence(rest) else {
            name.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or("");
            continue;
        };
        match word {
            "underscores" => name.push_str("__"),
            "dot" => name.push('.'),
            "dash" => name.push('-'),
            "slash" => name.push('/'),
            _ if is_reserved(word) && rest.len() == identifier.len() && after.is_empty() => {
                name.push_str(word);
            }
            _ => return None,
        }
        rest = after;
    }
    Some(Cow::Owned(name))
}

/// The word of an escape sequence at the start of a text, and the rest of the text.
fn sequence(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix("__")?;
    let (word, _) = inner.split_once('_').filter(|(word, _)| !word.is_empty())?;
    let after = inner.strip_prefix(word)?.strip_prefix("__")?;
    Some((word, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_and_names_again() {
        for (name, identifier) in [
            ("a", "a"),
            ("_", "_"),
            ("int", "int"),
            ("a_b", "a_b"),
            ("-a", "__dash__a"),
            ("a.b/c", "a__dot__b__slash__c"),
            ("a__b", "a__underscores__b"),
            ("a___b", "a__underscores___b"),
            ("____", "__underscores____underscores__"),
            ("__x__", "__underscores__x__underscores__"),
            ("a__dash__b", "a__underscores__dash__underscores__b"),
            ("a_-b", "a___dash__b"),
            ("namespace", "__namespace__"),
            ("true", "__true__"),
        ] {
            assert_eq!(escape(name).as_deref(), Some(identifier), "{name}");
            assert_eq!(unescape(identifier).as_deref(), Some(name), "{identifier}");
        }
    }

    #[test]
    fn some_names_are_no_identifiers() {
        for name in ["", "9x", "a$b", "a b", "ä"] {
            assert_eq!(escape(name), None, "{name}");
        }
    }

    #[test]
    fn names_without_escape_sequences_stay_as_they_are() {
        for identifier in ["a-b", "c$d", "a__b", "namespace", "__", "____", "ä__"] {
            assert_eq!(unescape(identifier).as_deref(), Some(identifier));
        }
        for identifier in ["__x__", "a__if__", "__if__a", "a__b__c", "__ä__"] {
            assert_eq!(unescape(identifier), None, "{identifier}");
        }
    }
}
