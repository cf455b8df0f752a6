//! Errors that an API server finds before it compiles expressions: unknown versions, unknown fields, and fields of the wrong type.

use std::sync::OnceLock;

use gavel_apimachinery::server::{Server, unserved};
use gavel_golang::quote::quote;
use gavel_manifest::{Document, Problem, Suggestion};
use gavel_policy::api::OWN_GROUP;
use gavel_schema::JsonSchema;
use gavel_schema::built_in::decoding_error;
use gavel_schema::merge::{MergeType, unknown_fields};

use crate::context::Linter;
use crate::expressions::problem;
use crate::kinds::{group_of, text};
use crate::meant;
use crate::rules::{INVALID_OBJECT, UNKNOWN_FIELD};

/// Reports an object whose API version is not accepted by the Kubernetes version. Returns whether the version is accepted.
pub(crate) fn check_version(
    linter: &Linter,
    document: &Document,
    problems: &mut Vec<Problem>,
) -> bool {
    let (version, kind) = (text(document, "apiVersion"), text(document, "kind"));
    // The definitions of Gavel's own kinds serve one version, on every Kubernetes version.
    let is_own = group_of(document) == OWN_GROUP;
    let found = unserved(version, kind, linter.server.language());
    let Some(unserved) = found.filter(|_| !is_own) else {
        return true;
    };
    let found = no_matches(document);
    let found = match unserved.help {
        None => found,
        Some(help) => found.with_help(help),
    };
    let columns = u32::try_from(version.chars().count()).unwrap_or(0);
    let range = document.range_within("apiVersion", 1, 1, columns);
    problems.push(match (unserved.newest, range) {
        (Some(replacement), Some(range)) => {
            found.with_suggestion(Suggestion { range, replacement })
        }
        _ => found,
    });
    false
}

/// The problem of an object whose kind is of version `v1` of `group`, and whose `apiVersion` names another group or version.
pub(crate) fn no_such_kind(document: &Document, group: &str) -> Problem {
    let kind = text(document, "kind");
    no_matches(document).with_help(format!("{kind} is of {group}/v1"))
}

fn no_matches(document: &Document) -> Problem {
    let given = document.value().get("apiVersion");
    let is_text = given.is_none_or(|given| given.is_null() || given.is_string());
    let message = match (text(document, "apiVersion"), text(document, "kind")) {
        _ if !is_text => "must be a string".to_owned(),
        ("", _) => "must be set".to_owned(),
        (version, kind) => format!("no matches for kind {kind:?} in version {version:?}"),
    };
    problem(document, &INVALID_OBJECT, "apiVersion", message)
}

/// Reports fields that this API server does not know, and fields of the wrong type.
pub(crate) fn check_fields(document: &Document, server: Server, problems: &mut Vec<Problem>) {
    let (version, kind) = (text(document, "apiVersion"), text(document, "kind"));
    let ty = match kind {
        "AuthenticationConfiguration" | "AuthorizationConfiguration" => {
            configuration(kind).map(|schema| MergeType::custom_resource(schema, server))
        }
        _ => MergeType::built_in(version, kind, server),
    };
    let unknown = ty.map(|ty| unknown_fields(document.value(), ty));
    for field in unknown.unwrap_or_default() {
        let message = format!("unknown field {}", quote(&field));
        let found = problem(document, &UNKNOWN_FIELD, &field, message);
        problems.push(meant::unknown_field(found, version, kind, server));
    }
    if let Some(error) = decoding_error(document.value(), version, kind, server) {
        problems.push(undecodable(document, &error.field, error.message));
    }
}

/// The problem of a value that an API server cannot decode.
pub(crate) fn undecodable(document: &Document, field: &str, message: impl Into<String>) -> Problem {
    let found = problem(document, &INVALID_OBJECT, field, message);
    match help_with_type(&found.message) {
        Some(help) => found.with_help(help),
        None => found,
    }
}

/// Help for a message such as `json: cannot unmarshal string into Go struct field … of type []string`.
fn help_with_type(message: &str) -> Option<&'static str> {
    let (_, message) = message.split_once("cannot unmarshal ")?;
    let (found, message) = message.split_once(" into ")?;
    let (_, ty) = message.rsplit_once(" of type ")?;
    match found {
        _ if ty.starts_with("[]") => Some("the value must be a list"),
        "array" => Some("the value must not be a list"),
        "string" if ty == "bool" || ty.starts_with("int") => {
            Some("the value must not be in quotes")
        }
        "bool" | "number" if ty == "string" => Some("the value must be in quotes"),
        _ => None,
    }
}

/// The fields of a configuration of the API server (apiserver `pkg/apis/apiserver/v1/types.go`); `None` for other kinds.
fn configuration(kind: &str) -> Option<&'static JsonSchema> {
    static SCHEMAS: OnceLock<Vec<(&str, JsonSchema)>> = OnceLock::new();
    let schemas = SCHEMAS.get_or_init(|| {
        let texts = [
            (
                "AuthenticationConfiguration",
                include_str!("configuration/authentication.json"),
            ),
            (
                "AuthorizationConfiguration",
                include_str!("configuration/authorization.json"),
            ),
        ];
        let read = texts.map(|(kind, text)| Some((kind, serde_json::from_str(text).ok()?)));
        read.into_iter().flatten().collect()
    });
    let found = schemas.iter().find(|(known, _)| *known == kind);
    found.map(|(_, schema)| schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configurations_are_schemas() {
        for kind in ["AuthenticationConfiguration", "AuthorizationConfiguration"] {
            let schema = configuration(kind).unwrap();
            assert!(schema.properties.contains_key("apiVersion"), "{kind}");
        }
    }
}
