//! Applies JSON patches as Kubernetes does (`gopkg.in/evanphx/json-patch.v4`). Kubernetes differs from RFC 6902 in these rules, among
//! others: array indices may be negative, `replace` adds a missing key to an object, `test` can treat null as equal to an empty object or
//! list, and the caller does not treat a failed `test` as an error.

mod document;
mod equality;

#[cfg(test)]
mod tests;

use gavel_apimachinery::json;
use gavel_engine::value::{Json, MAX_DEPTH};
use gavel_golang::quote::quote;
use gavel_golang::work::{Interrupted, Work};

use document::{Document, Parent};
use equality::is_equal;

/// The maximum size that the `copy` operations of a patch can add, in bytes. API servers have the same limit.
const MAX_COPIED_BYTES: usize = 3 * 1024 * 1024;

/// An operation of a JSON patch.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Operation<'v> {
    /// `op`: `add`, `remove`, `replace`, `move`, `test` or `copy`.
    pub(crate) op: &'v str,
    /// `path`: a JSON pointer.
    pub(crate) path: &'v str,
    /// `from`: a JSON pointer; empty if absent.
    pub(crate) from: &'v str,
    /// `value`
    pub(crate) value: Option<Json>,
}

/// Why a patch cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PatchFailure {
    /// A `test` operation failed; the object stays unchanged.
    Test,
    /// An operation cannot be applied; the message is upstream's.
    Error(String),
    /// The host interrupted the patch.
    Interrupted(Interrupted),
}

impl From<Interrupted> for PatchFailure {
    fn from(interrupted: Interrupted) -> Self {
        PatchFailure::Interrupted(interrupted)
    }
}

type Patched = Result<(), PatchFailure>;

/// Applies the operations to a document in order.
pub(crate) fn apply(
    document: Json,
    operations: Vec<Operation<'_>>,
    work: &Work<'_>,
) -> Result<Json, PatchFailure> {
    let mut patching = Patching {
        document: Document::new(document),
        copied: 0,
        work,
    };
    for operation in operations {
        patching.apply(operation)?;
    }
    Ok(patching.document.into_json())
}

struct Patching<'v, 'w> {
    document: Document<'v>,
    copied: usize,
    work: &'w Work<'w>,
}

