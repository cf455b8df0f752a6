//! The schemas of the objects that policies mutate: their merge rules and defaults (apiserver
//! `pkg/admission/plugin/policy/mutating/patch/typeconverter.go`).

use std::collections::BTreeMap;
use std::sync::Arc;

use gavel_apimachinery::json;
use gavel_apimachinery::meta::GroupVersion;
use gavel_apimachinery::serializer::version_and_kind;
use gavel_apimachinery::server::Server;
use gavel_engine::value::Json;
use gavel_golang::quote::quote;
use gavel_schema::JsonSchema;
use gavel_schema::built_in::{self, Kubernetes};
use gavel_schema::default::{self, DefaultsTooLarge};
use gavel_schema::merge::{self, MergeType};

use crate::api::scheme_name;
use crate::request::AdmissionRequest;
use crate::resource::GroupVersionKind;

/// The schemas of mutable objects: those of all built-in kinds, and those of custom resources that the host inserts. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct ObjectSchemas {
    custom: Arc<BTreeMap<GroupVersionKind, Arc<JsonSchema>>>,
    /// The API server that has the built-in kinds.
    server: Server,
    /// Whether the objects of built-in kinds are decoded into the API server's Go types.
    is_typed: bool,
}

impl ObjectSchemas {
    /// The schemas of the built-in kinds of this API server.
    pub fn new(server: Server) -> Self {
        ObjectSchemas {
            custom: Arc::default(),
            server,
            is_typed: false,
        }
    }

    /// Adds or replaces the schema of a kind.
    pub fn insert(&mut self, kind: GroupVersionKind, schema: Arc<JsonSchema>) {
        Arc::make_mut(&mut self.custom).insert(kind, schema);
    }

    /// Makes mutations decode objects of built-in kinds into the API server's Go types and set their defaults. A mutation fails if it sets
    /// a field that the Go type lacks. Fields of a request that the Go type lacks stay unchanged: they come from a newer API server.
    #[must_use]
    pub fn typed(self) -> Self {
        ObjectSchemas {
            is_typed: true,
            ..self
        }
    }

    /// Whether objects of a kind are decoded into a Go type.
    pub(crate) fn is_typed(&self, kind: &GroupVersionKind) -> bool {
        self.is_typed && !self.custom.contains_key(kind)
    }

    /// Decodes an object after a JSON patch, which must not add unknown fields. If objects of the kind are decoded into a Go type, a
    /// missing `apiVersion` or `kind` is taken from `was`; otherwise, a missing `kind` is an error. The `Scale` of a custom resource is not
    /// decoded into a Go type. `before` returns the object before the patch; its unknown fields are allowed.
    ///
    /// # Errors
    ///
    /// The object cannot be decoded.
    pub(crate) fn decode(
        &self,
        object: &mut Json,
        was: &GroupVersionKind,
        request: &AdmissionRequest<'_>,
        before: impl FnOnce() -> Json,
    ) -> Result<(), String> {
        let (api_version, _) = version_and_kind(&*object).map_err(|error| error.message)?;
        GroupVersion::parse(&api_version).map_err(|error| error.to_string())?;
        let is_typed = self.is_typed(was) && !self.is_scale_of_custom_resource(request);
        let ty = self.decoded_type(was).filter(|_| is_typed);
        let Some(ty) = ty else {
            return match kind_of(object).kind.is_empty() {
                true => Err(format!(
                    "Object 'Kind' is missing in '{}'",
                    json::to_string(object)
                )),
                false => Ok(()),
            };
        };
        fill_kind(object, was);
        let kind = kind_of(object);
        let api_version = kind.api_version();
        let Some(new_ty) = self.decoded_type(&kind) else {
            return Err(crate::api::unknown_kind(&kind.kind, &api_version, self.server).message);
        };
        let error = built_in::decoding_error(object, &api_version, &kind.kind, self.server);
        if let Some(error) = error {
            return Err(error.message);
        }
        let mut unknown = merge::unknown_fields(object, new_ty);
        if unknown.is_empty() {
            return Ok(());
        }
        let known = merge::unknown_fields(&before(), ty);
        unknown.retain(|path| !known.contains(path));
        let fields = unknown
            .iter()
            .map(|path| format!("unknown field {}", quote(path)));
        let fields: Vec<String> = fields.collect();
        match fields.is_empty() {
            true => Ok(()),
            false => Err(format!("strict decoding error: {}", fields.join(", "))),
        }
    }

    /// Converts an object that a mutation of the request returned to the Go type of its kind, if objects of the kind are decoded.
    ///
    /// # Errors
    ///
    /// A field does not have its type, or the policy matches an equivalent version of the request's resource: an API server converts the
    /// object to the version of the request, but its scheme converts only from and to the internal version.
    pub(crate) fn convert(
        &self,
        object: &mut Json,
        request: &AdmissionRequest<'_>,
    ) -> Result<(), String> {
        let kind = kind_of(object);
        if !self.is_typed(&request.kind) {
            return Ok(());
        }
        let (from, to) = (kind.api_version(), request.kind.api_version());
        built_in::convert(object, &from, &kind.kind, self.server)
            .map_err(|error| format!("unable to convert unstructured object to {kind}: {error}"))?;
        if !Kubernetes::of(self.server).knows(&from) || from == to {
            return Ok(());
        }
        let ty = format!("{}.{}", kind.version, kind.kind);
        Err(match kind.group == request.kind.group {
            true => format!(
                "converting ({ty}) to ({}.{}): unknown conversion",
                request.kind.version, kind.kind
            ),
            false => format!(
                "{ty} is not suitable for converting to {} in scheme {}",
                quote(&to),
                scheme_name(self.server)
            ),
        })
    }

