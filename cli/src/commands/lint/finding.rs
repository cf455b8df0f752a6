//! What was found, and how it is told.

use std::io::{self, Write};
use std::path::Path;

use gavel_apimachinery::json;
use gavel_engine::value::Json;
use gavel_manifest::{Document, Place};
use gavel_policy::GroupVersionKind;
use serde_json::json;

use crate::args::Output;
use crate::report;

/// What found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// An API server would refuse the object.
    Registration,
    /// Types against schemas.
    Types,
    /// Costs against budgets.
    Cost,
    /// Nothing was found, because nothing could be looked at.
    Unchecked,
}

/// One thing that was found.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub(super) check: Check,
    pub(super) place: Place,
    /// The path of the field; empty where it is the object as a whole.
    pub(super) field: String,
    pub(super) message: String,
    /// The kinds of objects for which it is so; none where it does not depend on them.
    pub(super) kinds: Vec<GroupVersionKind>,
}

/// The object that is looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Object<'d> {
    pub(super) path: &'d Path,
    pub(super) document: &'d Document,
    pub(super) kind: &'d str,
    pub(super) name: &'d str,
}

impl Check {
    fn name(self) -> &'static str {
        match self {
            Check::Registration => "registration",
            Check::Types => "types",
            Check::Cost => "cost",
            Check::Unchecked => "unchecked",
        }
    }
}

impl Finding {
    /// Something at a place, of which nothing is said yet.
    pub(super) fn at(check: Check, place: Place) -> Self {
        Finding {
            check,
            place,
            field: String::new(),
            message: String::new(),
            kinds: Vec::new(),
        }
    }

    /// Prints one line; what could not be looked at goes to standard error, where people read.
    pub(super) fn print(
        &self,
        object: &Object<'_>,
        output: Output,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if output == Output::Json {
            let line = object.line(self.place, self.check.name(), &self.field, &self.kinds);
            return writeln!(
                out,
                "{}",
                json::to_string(&with(line, "message", self.message.as_str()))
            );
        }
        let place = format!("{}:{}", object.path.display(), self.place);
        let field = match self.field.as_str() {
            "" => String::new(),
            field => format!("{field}: "),
        };
        let message = self.message.trim_end().replace('\n', "\n    ");
        let kinds = match self.kinds.as_slice() {
            [] => String::new(),
            kinds => {
                let kinds: Vec<_> = kinds.iter().map(kind_name).collect();
                format!(" ({})", kinds.join(", "))
            }
        };
        let line = format!("{place}: {field}{message}{kinds}");
        match self.check {
            Check::Unchecked => {
                report::warning(&line);
                Ok(())
            }
            _ => writeln!(out, "{}", report::visible(&line)),
        }
    }
}

impl Object<'_> {
    /// Something about a field.
    pub(super) fn finding(&self, check: Check, field: &str, message: String) -> Finding {
        Finding {
            field: field.to_owned(),
            message,
            ..Finding::at(check, self.document.place_of(field))
        }
    }

    /// What all lines of JSON have.
    pub(super) fn line(
        &self,
        place: Place,
        check: &str,
        field: &str,
        kinds: &[GroupVersionKind],
    ) -> Json {
        json!({
            "file": self.path.display().to_string(),
            "line": place.line,
            "column": place.column,
            "kind": self.kind,
            "name": self.name,
            "check": check,
            "field": field,
            "kinds": kinds.iter().map(kind_name).collect::<Vec<_>>(),
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
