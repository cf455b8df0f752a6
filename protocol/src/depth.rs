//! Finds the value at which a request is nested too deeply.

use std::ops::Range;

/// The nesting limit of requests.
pub(super) const MAX_DEPTH: usize = 127;
/// The maximum number of steps in a reported path.
const MAX_STEPS: usize = 12;

/// A list or object that encloses the current position.
struct Level {
    is_list: bool,
    /// The index of the current element, if the level is a list.
    index: usize,
    /// The byte range of the current key, if the level is an object.
    key: Range<usize>,
}

/// The path to the first value that is nested too deeply, if there is one: `object.spec.a[0]`. The end of a long path is omitted.
pub(super) fn path_too_deep(text: &[u8]) -> Option<String> {
    let mut levels: Vec<Level> = Vec::new();
    let mut string = 0..0;
    let mut bytes = text.iter().copied().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => {
                let start = at.saturating_add(1);
                let mut escaped = false;
                let end = bytes.find(|(_, byte)| {
                    let ends = *byte == b'"' && !escaped;
                    escaped = *byte == b'\\' && !escaped;
                    ends
                });
                string = start..end?.0;
            }
            b':' => levels.last_mut()?.key = string.clone(),
            b',' => {
                let level = levels.last_mut()?;
                level.index = level.index.saturating_add(1);
            }
            b'{' | b'[' if levels.len() == MAX_DEPTH => return Some(path_of(&levels, text)),
            b'{' | b'[' => levels.push(Level {
                is_list: byte == b'[',
                index: 0,
                key: 0..0,
            }),
            b'}' | b']' => {
                levels.pop()?;
            }
            _ => {}
        }
    }
    None
}

fn path_of(levels: &[Level], text: &[u8]) -> String {
    let mut path = String::new();
    for level in levels.iter().take(MAX_STEPS) {
        if level.is_list {
            path.push_str(&format!("[{}]", level.index));
            continue;
        }
        if !path.is_empty() {
            path.push('.');
        }
        let key = text.get(level.key.clone()).unwrap_or_default();
        path.push_str(&String::from_utf8_lossy(key));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_leads_to_what_is_nested_too_deeply() {
        let check = |depth: usize, expected: Option<&str>| {
            let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
            let text =
                format!(r#"{{"id": "\"{{", "xs": [{{}}, []], "object": {{"a": [1, {deep}]}}}}"#);
            assert_eq!(path_too_deep(text.as_bytes()).as_deref(), expected);
        };
        check(124, None);
        check(125, Some("object.a[1][0][0][0][0][0][0][0][0][0]"));
        check(10_000, Some("object.a[1][0][0][0][0][0][0][0][0][0]"));
        assert_eq!(path_too_deep(b"}"), None);
        assert_eq!(path_too_deep(b"{\"a"), None);
    }
}
