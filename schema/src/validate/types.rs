//! Validates the types of JSON values (kube-openapi `pkg/validation/validate/type.go`).

use std::borrow::Cow;

use gavel_engine::value::Json;
use smol_str::SmolStr;

use super::fault::Cause;
use super::node::{NodeRules, Types};
use crate::equal::Numeric;

impl Types {
    pub(super) fn new(names: &[SmolStr], nullable: bool) -> Self {
        let has = |name: &str| names.iter().any(|known| known == name);
        Types {
            text: match names {
                [] => "".into(),
                [kind] => static_name(kind),
                names => names.join(",").into(),
            },
            integer: has("integer"),
            number: has("number"),
            string: has("string"),
            boolean: has("boolean"),
            array: has("array"),
            object: has("object"),
            null: has("null") || nullable,
        }
    }
}

/// The name of a type. Only names of unknown types are allocated.
fn static_name(kind: &str) -> Cow<'static, str> {
    const NAMES: [&str; 6] = ["object", "string", "array", "integer", "boolean", "number"];
    let known = NAMES.into_iter().find(|name| *name == kind);
    known.map_or_else(|| kind.to_owned().into(), Cow::Borrowed)
}

impl NodeRules {
    /// The error if the type of a value is wrong.
    pub(super) fn check_type<'f>(&'f self, value: &'f Json) -> Option<Cause<'f>> {
        let types = &self.types;
        let mismatch = |found| {
            let expected = &*types.text;
            Some(Cause::Type { expected, found })
        };
        // The type of the value, whether it is allowed, and the format that upstream assigns to the value.
        let (found, allowed, format) = match value {
            Json::Null if types.null || types.text.is_empty() => return None,
            Json::Null => return mismatch("null"),
            Json::Bool(_) => ("boolean", types.boolean, ""),
            Json::Number(number) => match Numeric::from(number) {
                Numeric::Int(_) => ("integer", types.integer || types.number, "int64"),
                Numeric::Double(double) => {
                    let allowed = types.number || (types.integer && self.wholes.contain(double));
                    ("number", allowed, "float64")
                }
            },
            Json::String(_) => ("string", types.string, ""),
            Json::Array(_) => ("array", types.array, ""),
            Json::Object(_) => ("object", types.object, ""),
        };
        match &self.format {
            _ if allowed => None,
            None if types.text.is_empty() => None,
            // If the schema has a format, strings and lists are accepted here, unless the schema's type is a number.
            Some(_) if matches!(found, "string" | "array") => {
                let numeric = types.integer || types.number;
                if numeric { mismatch(found) } else { None }
            }
            Some(expected) if *expected.name != *format => Some(Cause::Type {
                expected: &expected.name,
                found: format,
            }),
            _ => mismatch(found),
        }
    }
}
