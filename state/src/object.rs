//! Objects with their origins.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use gavel_apimachinery::field::Error;
use gavel_apimachinery::serializer::{StrictFault, StrictFaultKind};
use gavel_manifest::problem::rule;
use gavel_manifest::{Document, Problem, name_at};
use gavel_policy::KeptObject;
use gavel_policy::api::{self, GROUP, Resource};
use gavel_policy::mutating::ObjectSchemas;
use serde_json::Value as Json;

/// Where objects come from: the path of a file, or the name of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin(Arc<str>);

impl Origin {
    /// An origin with this name; messages about its objects begin with the name.
    pub fn new(name: &str) -> Self {
        Origin(name.into())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The identity of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The API group; empty is the core group.
    pub group: String,
    /// The version, if the object can only be a param: each version of a kind has its own params. Otherwise empty.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl ObjectKey {
    /// Whether the object is in the API group of policies and bindings. Removing such an object may admit requests that it denied.
    pub fn decides(&self) -> bool {
        self.group == GROUP
    }
}

/// The document; if it is an object of Gavel's own kinds, converted to the built-in kind with the same name. The positions stay the same.
pub fn as_built_in(document: Document) -> Document {
    match api::as_built_in(document.value()) {
        Some(built_in) => document.with_value(built_in),
        None => document,
    }
}

/// An object from a manifest or from a cluster. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Object {
    origin: Origin,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    Manifest(Arc<Document>),
    Sent(Arc<KeptObject>),
}

impl Object {
    /// An object of a manifest.
    pub fn of_manifest(origin: Origin, document: Document) -> Self {
        Object {
            origin,
            source: Source::Manifest(Arc::new(document)),
        }
    }

    /// An object from a cluster. It is stored in a compact form.
    pub fn sent(origin: Origin, object: &Json) -> Self {
        Object {
            origin,
            source: Source::Sent(Arc::new(KeptObject::compact(object))),
        }
    }

    /// The object with its value replaced; the positions in the manifest stay the same.
    #[must_use]
    pub fn with_value(self, value: Json) -> Self {
        match self.source {
            Source::Manifest(document) => {
                let document = Arc::unwrap_or_clone(document).with_value(value);
                Object::of_manifest(self.origin, document)
            }
            Source::Sent(_) => Object::sent(self.origin, &value),
        }
    }

