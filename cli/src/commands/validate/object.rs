//! One object, held against its definition.

use std::fmt;

use gavel_apimachinery::field::Error;
use gavel_crd::definition::written_field;
use gavel_crd::resource::DecodeOptions;
use gavel_engine::value::Json;
use gavel_manifest::{Document, Place, Problem};

use super::definitions::KnownDefinition;
use crate::args::ValidateArgs;

/// What an API server puts behind a `generateName`; here it is always the same.
const GENERATED: &str = "22222";

/// What names an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'d> {
    pub(super) api_version: &'d str,
    pub(super) kind: &'d str,
    pub(super) name: &'d str,
    namespace: &'d str,
}

impl<'d> Key<'d> {
    /// An error where the document is no object of an API.
    pub(super) fn of(document: &'d Document) -> Result<Self, String> {
        let text = |pointer| document.value().pointer(pointer).and_then(Json::as_str);
        let required = |pointer: &'static str| {
            text(pointer)
                .filter(|text| !text.is_empty())
                .ok_or_else(|| format!("{} must be set", pointer.trim_start_matches('/')))
        };
        Ok(Key {
            api_version: required("/apiVersion")?,
            kind: required("/kind")?,
            name: text("/metadata/name").unwrap_or_default(),
            namespace: text("/metadata/namespace").unwrap_or_default(),
        })
    }

    /// The group; the first one has no name.
    pub(super) fn group(&self) -> &'d str {
        self.api_version
            .split_once('/')
            .map_or("", |(group, _)| group)
    }

    /// The version of the group.
    pub(super) fn version(&self) -> &'d str {
        let split = self.api_version.split_once('/');
        split.map_or(self.api_version, |(_, version)| version)
    }

    /// Whether both name the same object, whatever the version; `default` is the namespace of those that name none.
    pub(super) fn is_same_object(&self, other: &Key<'_>, default: &str) -> bool {
        self.group() == other.group()
            && self.kind == other.kind
            && self.name == other.name
            && self.namespace_or(default) == other.namespace_or(default)
    }

    fn namespace_or<'n>(&'n self, default: &'n str) -> &'n str {
        match self.namespace {
            "" => default,
            namespace => namespace,
        }
    }
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.api_version, self.kind)
    }
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Checked {
    pub(super) faults: Vec<Fault>,
    pub(super) warnings: Vec<Fault>,
}

impl Checked {
    pub(super) fn is_valid(&self) -> bool {
        self.faults.is_empty()
    }
}

/// One thing that is wrong.
#[derive(Debug)]
pub(super) enum Fault {
    /// With a field.
    Field(Error),
    /// A field that the definition does not know.
    Unknown(String),
    /// A key that comes twice.
    Twice(Problem),
    /// With the object as a whole.
    Object(String),
}

impl Fault {
    /// Where it is.
    pub(super) fn place(&self, document: &Document) -> Place {
        match self {
            Fault::Field(error) => {
                let field = written_field(quoted_field(error).unwrap_or(&error.field));
                // An object may be told of expressions that are in its definition.
                match error.detail.starts_with("compilation failed") {
                    true => document.place_of_problem(&field, &error.detail),
                    false => document.place_of(&field),
                }
            }
            Fault::Unknown(field) => document.place_of(field),
            Fault::Twice(problem) => problem.place(),
            Fault::Object(_) => document.place(),
        }
    }

    /// What is wrong, in one line.
    pub(super) fn line(&self) -> String {
        let text = match self {
            Fault::Field(error) => error.to_string(),
            Fault::Unknown(field) => format!("unknown field \"{field}\""),
            Fault::Twice(problem) => problem.message().to_owned(),
            Fault::Object(message) => message.clone(),
        };
        text.trim_end().replace('\n', "\n    ")
    }
}

/// The field at fault where upstream names it in the detail alone, as it does where one of several schemas must hold.
fn quoted_field(error: &Error) -> Option<&str> {
    let (field, _) = error.detail.strip_prefix('"')?.split_once('"')?;
    (error.field == "<nil>").then_some(field)
}

/// Holds an object against its definition: created or, where there is an old one, updated.
pub(super) fn check(
    document: &Document,
    old: Option<&Document>,
    key: &Key<'_>,
    definition: &KnownDefinition,
    args: &ValidateArgs,
) -> Checked {
    let mut checked = Checked::default();
    let twice = document.duplicate_keys().iter().cloned().map(Fault::Twice);
    let mut strict: Vec<_> = twice.collect();
    let (mut object, unknown_fields) = match read(document, definition, args) {
        Ok(read) => read,
        Err(fault) => {
            checked.faults.push(fault);
            args.validate.sort(strict, &mut checked);
            return checked;
        }
    };
    strict.extend(unknown_fields.into_iter().map(Fault::Unknown));
    args.validate.sort(strict, &mut checked);
    let old = match old.map(|old| read(old, definition, args)).transpose() {
        Ok(old) => old.map(|(mut old, _)| {
            set_resource_version(&mut old, &mut object);
            old
        }),
        Err(fault) => {
            checked
                .faults
                .push(Fault::Object(format!("the old object: {}", fault.line())));
            return checked;
        }
    };
    let crd = &definition.crd;
    let outcome = crd
        .prepare(key.version(), &mut object, old.as_ref(), false)
        .and_then(|()| {
            let budget = gavel_crd::resource::COST_BUDGET;
            crd.validate(key.version(), &object, old.as_ref(), budget)
        });
    match outcome {
        Ok(outcome) => {
            let errors = outcome.schema_errors.into_iter().chain(outcome.rule_errors);
            checked.faults.extend(errors.map(Fault::Field));
            let warnings = outcome.warnings.into_iter().map(Fault::Object);
            checked.warnings.extend(warnings);
        }
        Err(error) => checked.faults.push(Fault::Object(error.to_string())),
    }
    checked
}

/// The object as an API server holds it, and the fields that it does not know.
fn read(
    document: &Document,
    definition: &KnownDefinition,
    args: &ValidateArgs,
) -> Result<(Json, Vec<String>), Fault> {
    let mut object = document.value().clone();
    if let Some(Json::Object(metadata)) = object.get_mut("metadata") {
        let is_missing = |value: Option<&Json>| value.is_none_or(|value| value == "");
        if definition.is_namespaced && is_missing(metadata.get("namespace")) {
            metadata.insert("namespace".to_owned(), args.namespace.as_str().into());
        }
        let prefix = metadata.get("generateName").and_then(Json::as_str);
        if let Some(prefix) = prefix.filter(|prefix| !prefix.is_empty())
            && is_missing(metadata.get("name"))
        {
            let name = format!("{prefix}{GENERATED}");
            metadata.insert("name".to_owned(), name.into());
        }
    }
    let decoded = definition.crd.decode(object, DecodeOptions::default());
    let decoded = decoded.map_err(|error| Fault::Object(error.to_string()))?;
    Ok((decoded.object, decoded.unknown_fields))
}

/// Manifests say nothing of the version in which an object is stored, without which nothing is updated.
fn set_resource_version(old: &mut Json, object: &mut Json) {
    let version = old.pointer("/metadata/resourceVersion").cloned();
    let version = version.unwrap_or_else(|| "1".into());
    for object in [old, object] {
        if let Some(Json::Object(metadata)) = object.get_mut("metadata") {
            let known = metadata.entry("resourceVersion");
            known.or_insert_with(|| version.clone());
        }
    }
}
