//! Access to fields of unstructured objects, with Go's error messages (apimachinery `pkg/apis/meta/v1/unstructured/helpers.go`).

use gavel_apimachinery::json;
use gavel_engine::value::Json;

/// The string at a path such as `.spec.selector`.
///
/// # Errors
///
/// The value is not a string.
pub(super) fn text<'d>(object: &'d Json, path: &str) -> Result<Option<&'d str>, String> {
    typed(object, path, Json::as_str, "string")
}

/// The integer at a path such as `.spec.replicas`.
///
/// # Errors
///
/// The value is not an integer.
pub(super) fn integer(object: &Json, path: &str) -> Result<Option<i64>, String> {
    typed(object, path, Json::as_i64, "int64")
}

fn typed<'d, T>(
    object: &'d Json,
    path: &str,
    read: impl Fn(&'d Json) -> Option<T>,
    expected: &str,
) -> Result<Option<T>, String> {
    // Upstream removes one leading dot.
    let path = path.strip_prefix('.').unwrap_or(path);
    let Some(value) = nested(object, path)? else {
        return Ok(None);
    };
    let typed = read(value).ok_or_else(|| unexpected(path, value, expected));
    typed.map(Some)
}

/// The value at a path; `None` if a field of the path is missing or is below null. Fails if any other value above a field is not an object.
fn nested<'d>(object: &'d Json, path: &str) -> Result<Option<&'d Json>, String> {
    let mut value = object;
    let mut way = String::new();
    for field in path.split('.') {
        if !way.is_empty() {
            way.push('.');
        }
        way.push_str(field);
        match value {
            Json::Null => return Ok(None),
            Json::Object(found) => match found.get(field) {
                Some(next) => value = next,
                None => return Ok(None),
            },
            other => return Err(unexpected(&way, other, "map[string]interface{}")),
        }
    }
    Ok(Some(value))
}

fn unexpected(path: &str, value: &Json, expected: &str) -> String {
    let (text, found) = (json::go_text(value), json::go_type(value));
    format!(".{path} accessor error: {text} is of the type {found}, expected {expected}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_lies_below_null() {
        assert_eq!(integer(&json!({"a": null}), ".a.b"), Ok(None));
        assert_eq!(integer(&json!({"a": {}}), ".a.b"), Ok(None));
        assert_eq!(integer(&json!({"a": {"b": 1}}), ".a.b"), Ok(Some(1)));
        assert_eq!(text(&json!({"": "x"}), ""), Ok(Some("x")));
    }

    #[test]
    fn wrong_types_are_named_as_in_go() {
        let check = |found: Result<_, String>, expected: &str| {
            assert_eq!(found, Err(expected.to_owned()));
        };
        let object = json!({"a": {"b": [1, 1e6, null], "c": "x"}, "d": [true], "e": null});
        check(
            integer(&object, ".a"),
            ".a accessor error: map[b:[1 1e+06 <nil>] c:x] is of the type map[string]interface {}, expected int64",
        );
        check(
            integer(&object, ".d.e"),
            ".d.e accessor error: [true] is of the type []interface {}, expected map[string]interface{}",
        );
        check(
            integer(&object, "e"),
            ".e accessor error: <nil> is of the type <nil>, expected int64",
        );
    }
}
