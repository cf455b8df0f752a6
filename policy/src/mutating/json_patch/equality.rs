//! Equality as `test` operations define it (json-patch `lazyNode.equal`).

use gavel_apimachinery::json;
use gavel_engine::value::Json;

/// Whether `found`, a value of the document, equals the `value` of a `test`. A null also equals an empty object, and an empty array in the
/// document also equals a null in the `test`. Inside objects and arrays, null only equals null.
pub(super) fn is_equal(found: &Json, value: &Json) -> bool {
    match (found, value) {
        (Json::Null, Json::Null) => true,
        (Json::Object(fields), Json::Null) | (Json::Null, Json::Object(fields)) => {
            fields.is_empty()
        }
        (Json::Array(items), Json::Null) => items.is_empty(),
        _ => is_same(found, value),
    }
}

fn is_same(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Object(left), Json::Object(right)) => {
            let same = |(name, value): (&String, &Json)| {
                let other = right.get(name);
                other.is_some_and(|other| is_same_part(value, other))
            };
            left.len() == right.len() && left.iter().all(same)
        }
        (Json::Array(left), Json::Array(right)) => {
            let mut pairs = left.iter().zip(right);
            left.len() == right.len() && pairs.all(|(left, right)| is_same_part(left, right))
        }
        // Numbers are compared as Go writes them: 1.0 is written as 1.
        (Json::Number(_), Json::Number(_)) => json::to_string(left) == json::to_string(right),
        (left, right) => left == right,
    }
}

/// Equality inside objects and arrays, where null only equals null.
fn is_same_part(left: &Json, right: &Json) -> bool {
    left.is_null() == right.is_null() && (left.is_null() || is_same(left, right))
}