impl<'v> Patching<'v, '_> {
    fn apply(&mut self, operation: Operation<'v>) -> Patched {
        if decoding_error(operation.op).is_some() {
            return failed("Unexpected kind: unknown".to_owned());
        }
        match operation.op {
            "add" => self.add(operation),
            "remove" => self.remove(&operation),
            "replace" => self.replace(operation),
            "move" => self.relocate(&operation),
            "test" => self.test(&operation),
            "copy" => self.copy(&operation),
            other => failed(format!("Unexpected kind: {other}")),
        }
    }

    /// The object or array that contains the target of `pointer`, with the key of the target. If that object or array does not exist, the
    /// error begins with `missing`. Counts the work of reading the pointer and, for an array, of moving all elements: adding or removing an
    /// element moves those behind it.
    fn parent_of(
        &mut self,
        pointer: &str,
        missing: impl FnOnce() -> String,
    ) -> Result<(Parent<'_>, String), PatchFailure> {
        self.work.spend(pointer.len())?;
        let found = self.document.parent_of(pointer);
        if let Some((Parent::Array(items), _)) = &found {
            self.work.spend(items.len())?;
        }
        found.ok_or_else(|| PatchFailure::Error(format!("{}: missing value", missing())))
    }

    /// Checks that the document stays within the nesting limit if `value` is written at `path`. A copy of a document within itself doubles
    /// its depth. API servers have a limit of 10,000.
    fn check_depth(&self, path: &str, value: &Json) -> Patched {
        let above = path.bytes().filter(|byte| *byte == b'/').count();
        match json::is_within(value, MAX_DEPTH.saturating_sub(above), self.work)? {
            true => Ok(()),
            false => failed(format!("values may be nested at most {MAX_DEPTH} deep")),
        }
    }

    fn add(&mut self, operation: Operation<'v>) -> Patched {
        let path = operation.path;
        if decoding_error(path).is_some() {
            return failed("add operation failed to decode path: missing value".to_owned());
        }
        self.check_depth(path, operation.value.as_ref().unwrap_or(&Json::Null))?;
        let (mut parent, key) = self.parent_of(path, || {
            format!("add operation does not apply: doc is missing path: \"{path}\"")
        })?;
        let is_null = operation.value == Some(Json::Null);
        let added = parent.add(&key, operation.value.unwrap_or_default());
        added.map_err(|error| in_operation("add", path, &error))?;
        if is_null {
            self.document.note_null(path);
        }
        Ok(())
    }

    fn remove(&mut self, operation: &Operation<'_>) -> Patched {
        let path = operation.path;
        if decoding_error(path).is_some() {
            return failed("remove operation failed to decode path: missing value".to_owned());
        }
        let (mut parent, key) = self.parent_of(path, || {
            format!("remove operation does not apply: doc is missing path: \"{path}\"")
        })?;
        let removed = parent.remove(&key).map(drop);
        removed.map_err(|error| in_operation("remove", path, &error))
    }

    fn replace(&mut self, operation: Operation<'v>) -> Patched {
        let path = operation.path;
        if let Some(error) = decoding_error(path) {
            return failed(format!("replace operation failed to decode path: {error}"));
        }
        self.check_depth(path, operation.value.as_ref().unwrap_or(&Json::Null))?;
        if path.is_empty() {
            return match operation.value {
                Some(value @ (Json::Object(_) | Json::Array(_) | Json::Null)) => {
                    self.document = Document::new(value);
                    Ok(())
                }
                _ => {
                    failed("replace operation value must be object or array: %!w(<nil>)".to_owned())
                }
            };
        }
        let (mut parent, key) = self.parent_of(path, || {
            format!("replace operation does not apply: doc is missing path: {path}")
        })?;
        let is_null = operation.value == Some(Json::Null);
        let value = operation.value.unwrap_or_default();
        if parent.get(&key).is_err() || parent.set(&key, value).is_err() {
            return failed(format!(
                "replace operation does not apply: doc is missing key: {path}: missing value"
            ));
        }
        if is_null {
            self.document.note_null(path);
        }
        Ok(())
    }

    fn relocate(&mut self, operation: &Operation<'_>) -> Patched {
        let (from, path) = (source_of(operation)?, operation.path);
        let (mut parent, key) = self.parent_of(from, || {
            format!("move operation does not apply: doc is missing from path: {from}")
        })?;
        let value = parent.remove(&key);
        let value = value.map_err(|error| in_operation("move", &key, &error))?;
        self.check_depth(path, &value)?;
        let mut parent = self.destination(operation)?;
        let added = parent.0.add(&parent.1, value);
        added.map_err(|error| in_operation("move", path, &error))
    }

    fn copy(&mut self, operation: &Operation<'_>) -> Patched {
        let from = source_of(operation)?;
        let (parent, key) = self.parent_of(from, || {
            format!("copy operation does not apply: doc is missing from path: {from}")
        })?;
        let value = match parent.get(&key) {
            Ok(value) => value.cloned().unwrap_or_default(),
            Err(error) => return failed(format!("error in copy for from: '{from}': {error}")),
        };
        if decoding_error(operation.path).is_some() {
            return failed("copy operation failed to decode path: missing value".to_owned());
        }
        self.check_depth(operation.path, &value)?;
        self.copied = self.copied.saturating_add(json::to_string(&value).len());
        let copied = self.copied;
        let (mut parent, key) = self.destination(operation)?;
        if copied > MAX_COPIED_BYTES {
            return failed(format!(
                "Unable to complete the copy, the accumulated size increase of copy is {copied}, exceeding the limit {MAX_COPIED_BYTES}"
            ));
        }
        let added = parent.add(&key, value);
        added.map_err(|error| {
            PatchFailure::Error(format!("error while adding value during copy: {error}"))
        })
    }

    fn test(&mut self, operation: &Operation<'_>) -> Patched {
        let path = operation.path;
        if let Some(error) = decoding_error(path) {
            return failed(format!("test operation failed to decode path: {error}"));
        }
        let value = operation.value.as_ref();
        if path.is_empty() {
            let holds = value.is_some_and(|value| is_equal(self.document.root(), value));
            return if holds {
                Ok(())
            } else {
                Err(PatchFailure::Test)
            };
        }
        let is_put = self.document.has_null(path);
        let (parent, key) = self.parent_of(path, || {
            format!("test operation does not apply: is missing path: {path}")
        })?;
        let found = parent.get(&key);
        let found = found.map_err(|error| in_operation("test", path, &error))?;
        let found = found.filter(|found| !found.is_null() || is_put);
        let holds = match (found, value) {
            (None, None) => true,
            (Some(found), Some(value)) => is_equal(found, value),
            _ => false,
        };
        if holds {
            Ok(())
        } else {
            Err(PatchFailure::Test)
        }
    }

    /// The object or array that a `move` or `copy` writes to, and the key of the target.
    fn destination(
        &mut self,
        operation: &Operation<'_>,
    ) -> Result<(Parent<'_>, String), PatchFailure> {
        let Operation { op, path, .. } = operation;
        if let Some(error) = decoding_error(path) {
            let message = format!("{op} operation failed to decode path: {error}");
            return Err(PatchFailure::Error(message));
        }
        self.parent_of(path, || {
            format!("{op} operation does not apply: doc is missing destination path: {path}")
        })
    }
}

/// The `from` pointer of a `move` or `copy`, which must not be empty.
fn source_of<'v>(operation: &Operation<'v>) -> Result<&'v str, PatchFailure> {
    let Operation { op, from, .. } = operation;
    let error = match *from {
        "" => Some("operation, missing from field: missing value".to_owned()),
        from => decoding_error(from),
    };
    match error {
        None => Ok(from),
        Some(error) => Err(PatchFailure::Error(format!(
            "{op} operation failed to decode from: {error}"
        ))),
    }
}

fn in_operation(op: &str, path: &str, error: &str) -> PatchFailure {
    PatchFailure::Error(format!("error in {op} for path: '{path}': {error}"))
}

fn failed(message: String) -> Patched {
    Err(PatchFailure::Error(message))
}

/// The error with which Go fails to decode `text`; `None` if Go can decode it. Kubernetes writes each text as a Go string literal and then
/// reads the literal as JSON, which lacks some escapes of Go.
fn decoding_error(text: &str) -> Option<String> {
    if text.bytes().all(|byte| (b' '..0x7f).contains(&byte)) {
        return None;
    }
    let quoted = quote(text);
    let mut bytes = quoted.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'\\'
            && let Some(escape @ (b'a' | b'v' | b'x' | b'U')) = bytes.next()
        {
            return Some(format!(
                "invalid character '{}' in string escape code",
                char::from(escape)
            ));
        }
    }
    None
}
