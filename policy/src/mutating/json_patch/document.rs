//! The document that a patch changes, and access to its values (json-patch `findObject`, `partialDoc`, `partialArray`).

use std::collections::HashSet;

use gavel_engine::value::{Json, JsonObject};
use gavel_golang::integer::atoi;

/// A document that is being patched.
#[derive(Debug)]
pub(super) struct Document<'v> {
    root: Json,
    /// The paths at which operations of this patch have written null. Go treats such a null as a nil map, unlike a null of the original
    /// document.
    nulls: HashSet<&'v str>,
}

/// The object or array that contains the target of an operation.
#[derive(Debug)]
pub(super) enum Parent<'d> {
    Object(&'d mut JsonObject),
    Array(&'d mut Vec<Json>),
    /// A null that an earlier operation of the patch has written.
    Null,
}

/// The error of an operation that adds a key to a value that an earlier operation set to null; kube-apiserver panics in this case.
const NIL_MAP: &str = "assignment to entry in nil map";

impl<'v> Document<'v> {
    pub(super) fn new(root: Json) -> Self {
        let nulls = HashSet::new();
        Document { root, nulls }
    }

    pub(super) fn root(&self) -> &Json {
        &self.root
    }

    pub(super) fn into_json(self) -> Json {
        self.root
    }

    /// Records that an operation has written null at this path.
    pub(super) fn note_null(&mut self, path: &'v str) {
        self.nulls.insert(path);
    }

    /// Whether an operation of the patch has written null at this path.
    pub(super) fn has_null(&self, path: &str) -> bool {
        self.nulls.contains(path)
    }

    /// The object or array that contains the target of `pointer`, with the key of the target; `None` if that object or array does not
    /// exist. A pointer to the whole document has no parent.
    pub(super) fn parent_of(&mut self, pointer: &str) -> Option<(Parent<'_>, String)> {
        let (path, key) = pointer.rsplit_once('/')?;
        let is_null = self.has_null(path);
        let mut current = &mut self.root;
        for step in path.split('/').skip(1) {
            let step = unescaped(step);
            current = match current {
                Json::Object(fields) => fields.get_mut(&step)?,
                Json::Array(items) => {
                    let index = index_of(&step, items.len()).ok()?;
                    items.get_mut(index)?
                }
                _ => return None,
            };
        }
        let parent = match current {
            Json::Object(fields) => Parent::Object(fields),
            Json::Array(items) => Parent::Array(items),
            Json::Null if is_null => Parent::Null,
            _ => return None,
        };
        Some((parent, unescaped(key)))
    }
}

impl Parent<'_> {
    /// The value of a key. If the key of an object is absent, the value is `None`; an invalid array index is an error.
    pub(super) fn get(&self, key: &str) -> Result<Option<&Json>, String> {
        match self {
            Parent::Object(fields) => Ok(fields.get(key)),
            Parent::Array(items) => Ok(items.get(index_of(key, items.len())?)),
            Parent::Null => Ok(None),
        }
    }

    /// Sets the value of an object key, or replaces an array element.
    pub(super) fn set(&mut self, key: &str, value: Json) -> Result<(), String> {
        match self {
            Parent::Object(fields) => {
                fields.insert(key.to_owned(), value);
            }
            Parent::Array(items) => {
                let index = index_of(key, items.len())?;
                if let Some(item) = items.get_mut(index) {
                    *item = value;
                }
            }
            Parent::Null => return Err(NIL_MAP.to_owned()),
        }
        Ok(())
    }

    /// Sets the value of an object key, or inserts the value before an array element.
    pub(super) fn add(&mut self, key: &str, value: Json) -> Result<(), String> {
        match self {
            Parent::Object(fields) => {
                fields.insert(key.to_owned(), value);
            }
            Parent::Array(items) if key == "-" => items.push(value),
            Parent::Array(items) => {
                let index = atoi(key).map_err(|error| {
                    format!("value was not a proper array index: '{key}': {error}")
                })?;
                let places = items.len().saturating_add(1);
                items.insert(position(index, places)?, value);
            }
            Parent::Null => return Err(NIL_MAP.to_owned()),
        }
        Ok(())
    }

    /// Removes and returns the value of a key.
    pub(super) fn remove(&mut self, key: &str) -> Result<Json, String> {
        let removed = match self {
            Parent::Object(fields) => fields.remove(key),
            Parent::Array(items) => Some(items.remove(index_of(key, items.len())?)),
            Parent::Null => None,
        };
        removed.ok_or_else(|| format!("Unable to remove nonexistent key: {key}: missing value"))
    }
}

/// Parses an index into an array with `length` elements. A negative index counts from the end.
fn index_of(key: &str, length: usize) -> Result<usize, String> {
    let index = atoi(key).map_err(|error| error.to_string())?;
    position(index, length)
}

/// Converts an index to a position, which must be below `places`. A negative index counts from the end.
fn position(index: i64, places: usize) -> Result<usize, String> {
    let count = i64::try_from(places).unwrap_or(i64::MAX);
    let from_start = match index < 0 {
        true => index.checked_add(count),
        false => Some(index),
    };
    let position = from_start.and_then(|index| usize::try_from(index).ok());
    position
        .filter(|position| *position < places)
        .ok_or_else(|| format!("Unable to access invalid index: {index}: invalid index referenced"))
}

/// Decodes `~0` and `~1` in a key of a JSON pointer.
fn unescaped(step: &str) -> String {
    if !step.contains('~') {
        return step.to_owned();
    }
    let mut parts = step.split('~');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (escaped, rest) = match (part.strip_prefix('0'), part.strip_prefix('1')) {
            (Some(rest), _) => ('~', rest),
            (_, Some(rest)) => ('/', rest),
            _ => ('~', part),
        };
        out.push(escaped);
        out.push_str(rest);
    }
    out
}