    /// The origin of the object.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The object as JSON.
    pub fn value(&self) -> Cow<'_, Json> {
        match &self.source {
            Source::Manifest(document) => Cow::Borrowed(document.value()),
            Source::Sent(object) => object.to_json(),
        }
    }

    /// The object in the compact form in which it is stored, with its defaults and with this `apiVersion`. Objects from a cluster already
    /// have this form and their defaults, and are shared.
    ///
    /// # Errors
    ///
    /// The defaults take too much memory.
    pub(crate) fn kept(
        &self,
        api_version: &str,
        schemas: &ObjectSchemas,
    ) -> Result<Arc<KeptObject>, String> {
        let document = match &self.source {
            Source::Manifest(document) => document,
            Source::Sent(object) => return Ok(Arc::clone(object)),
        };
        let mut value = document.value().clone();
        let fill = |value: &mut Json| {
            let filled = schemas.fill_defaults(value);
            filled.map_err(|error| error.to_string())
        };
        fill(&mut value)?;
        if api_version != self.api_version() {
            if let Some(written) = value.get_mut("apiVersion") {
                *written = api_version.into();
            }
            fill(&mut value)?;
        }
        Ok(Arc::new(KeptObject::compact(&value)))
    }

    /// Whether the object was read from a manifest.
    pub(crate) fn is_of_manifest(&self) -> bool {
        matches!(self.source, Source::Manifest(_))
    }

    /// Whether the JSON of two objects is equal, regardless of their origins.
    pub(crate) fn is_same(&self, other: &Object) -> bool {
        match (&self.source, &other.source) {
            (Source::Sent(one), Source::Sent(other)) => one == other,
            _ => self.value() == other.value(),
        }
    }

    /// The identity of the object.
    ///
    /// # Errors
    ///
    /// `apiVersion`, `kind` or `metadata.name` is missing or not a string.
    pub fn key(&self) -> Result<ObjectKey, Vec<Problem>> {
        let (api_version, kind, name) = (self.api_version(), self.kind(), self.name());
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        if [api_version, kind, name].contains(&"") {
            let value = self.value();
            let problem = |field| Some(self.problem(field, name_at(&value, field).err()?));
            let fields = ["apiVersion", "kind", "metadata.name"];
            let mut problems: Vec<Problem> = fields.into_iter().filter_map(problem).collect();
            if group == GROUP
                && let Err(error) = Resource::decode(&*value)
                && error.is_of_kind()
            {
                problems.push(self.problem("kind", error.plain()));
            }
            return Err(problems);
        }
        Ok(ObjectKey {
            group: group.to_owned(),
            version: match self.has_own_form() {
                true => String::new(),
                false => version.to_owned(),
            },
            kind: kind.to_owned(),
            namespace: self.namespace().to_owned(),
            name: name.to_owned(),
        })
    }

    /// Whether objects of this kind are validated when they are stored; objects of all other kinds can only be params. An object without
    /// `apiVersion` or `kind` may be a policy.
    pub(crate) fn has_own_form(&self) -> bool {
        let (api_version, kind) = (self.api_version(), self.kind());
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        match (group, kind) {
            (GROUP | "rbac.authorization.k8s.io", _) | ("", "Namespace") => true,
            ("apiextensions.k8s.io", kind) => kind == "CustomResourceDefinition",
            _ => api_version.is_empty() || kind.is_empty(),
        }
    }

    /// The position of the object's name: file, line and column. For an object from a cluster, the origin, kind and name.
    pub(crate) fn place(&self) -> String {
        match &self.source {
            Source::Manifest(document) => {
                let place = document.place_of("metadata.name");
                format!("{}:{place}", self.origin)
            }
            Source::Sent(_) => format!("{}: {}", self.origin, self.title()),
        }
    }

    /// The object's kind and name, for messages about objects of a cluster.
    fn title(&self) -> String {
        format!("{} {:?}", self.kind(), self.name())
    }

    /// The `apiVersion`; empty if absent.
    pub(crate) fn api_version(&self) -> &str {
        self.name_at("/apiVersion", KeptObject::api_version)
    }

    /// The `kind`; empty if absent.
    pub(crate) fn kind(&self) -> &str {
        self.name_at("/kind", KeptObject::kind)
    }

    /// The namespace; empty if absent.
    pub(crate) fn namespace(&self) -> &str {
        self.name_at("/metadata/namespace", KeptObject::namespace)
    }

    /// The name; empty if absent.
    pub(crate) fn name(&self) -> &str {
        self.name_at("/metadata/name", KeptObject::name)
    }

    fn name_at(&self, pointer: &str, kept: fn(&KeptObject) -> &str) -> &str {
        match &self.source {
            Source::Manifest(document) => {
                let text = document.value().pointer(pointer).and_then(Json::as_str);
                text.unwrap_or_default()
            }
            Source::Sent(object) => kept(object),
        }
    }

    /// A problem at the position of a field in the manifest. For an object from a cluster, the message names the kind and the object
    /// instead.
    pub(crate) fn problem(&self, field: &str, message: impl fmt::Display) -> Problem {
        let problem = match &self.source {
            Source::Manifest(document) => {
                let place = document.place_of(field);
                Problem::new(rule::OBJECT, message.to_string()).at(place)
            }
            Source::Sent(_) => Problem::new(rule::OBJECT, format!("{}: {message}", self.title())),
        };
        problem.in_file(&self.file())
    }

    /// The problem of a field that strict decoding does not accept. An unknown field is reported at its key.
    pub(crate) fn strict_problem(&self, fault: &StrictFault) -> Problem {
        match (&self.source, fault.kind) {
            (Source::Manifest(document), StrictFaultKind::Unknown) => {
                document.unknown_field(&fault.field).in_file(&self.file())
            }
            _ => self.problem(&fault.field, fault),
        }
    }

    /// The problem for an error in a field. It points at the error inside the field's expression if that position is known, otherwise at
    /// the field. `written` is the path of the field in the object.
    pub(crate) fn field_problem(&self, error: &Error, written: &str) -> Problem {
        match &self.source {
            Source::Manifest(document) => {
                let mut problem = document.field_problem(error, written);
                problem.range.get_or_insert(document.place().into());
                problem.in_file(&self.file())
            }
            Source::Sent(_) => self.problem(written, error),
        }
    }

    fn file(&self) -> Arc<Path> {
        Path::new(&*self.origin.0).into()
    }
}
