//! Decodes the options of an operation as Go does (apimachinery `CreateOptions`, `UpdateOptions`, `PatchOptions`, `DeleteOptions`).

use gavel_engine::value::{Arena, Value, ValueKind};

use super::{RequestError, object, unfit};
use crate::fields::{Fields, fields_of, text_field};

/// The options of an operation as Go writes them: only the fields that the Go type has, without empty fields.
pub(super) fn as_go_writes<'a>(
    options: Value<'a>,
    operation: &str,
    arena: &'a Arena,
) -> Result<Value<'a>, RequestError> {
    let options = object(options, "request.options")?;
    let kind = match operation {
        "CREATE" => "CreateOptions",
        "UPDATE" => "UpdateOptions",
        "DELETE" => "DeleteOptions",
        _ => return Ok(options),
    };
    // Patches and apply requests have PatchOptions, which an API server never passes to webhooks.
    let kind = match text_field(options, "kind") {
        "PatchOptions" => "PatchOptions",
        _ => kind,
    };
    if is_bare(options, kind) {
        return Ok(options);
    }
    let mut fields = fields_of(options);
    fields.insert("kind", Value::from(kind));
    fields.insert("apiVersion", Value::from("meta.k8s.io/v1"));
    keep(&mut fields, kind)?;
    if let Some(preconditions) = fields.get_mut("preconditions") {
        let mut fields = fields_of(*preconditions);
        keep(&mut fields, "Preconditions")?;
        *preconditions = arena.object(fields);
    }
    Ok(arena.object(fields))
}

/// Whether the options contain only `kind` and `apiVersion`, with the values that Go writes.
fn is_bare(options: Value<'_>, kind: &str) -> bool {
    options.as_map().is_some_and(|map| map.len() == 2)
        && text_field(options, "kind") == kind
        && text_field(options, "apiVersion") == "meta.k8s.io/v1"
}

/// The type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// A string, omitted if empty.
    Text,
    /// A pointer to a string, omitted if nil.
    TextPointer,
    Flag,
    Whole,
    /// A list of strings, omitted if empty.
    Texts,
    Object,
}

/// The Go type of a field of these options; `None` if they have no such field.
fn holds(kind: &str, field: &str) -> Option<Holds> {
    Some(match (kind, field) {
        ("Preconditions", "uid" | "resourceVersion") => Holds::TextPointer,
        ("Preconditions", _) => return None,
        (_, "kind" | "apiVersion") => Holds::Text,
        (_, "dryRun") => Holds::Texts,
        ("DeleteOptions", "gracePeriodSeconds") => Holds::Whole,
        ("DeleteOptions", "preconditions") => Holds::Object,
        (
            "DeleteOptions",
            "orphanDependents" | "ignoreStoreReadErrorWithClusterBreakingPotential",
        ) => Holds::Flag,
        ("DeleteOptions", "propagationPolicy") => Holds::TextPointer,
        ("DeleteOptions", _) => return None,
        ("PatchOptions", "force") => Holds::Flag,
        (_, "fieldManager" | "fieldValidation") => Holds::Text,
        _ => return None,
    })
}

/// Removes all fields that options of this kind do not have. Fails if a remaining field has the wrong type.
fn keep(fields: &mut Fields<'_>, kind: &str) -> Result<(), RequestError> {
    let mut misfit = None;
    fields.retain(|field, value| {
        let Some(holds) = holds(kind, field).filter(|_| !value.is_null()) else {
            return false;
        };
        let (fits, is_empty) = match (holds, value.kind()) {
            (Holds::Text, ValueKind::String(text)) => (true, text.is_empty()),
            (Holds::TextPointer, ValueKind::String(_))
            | (Holds::Flag, ValueKind::Bool(_))
            | (Holds::Whole, ValueKind::Int(_)) => (true, false),
            (Holds::Object, _) => (value.as_map().is_some(), false),
            (Holds::Texts, _) => match value.as_list() {
                Some(list) => (
                    list.iter().all(|item| item.as_str().is_some()),
                    list.is_empty(),
                ),
                None => (false, false),
            },
            _ => (false, false),
        };
        if !fits {
            misfit.get_or_insert_with(|| format!("request.options.{field}"));
        }
        !is_empty
    });
    match misfit {
        Some(field) => Err(unfit(&field, "of the type that the options have")),
        None => Ok(()),
    }
}
