//! The difference between two documents as an RFC 6902 patch.

use gavel_engine::value::{Json, JsonObject};
use serde_json::json;

/// The JSON patch operations that change `old` to `new`. Objects and arrays are compared item by item, so that only the values that differ
/// are added, removed or replaced. Equal documents have no operations.
///
/// ```
/// use gavel_policy::mutating::difference;
/// use serde_json::json;
///
/// let (old, new) = (json!({"a": [1, 3], "b/c": 1}), json!({"a": [1, 2, 3]}));
/// assert_eq!(difference(&old, &new), [
///     json!({"op": "remove", "path": "/b~1c"}),
///     json!({"op": "add", "path": "/a/1", "value": 2}),
/// ]);
/// ```
pub fn difference(old: &Json, new: &Json) -> Vec<Json> {
    let mut operations = Vec::new();
    compare(old, new, &mut String::new(), &mut operations);
    operations
}

// Recursion is at most 127 levels deep, the nesting limit of documents.
fn compare(old: &Json, new: &Json, path: &mut String, operations: &mut Vec<Json>) {
    match (old, new) {
        _ if old == new => {}
        (Json::Object(old), Json::Object(new)) => compare_objects(old, new, path, operations),
        (Json::Array(old), Json::Array(new)) => compare_arrays(old, new, path, operations),
        _ => operations.push(json!({"op": "replace", "path": path, "value": new})),
    }
}

fn compare_objects(
    old: &JsonObject,
    new: &JsonObject,
    path: &mut String,
    operations: &mut Vec<Json>,
) {
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        at(path, name, |path| {
            operations.push(json!({"op": "remove", "path": path}));
        });
    }
    for (name, value) in new {
        at(path, name, |path| match old.get(name) {
            Some(before) => compare(before, value, path, operations),
            None => operations.push(json!({"op": "add", "path": path, "value": value})),
        });
    }
}

/// Compares two arrays. The common prefix and suffix stay. Between them, elements are compared pairwise, and surplus elements are added or
/// removed.
fn compare_arrays(old: &[Json], new: &[Json], path: &mut String, operations: &mut Vec<Json>) {
    let start = old
        .iter()
        .zip(new)
        .take_while(|(old, new)| old == new)
        .count();
    let (old_rest, new_rest) = (old.iter().skip(start), new.iter().skip(start));
    let ends = old_rest.rev().zip(new_rest.rev());
    let end = ends.take_while(|(old, new)| old == new).count();
    let middle = |list: &'_ [Json]| list.len().saturating_sub(start).saturating_sub(end);
    let (old_count, new_count) = (middle(old), middle(new));
    let shared = old_count.min(new_count);
    let indices = start..start.saturating_add(shared);
    for ((old, new), index) in old.iter().zip(new).skip(start).zip(indices) {
        at(path, &index.to_string(), |path| {
            compare(old, new, path, operations);
        });
    }
    let from = start.saturating_add(shared);
    for _ in shared..old_count {
        at(path, &from.to_string(), |path| {
            operations.push(json!({"op": "remove", "path": path}));
        });
    }
    let added = new.iter().enumerate().skip(from);
    for (index, value) in added.take(new_count.saturating_sub(shared)) {
        at(path, &index.to_string(), |path| {
            operations.push(json!({"op": "add", "path": path, "value": value}));
        });
    }
}

/// Calls `run` with the path extended by one key or index.
fn at(path: &mut String, step: &str, run: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push('/');
    path.push_str(&step.replace('~', "~0").replace('/', "~1"));
    run(path);
    path.truncate(length);
}
