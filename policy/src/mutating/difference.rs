//! The difference between two documents as an RFC 6902 patch.

use std::fmt::Write as _;

use gavel_engine::value::{Json, JsonObject};
use serde_json::json;

/// The approximate length of an operation without its path and value, in bytes.
const OPERATION: usize = 32;

/// The approximate length of a value without its elements and without its text, with the punctuation around it, in bytes.
const VALUE: usize = 4;

/// The approximate length of an index in a path, with its slash, in bytes.
const INDEX: usize = 6;

/// How much longer than the operation that replaces a whole object or array the operations within it may be, in bytes.
const MARGIN: usize = 64 * 1024;

/// The JSON patch operations that change `old` to `new`. Objects and arrays are compared item by item, so that only the values that differ
/// are added, removed or replaced. Equal documents have no operations. If the operations within an object or array would be more than 64
/// KiB longer than its new value, one operation replaces the object or array, so that a patch is not much longer than the new document.
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
    if let Some(change) = compare(old, new, 0).change {
        change.write(&mut String::new(), &mut operations);
    }
    operations
}

/// A value that differs. The paths are only written after the whole comparison.
enum Change<'a> {
    Add(&'a Json),
    Remove,
    Replace(&'a Json),
    Within(Vec<(Step<'a>, Change<'a>)>),
}

/// A key of an object or an index into an array.
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The result of a comparison, with approximate lengths in bytes.
struct Compared<'a> {
    /// `None` if the values are equal.
    change: Option<Change<'a>>,
    /// The length of the operations.
    patch: usize,
    /// The length of the new value.
    value: usize,
}

/// The changes within an object or array, with the lengths of their operations and of the new elements with their keys.
#[derive(Default)]
struct Parts<'a> {
    changes: Vec<(Step<'a>, Change<'a>)>,
    patch: usize,
    value: usize,
}

/// Compares two values at a path of `path` bytes. Each value is visited a bounded number of times, however deeply it is nested.
// Recursion is at most 400 levels deep, the nesting limit of patched documents.
fn compare<'a>(old: &'a Json, new: &'a Json, path: usize) -> Compared<'a> {
    let parts = match (old, new) {
        (Json::Object(old), Json::Object(new)) => compare_objects(old, new, path),
        (Json::Array(old), Json::Array(new)) => compare_arrays(old, new, path),
        _ if old == new => return Compared::equal(length(new)),
        _ => return Compared::of(Change::Replace(new), path, length(new)),
    };
    let value = parts.value.saturating_add(VALUE);
    let whole = Compared::of(Change::Replace(new), path, value);
    match parts.patch > whole.patch.saturating_add(MARGIN) {
        true => whole,
        false => Compared {
            change: (!parts.changes.is_empty()).then_some(Change::Within(parts.changes)),
            patch: parts.patch,
            value,
        },
    }
}

fn compare_objects<'a>(old: &'a JsonObject, new: &'a JsonObject, path: usize) -> Parts<'a> {
    let mut parts = Parts::default();
    let below = |name: &str| path.saturating_add(name.len()).saturating_add(1);
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        let removed = Compared::of(Change::Remove, below(name), 0);
        parts.push(Step::Key(name), removed);
    }
    for (name, value) in new {
        let compared = match old.get(name) {
            Some(before) => compare(before, value, below(name)),
            None => Compared::of(Change::Add(value), below(name), length(value)),
        };
        parts.value = parts.value.saturating_add(name.len());
        parts.push(Step::Key(name), compared);
    }
    parts
}

/// Compares two arrays. The common prefix and suffix stay. Between them, elements are compared pairwise, and surplus elements are added or
/// removed.
fn compare_arrays<'a>(old: &'a [Json], new: &'a [Json], path: usize) -> Parts<'a> {
    let mut parts = Parts::default();
    let below = path.saturating_add(INDEX);
    let mut shared = old.len().min(new.len());
    for (index, (before, value)) in old.iter().zip(new).enumerate() {
        if index >= shared {
            break;
        }
        let compared = compare(before, value, below);
        // In arrays of the same length, the elements of the common suffix are equal in pairs.
        let is_first = parts.changes.is_empty() && compared.change.is_some();
        if is_first && old.len() != new.len() {
            let rest = |list: &'a [Json]| list.get(index..).unwrap_or_default().iter().rev();
            let suffix = rest(old).zip(rest(new)).take_while(|(old, new)| old == new);
            shared = shared.saturating_sub(suffix.count());
        }
        if index < shared {
            parts.push(Step::Index(index), compared);
        }
    }
    for _ in new.len()..old.len() {
        let removed = Compared::of(Change::Remove, below, 0);
        parts.push(Step::Index(shared), removed);
    }
    let surplus = new.len().saturating_sub(old.len());
    for (index, value) in new.iter().enumerate().skip(shared) {
        let length = length(value);
        let compared = match index < shared.saturating_add(surplus) {
            true => Compared::of(Change::Add(value), below, length),
            false => Compared::equal(length),
        };
        parts.push(Step::Index(index), compared);
    }
    parts
}

