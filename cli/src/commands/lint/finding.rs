//! What was found, and how it is told.

use std::io::{self, Write};

use gavel_apimachinery::json;
use gavel_engine::value::Json;
use gavel_manifest::{Document, Place, Problem, Severity};
use gavel_policy::GroupVersionKind;
use serde_json::json;

use crate::args::Output;
use crate::report;

/// What finds problems: an API server would refuse the object.
pub(super) const REGISTRATION: &str = "registration";
/// Types against schemas.
pub(super) const TYPES: &str = "types";
/// Costs against budgets.
pub(super) const COST: &str = "cost";
/// Nothing was found, because nothing could be looked at.
pub(super) const UNCHECKED: &str = "unchecked";

/// The object that is looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Object<'d> {
    pub(super) document: &'d Document,
    pub(super) kind: &'d str,
    pub(super) name: &'d str,
}

/// Prints one line; what could not be looked at goes to standard error, where people read.
pub(super) fn print(
    problem: &Problem,
    object: &Object<'_>,
    output: Output,
    out: &mut impl Write,
) -> io::Result<()> {
    if output == Output::Json {
        let check = match problem.rule {
            check @ (TYPES | COST | UNCHECKED) => check,
            _ => REGISTRATION,
        };
        let place = problem.range.map_or(Place::START, |range| range.start);
        let line = object.line(place, check, &problem.field, &problem.kinds);
        let line = with(line, "message", problem.message.as_str());
        return writeln!(out, "{}", json::to_string(&line));
    }
    match problem.severity {
        Severity::Warning => {
            report::warning(problem);
            Ok(())
        }
        Severity::Error => writeln!(out, "{}", report::visible(&problem.to_string())),
    }
}

impl Object<'_> {
    /// What all lines of JSON have.
    pub(super) fn line(&self, place: Place, check: &str, field: &str, kinds: &[String]) -> Json {
        json!({
            "file": self.document.file().map(|file| file.display().to_string()),
            "line": place.line,
            "column": place.column,
            "kind": self.kind,
            "name": self.name,
            "check": check,
            "field": field,
            "kinds": kinds,
        })
    }
}

/// An object of JSON with one more field.
pub(super) fn with(mut object: Json, key: &str, value: impl Into<Json>) -> Json {
    if let Json::Object(fields) = &mut object {
        fields.insert(key.to_owned(), value.into());
    }
    object
}

/// `apps/v1 Deployment`
pub(super) fn kind_name(kind: &GroupVersionKind) -> String {
    format!("{} {}", kind.api_version(), kind.kind)
}