    /// Whether a request is about the `Scale` of a custom resource: a built-in kind that belongs to a resource that is not built in.
    fn is_scale_of_custom_resource(&self, request: &AdmissionRequest<'_>) -> bool {
        let known = |version: String| Kubernetes::of(self.server).knows(&version);
        self.is_typed && known(request.kind.api_version()) && !known(request.resource.api_version())
    }

    /// Checks that an object that a JSON patch changed is not the `Scale` of a custom resource.
    ///
    /// # Errors
    ///
    /// The object is such a `Scale`: an API server converts it like a custom resource, but its version is none of the custom resource.
    pub(crate) fn check_scale(
        &self,
        patched: &Json,
        request: &AdmissionRequest<'_>,
    ) -> Result<(), String> {
        if !self.is_scale_of_custom_resource(request) {
            return Ok(());
        }
        let (from, to) = (kind_of(patched), request.kind.api_version());
        Err(match from.group == request.kind.group {
            true => format!("request to convert CR to an invalid group/version: {to}"),
            false => unsuitable(&from, &to),
        })
    }

    /// Converts a mutated object to the kind of the object that was sent: an object of a built-in kind gets the `apiVersion` and `kind`, a
    /// custom resource only the `apiVersion`.
    ///
    /// # Errors
    ///
    /// A mutation changed the `apiVersion` of a custom resource to one that its definition does not have.
    pub(crate) fn convert_back(
        &self,
        object: &mut Json,
        sent: &GroupVersionKind,
    ) -> Result<(), String> {
        let from = kind_of(object);
        let is_custom = self.is_typed && self.custom.contains_key(sent);
        if is_custom && from.group != sent.group {
            return Err(unsuitable(&from, &sent.api_version()));
        }
        let of_sent = GroupVersionKind {
            kind: sent.kind.clone(),
            ..from
        };
        if is_custom && !self.custom.contains_key(&of_sent) {
            let version = of_sent.api_version();
            return Err(format!(
                "request to convert CR from an invalid group/version: {version}"
            ));
        }
        let version = sent.api_version();
        let names = [("apiVersion", &*version), ("kind", &*sent.kind)];
        let converted = if is_custom { 1 } else { 2 };
        if let Json::Object(fields) = object {
            for (key, name) in names.into_iter().take(converted) {
                if !name.is_empty() {
                    fields.insert(key.to_owned(), name.into());
                }
            }
        }
        Ok(())
    }

    /// Whether any kind with the same group and version is known.
    pub(crate) fn knows_version_of(&self, kind: &GroupVersionKind) -> bool {
        let mut custom = self.custom.keys();
        custom.any(|known| known.group == kind.group && known.version == kind.version)
            || Kubernetes::of(self.server).knows(&kind.api_version())
    }

    /// The Go type that decodes objects of a kind.
    fn decoded_type(&self, kind: &GroupVersionKind) -> Option<MergeType<'static>> {
        MergeType::decoded(&kind.api_version(), &kind.kind, self.server)
    }

    /// The rules for merging objects of a kind; `None` if the kind is unknown.
    pub(crate) fn merge_type(&self, kind: &GroupVersionKind) -> Option<MergeType<'_>> {
        match self.custom.get(kind) {
            Some(schema) => Some(MergeType::custom_resource(schema, self.server)),
            None => MergeType::built_in(&kind.api_version(), &kind.kind, self.server),
        }
    }

    /// Sets the defaults of an object, as an API server does when it reads the object. Objects of built-in kinds get defaults only after
    /// [`ObjectSchemas::typed`].
    ///
    /// # Errors
    ///
    /// The defaults take too much memory.
    pub fn fill_defaults(&self, object: &mut Json) -> Result<(), DefaultsTooLarge> {
        let kind = kind_of(object);
        match self.custom.get(&kind) {
            Some(schema) => default::fill(object, schema)?,
            None if self.is_typed => {
                built_in::complete(object, &kind.api_version(), &kind.kind, self.server);
            }
            None => {}
        }
        Ok(())
    }
}

/// The group, version and kind in the fields `apiVersion` and `kind`.
pub(crate) fn kind_of(object: &Json) -> GroupVersionKind {
    let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
    GroupVersionKind::new(text("apiVersion"), text("kind"))
}

fn unsuitable(from: &GroupVersionKind, to: &str) -> String {
    let to = quote(to);
    format!("{from} is unstructured and is not suitable for converting to {to}")
}

/// Sets `apiVersion` and `kind` from `was` where they are missing or empty.
fn fill_kind(object: &mut Json, was: &GroupVersionKind) {
    if let Json::Object(fields) = object {
        for (key, was) in [("apiVersion", &*was.api_version()), ("kind", &*was.kind)] {
            if fields
                .get(key)
                .and_then(Json::as_str)
                .unwrap_or_default()
                .is_empty()
            {
                fields.insert(key.to_owned(), was.into());
            }
        }
    }
}