impl<'a> Compared<'a> {
    fn equal(value: usize) -> Self {
        Compared {
            change: None,
            patch: 0,
            value,
        }
    }

    /// A change that is one operation, at a path of `path` bytes with a new value of `value` bytes.
    fn of(change: Change<'a>, path: usize, value: usize) -> Self {
        Compared {
            change: Some(change),
            patch: OPERATION.saturating_add(path).saturating_add(value),
            value,
        }
    }
}

impl<'a> Parts<'a> {
    fn push(&mut self, step: Step<'a>, part: Compared<'a>) {
        self.patch = self.patch.saturating_add(part.patch);
        self.value = self.value.saturating_add(part.value);
        self.changes
            .extend(part.change.map(|change| (step, change)));
    }
}

impl Change<'_> {
    /// Adds the operations of the change, which is at `path`.
    fn write(self, path: &mut String, operations: &mut Vec<Json>) {
        operations.push(match self {
            Change::Add(value) => json!({"op": "add", "path": path, "value": value}),
            Change::Remove => json!({"op": "remove", "path": path}),
            Change::Replace(value) => json!({"op": "replace", "path": path, "value": value}),
            Change::Within(changes) => {
                let length = path.len();
                for (step, change) in changes {
                    step.write(path);
                    change.write(path, operations);
                    path.truncate(length);
                }
                return;
            }
        });
    }
}

impl Step<'_> {
    /// Extends a path by the key or index.
    fn write(&self, path: &mut String) {
        // Writing to a String does not fail.
        let _ = match self {
            Step::Key(name) => write!(path, "/{}", name.replace('~', "~0").replace('/', "~1")),
            Step::Index(index) => write!(path, "/{index}"),
        };
    }
}

/// The approximate length of a value as JSON text, in bytes.
fn length(value: &Json) -> usize {
    let inner = match value {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(length).fold(0, usize::saturating_add),
        Json::Object(fields) => {
            let lengths = fields
                .iter()
                .map(|(name, value)| length(value).saturating_add(name.len()));
            lengths.fold(0, usize::saturating_add)
        }
        _ => 0,
    };
    inner.saturating_add(VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of the patch as JSON text.
    fn patch(old: &Json, new: &Json) -> (Vec<Json>, usize) {
        let operations = difference(old, new);
        let length = json!(operations).to_string().len();
        (operations, length)
    }

    #[test]
    fn a_patch_is_not_much_longer_than_the_new_document() {
        let key = "k".repeat(2000);
        let numbers = |from: usize| -> Json { (from..from + 2000).collect() };
        let objects = |value: u8| -> Json { vec![json!({"a": {"b": [value]}}); 500].into() };
        let under = |value: Json| json!({"same": 1, &key: {"inner": value}});
        for (old, new, path) in [
            (numbers(1), numbers(9), ""),
            (under(numbers(1)), under(numbers(9)), "/inner"),
            (under(objects(1)), under(objects(9)), "/inner"),
            (under(numbers(1)), under(json!([0])), "/inner"),
        ] {
            let path = match path {
                "" => String::new(),
                path => format!("/{key}{path}"),
            };
            let (operations, length) = patch(&old, &new);
            let value = new.pointer(&path).unwrap();
            let whole = json!({"op": "replace", "path": path, "value": value});
            assert_eq!(operations, [whole], "{path}");
            assert!(length < new.to_string().len() + 3000, "{length}");
        }
    }

    #[test]
    fn parts_with_short_patches_add_up_to_a_short_patch() {
        // The operations within each list stay below the margin, but not the operations within all lists.
        let list = |value: u8| vec![json!(value); 1000];
        let lists = |value: u8| json!({"a": vec![list(value); 100]});
        let (old, new) = (lists(1), lists(2));
        let (operations, _) = patch(&old, &new);
        assert_eq!(
            operations,
            [json!({"op": "replace", "path": "/a", "value": new["a"]})]
        );
    }

    #[test]
    fn each_value_that_differs_is_an_operation_of_a_short_patch() {
        let list = |value: u8| json!({"a": vec![value; 1000]});
        let (operations, _) = patch(&list(1), &list(2));
        assert_eq!(operations.len(), 1000);
        let one = json!({"op": "replace", "path": "/a/999", "value": 2});
        assert_eq!(operations.last(), Some(&one));
    }
}
