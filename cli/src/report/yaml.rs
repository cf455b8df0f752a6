//! JSON as YAML in block style, as `kubectl` prints it.

use std::fmt::Write;

use gavel_apimachinery::json::quoted;
use gavel_engine::value::Json;

/// The YAML of a document, with a line break at its end.
pub(crate) fn to_string(document: &Json) -> String {
    let mut out = String::new();
    write_value(&mut out, document, 0, false);
    out
}

// The recursion is limited, because documents are at most 127 levels deep. Writing to a String does not fail.
fn write_value(out: &mut String, value: &Json, indent: usize, in_line: bool) {
    match value {
        Json::Object(fields) if !fields.is_empty() => {
            for (n, (name, value)) in fields.iter().enumerate() {
                if n > 0 || !in_line {
                    let _ = write!(out, "{:indent$}", "");
                }
                let _ = write!(out, "{}:", scalar(name));
                write_field(out, value, indent);
            }
        }
        Json::Array(items) if !items.is_empty() => {
            for (n, item) in items.iter().enumerate() {
                if n > 0 || !in_line {
                    let _ = write!(out, "{:indent$}", "");
                }
                out.push_str("- ");
                write_value(out, item, indent.saturating_add(2), true);
            }
        }
        Json::String(text) => {
            let _ = writeln!(out, "{}", scalar(text));
        }
        other => {
            let _ = writeln!(out, "{other}");
        }
    }
}

/// Writes the value of a field after the name. The items of a list are not indented further than the name.
fn write_field(out: &mut String, value: &Json, indent: usize) {
    match value {
        Json::Object(fields) if !fields.is_empty() => {
            out.push('\n');
            write_value(out, value, indent.saturating_add(2), false);
        }
        Json::Array(items) if !items.is_empty() => {
            out.push('\n');
            write_value(out, value, indent, false);
        }
        value => {
            out.push(' ');
            write_value(out, value, indent, true);
        }
    }
}

/// The text as a YAML scalar. The text is quoted unless YAML certainly parses the unquoted text as the same string.
fn scalar(text: &str) -> String {
    const WORDS: [&str; 10] = [
        "true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan",
    ];
    let is_word = WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./@".contains(&byte);
    let starts = text
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'/');
    match starts && !is_word && text.bytes().all(is_plain) {
        true => text.to_owned(),
        false => escaped(&quoted(text)),
    }
}

/// A JSON string in which the characters that YAML does not allow, or reads as line breaks, are escaped. So is the byte order mark, which
/// go-yaml sometimes misreads in a long text.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        let _ = match c {
            '\u{7f}'..='\u{9f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                write!(out, "\\u{:04x}", u32::from(c))
            }
            _ => out.write_char(c),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use gavel_manifest::{Format, read};
    use serde_json::json;

    use super::*;

    #[test]
    fn written_yaml_reads_back_the_same() {
        let document = json!({
            "a": {"b": [], "c": {}, "d": [1, "1", "yes", null, true, 1.5, ["x", {"y": "z w"}]]},
            "e/f": "a: b # c", "": "", "list": [{"name": "n", "ports": [{"port": 80}]}], "t": "line\nline", "~": "é",
            "odd": "\0 \u{7f} \u{80} \u{85} \u{9f} \u{a0} \u{2028} \u{feff} \u{fffd} \u{fffe} \u{ffff} \u{1ffff}",
        });
        let text = to_string(&document);
        let read = read(&text, Format::Yaml).all().unwrap();
        assert_eq!(read.len(), 1);
        assert_eq!(*read[0].value(), document, "{text}");
        assert!(text.contains("\\ufeff"), "{text}");
    }
}
