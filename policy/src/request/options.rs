//! The options of an operation, as Go holds them (apimachinery `CreateOptions`, `UpdateOptions`, `PatchOptions`,
//! `DeleteOptions`).

use gavel_engine::value::Json;
use serde_json::Map;

use super::{RequestError, unfit};

/// The options of an operation with the fields that their type has. What is empty in Go is left out.
pub(super) fn as_go_writes(options: Json, operation: &str) -> Result<Json, RequestError> {
    let kind = match operation {
        "CREATE" => "CreateOptions",
        "UPDATE" => "UpdateOptions",
        "DELETE" => "DeleteOptions",
        _ => {
            return match options {
                Json::Null | Json::Object(_) => Ok(options),
                _ => Err(unfit("request.options", "an object")),
            };
        }
    };
    let mut fields = match options {
        Json::Null => Map::new(),
        Json::Object(fields) => fields,
        _ => return Err(unfit("request.options", "an object")),
    };
    // What an apply or a patch is sent with; an API server never passes it on.
    let kind = match fields.get("kind").and_then(Json::as_str) {
        Some("PatchOptions") => "PatchOptions",
        _ => kind,
    };
    fields.insert("kind".to_owned(), kind.into());
    fields.insert("apiVersion".to_owned(), "meta.k8s.io/v1".into());
    keep(&mut fields, kind)?;
    if let Some(preconditions) = fields
        .get_mut("preconditions")
        .and_then(Json::as_object_mut)
    {
        keep(preconditions, "Preconditions")?;
    }
    Ok(Json::Object(fields))
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// A text, which is left out where it is empty.
    Text,
    /// A text, which may be empty.
    TextPointer,
    Flag,
    Whole,
    /// Texts, left out where there are none.
    Texts,
    Object,
}

/// The fields of the types of options.
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

/// Keeps the fields that a type has; an error where one holds something else.
fn keep(fields: &mut Map<String, Json>, kind: &str) -> Result<(), RequestError> {
    let mut misfit = None;
    fields.retain(|field, value| {
        let Some(holds) = holds(kind, field).filter(|_| !value.is_null()) else {
            return false;
        };
        let (fits, is_empty) = match (holds, &*value) {
            (Holds::Text, Json::String(text)) => (true, text.is_empty()),
            (Holds::TextPointer, Json::String(_)) => (true, false),
            (Holds::Flag, Json::Bool(_)) | (Holds::Object, Json::Object(_)) => (true, false),
            (Holds::Whole, Json::Number(number)) => (number.is_i64(), false),
            (Holds::Texts, Json::Array(items)) => {
                (items.iter().all(Json::is_string), items.is_empty())
            }
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
