//! The patched document, and access to its parts (json-patch `findObject`, `partialDoc`, `partialArray`).

use gavel_engine::value::{Json, JsonObject};
use gavel_golang::integer::atoi;

/// A document that is being patched.
#[derive(Debug)]
pub(super) struct Document<'o> {
    root: Json,
    /// The paths at which operations of the patch have put a null. Go treats such a null as a nil map, unlike a null of the original
    /// document.
    nulls: Vec<&'o str>,
}

/// An object or array of a document.
#[derive(Debug)]
pub(super) enum Parent<'d> {
    Object(&'d mut JsonObject),
    Array(&'d mut Vec<Json>),
    /// A null that an operation of the patch has put there.
    Null,
}

/// The error for adding a key to a null that an operation has put there; kube-apiserver panics in this case.
const NIL_MAP: &str = "assignment to entry in nil map";

impl<'o> Document<'o> {
    pub(super) fn new(root: Json) -> Self {
        let nulls = Vec::new();
        Document { root, nulls }
    }

    pub(super) fn root(&self) -> &Json {
        &self.root
    }

    pub(super) fn into_json(self) -> Json {
        self.root
    }

    /// Records that an operation put a null at this path.
    pub(super) fn note_null(&mut self, path: &'o str) {
        self.nulls.push(path);
    }

    /// Whether an operation has put a null at this path.
    pub(super) fn has_null(&self, path: &str) -> bool {
        self.nulls.contains(&path)
    }

    /// The object or array that contains a pointer's target, and the last key; `None` if there is none, as for a pointer to the
    /// whole document.
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
    /// The value of a key; for objects, `None` if it is absent.
    pub(super) fn get(&self, key: &str) -> Result<Option<&Json>, String> {
        match self {
            Parent::Object(fields) => Ok(fields.get(key)),
            Parent::Array(items) => Ok(items.get(index_of(key, items.len())?)),
            Parent::Null => Ok(None),
        }
    }

    /// Replaces the value of a key.
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

    /// Adds a value: to an object, where it replaces an existing one, or before an element of an array.
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

/// The position of an index in an array with `length` elements.
fn index_of(key: &str, length: usize) -> Result<usize, String> {
    let index = atoi(key).map_err(|error| error.to_string())?;
    position(index, length)
}

/// The position of an index among `places` positions; a negative index counts from the end.
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

/// A step of a pointer without its escapes.
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
