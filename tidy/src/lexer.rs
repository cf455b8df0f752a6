//! Splits Rust source into words, without comments, strings and test modules.

/// The words and punctuation of a text, in order. Comments, strings, characters and the quotes of lifetimes are omitted.
pub(crate) fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = skipped(rest).unwrap_or_else(|| {
            let length = word(rest).unwrap_or(first.len_utf8());
            words.extend(rest.get(..length).filter(|_| !first.is_whitespace()));
            length
        });
        rest = rest.get(length..).unwrap_or_default();
    }
    words
}

/// Removes the words of items with the attribute `#[cfg(test)]`.
pub(crate) fn without_tests(words: Vec<&str>) -> Vec<&str> {
    const FOR_TESTS: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::with_capacity(words.len());
    let mut rest = words.as_slice();
    while let Some((word, after)) = rest.split_first() {
        rest = match rest.strip_prefix(&FOR_TESTS) {
            Some(item) => after_item(item),
            None => {
                kept.push(*word);
                after
            }
        };
    }
    kept
}

/// The words after an item, which ends with a semicolon or a closing brace.
fn after_item<'w, 't>(mut words: &'w [&'t str]) -> &'w [&'t str] {
    let mut depth = 0_usize;
    while let Some((word, after)) = words.split_first() {
        words = after;
        match *word {
            "{" | "(" | "[" => depth = depth.saturating_add(1),
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && matches!(*word, ";" | "}") {
            break;
        }
    }
    words
}

/// The number of bytes to skip if the text begins with a comment, a string, a character or the quote of a lifetime. Otherwise `None`.
fn skipped(rest: &str) -> Option<usize> {
    let until = |end: &str| {
        rest.find(end)
            .map_or(rest.len(), |at| at.saturating_add(end.len()))
    };
    if rest.starts_with("//") {
        return Some(until("\n"));
    }
    if rest.starts_with("/*") {
        return Some(until("*/"));
    }
    if let Some(hashes) = raw_text(rest) {
        let end = format!("\"{}", "#".repeat(hashes));
        let start = hashes.saturating_add(2);
        let inner = rest.get(start..)?;
        let end_at = inner.find(&end).unwrap_or(inner.len());
        return Some(start.saturating_add(end_at).saturating_add(end.len()));
    }
    match rest.strip_prefix(['"', '\'']) {
        Some(inner) if rest.starts_with('"') => Some(quoted(inner, '"').saturating_add(1)),
        // This arm matches a character. The next arm matches the quote of a lifetime.
        Some(inner) if inner.starts_with('\\') || inner.chars().nth(1) == Some('\'') => {
            Some(quoted(inner, '\'').saturating_add(1))
        }
        Some(_) => Some(1),
        None => None,
    }
}

/// The number of `#` on each side of a raw string; `None` if the text does not begin with a raw string.
fn raw_text(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('r')?;
    let hashes = after.chars().take_while(|c| *c == '#').count();
    after.get(hashes..)?.starts_with('"').then_some(hashes)
}

/// The length of the rest of a string or character after its opening quote, in bytes, including the closing quote.
fn quoted(inner: &str, quote: char) -> usize {
    let mut escaped = false;
    let end = inner.char_indices().find(|(_, c)| {
        let ends = *c == quote && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(inner.len(), |(at, _)| at.saturating_add(1))
}

fn word(rest: &str) -> Option<usize> {
    if rest.starts_with("::") {
        return Some(2);
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    Some(end.unwrap_or(rest.len())).filter(|length| *length > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_texts_and_tests_are_left_out() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(without_tests(words(text)), expected, "{text}");
        };
        check("use a::B; // c\n", &["use", "a", "::", "B", ";"]);
        check(
            r##"f("\"x", r#"y"z"#, 'a', '\'', &'t b)"##,
            &["f", "(", ",", ",", ",", ",", "&", "t", "b", ")"],
        );
        check("a #[cfg(test)] mod tests { b { c } } d", &["a", "d"]);
        check("a #[cfg(test)] use b::c; d", &["a", "d"]);
        check("/* a */ é", &["é"]);
    }
}
