//! Writing JSON as Go's `encoding/json` does: no spaces, keys in order, `<`, `>` and `&` escaped.

use std::fmt::Write;

use gavel_golang::float;
use serde_json::{Number, Value as Json};

/// The JSON text of a value. Values that are nested more than 1,000 levels deep are written as `…`, so that the stack cannot overflow. No
/// input is nested that deep.
pub fn to_string(value: &Json) -> String {
    let mut out = String::new();
    write_value(&mut out, value, MAX_DEPTH);
    out
}

/// A text in quotes.
pub fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_text(&mut out, text);
    out
}

/// The kind of a value in Go's messages: `null`, `bool`, `number`, `string`, `array` or `object`.
pub fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "bool",
        Json::Number(_) => "number",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// The name of the Go type that holds a value, such as `map[string]interface {}`.
pub fn go_type(value: &Json) -> &'static str {
    match value {
        Json::Null => "<nil>",
        Json::Bool(_) => "bool",
        Json::Number(number) if double(number).is_some() => "float64",
        Json::Number(_) => "int64",
        Json::String(_) => "string",
        Json::Array(_) => "[]interface {}",
        Json::Object(_) => "map[string]interface {}",
    }
}

/// The text of a value as Go's `%v` prints it: `map[a:1 b:[x <nil>]]`. Values that are nested more than 1,000 levels deep are printed as
/// `…`.
pub fn go_text(value: &Json) -> String {
    let mut out = String::new();
    write_go(&mut out, value, MAX_DEPTH);
    out
}

fn write_go(out: &mut String, value: &Json, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else {
        return out.push('…');
    };
    match value {
        Json::Null => out.push_str("<nil>"),
        Json::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Json::Number(number) => match double(number) {
            // Writing to a String does not fail.
            Some(double) => {
                let _ = float::write_shortest(out, double);
            }
            None => {
                let _ = write!(out, "{number}");
            }
        },
        Json::String(text) => out.push_str(text),
        Json::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push(' ');
                }
                write_go(out, item, depth);
            }
            out.push(']');
        }
        Json::Object(fields) => {
            out.push_str("map[");
            for (n, (key, value)) in fields.iter().enumerate() {
                if n > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                write_go(out, value, depth);
            }
            out.push(']');
        }
    }
}

/// The number as a double. Returns `None` for an `int64`, which Kubernetes stores as an integer.
pub fn double(number: &Number) -> Option<f64> {
    match number.as_i64() {
        Some(_) => None,
        None => number.as_f64(),
    }
}

/// The limit of nesting levels. No reader in this repository returns values that are nested more deeply.
const MAX_DEPTH: usize = 1_000;

fn write_value(out: &mut String, value: &Json, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else {
        return out.push('…');
    };
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(number) => match double(number) {
            Some(double) => out.push_str(&double_text(double)),
            // Writing to a String does not fail.
            None => {
                let _ = write!(out, "{number}");
            }
        },
        Json::String(text) => write_text(out, text),
        Json::Array(items) => {
            out.push('[');
            for (n, item) in items.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write_value(out, item, depth);
            }
            out.push(']');
        }
        Json::Object(fields) => {
            out.push('{');
            for (n, (key, value)) in fields.iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                write_text(out, key);
                out.push(':');
                write_value(out, value, depth);
            }
            out.push('}');
        }
    }
}

/// The text of a double. Zero, and numbers whose absolute value is at least 1e-6 and below 1e21, are written without an exponent; other
/// numbers have an exponent without leading zeros.
pub fn double_text(value: f64) -> String {
    let magnitude = value.abs();
    let mut out = String::new();
    if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
        let _ = float::write_plain(&mut out, value);
    } else {
        let _ = float::write_shortest(&mut out, value);
        if let Some(at) = out.rfind("e-0") {
            out.remove(at.saturating_add(2));
        }
    }
    out
}

fn write_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_printed_as_go_prints_them() {
        let value = serde_json::json!({"b": [1, 1e21, null, "x y"], "a": {"c": true}});
        assert_eq!(go_text(&value), "map[a:map[c:true] b:[1 1e+21 <nil> x y]]");
        assert_eq!(go_type(&value), "map[string]interface {}");
    }

    #[test]
    fn texts_and_numbers_are_gos() {
        for (value, expected) in [
            (
                serde_json::json!("<a&\u{2028}\u{1}\u{7f}é>"),
                "\"\\u003ca\\u0026\\u2028\\u0001\u{7f}é\\u003e\"",
            ),
            (serde_json::json!(1.0), "1"),
            (serde_json::json!(1e21), "1e+21"),
            (serde_json::json!(1e-7), "1e-7"),
            (serde_json::json!(i64::MIN), "-9223372036854775808"),
            (serde_json::json!(u64::MAX), "18446744073709552000"),
            (serde_json::json!(123456789.5), "123456789.5"),
            (
                serde_json::json!({"b": [], "a": {"c": null}}),
                "{\"a\":{\"c\":null},\"b\":[]}",
            ),
        ] {
            assert_eq!(to_string(&value), expected);
        }
    }
}
