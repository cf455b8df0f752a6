//! The namespaces of a cluster: their labels, and the fields that expressions can read (apiserver `pkg/admission/plugin/cel/condition.go`,
//! `CreateNamespaceObject`).

use std::sync::Arc;

use foldhash::fast::RandomState;
use gavel_apimachinery::api_types;
use gavel_apimachinery::json;
use gavel_apimachinery::serializer::{self, Decoded, Time};
use gavel_engine::value::{Arena, Json, Value};
use gavel_golang::quote::quote;
use rpds::HashTrieMapSync;
use smol_str::SmolStr;

use crate::api::{DecodeError, ObjectMeta, to_json};
use crate::kept::{Content, Labels};

/// The label whose value is the name of the namespace.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// The finalizer that a new namespace gets.
const FINALIZER: &str = "kubernetes";

/// The known namespaces. Cloning is cheap, and a clone may contain one additional namespace.
#[derive(Debug, Clone, Default)]
pub(crate) struct Namespaces {
    known: HashTrieMapSync<SmolStr, Arc<Namespace>, RandomState>,
    /// An additional namespace for a single request, if any.
    overlay: Option<Arc<Namespace>>,
}

impl Namespaces {
    /// Adds a namespace or replaces its earlier version.
    pub(crate) fn insert(&mut self, namespace: Arc<Namespace>) {
        self.known.insert_mut(namespace.name.clone(), namespace);
    }

    /// Removes a namespace.
    pub(crate) fn remove(&mut self, name: &str) {
        self.known.remove_mut(name);
    }

    /// Whether a namespace is known.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.find(name).is_ok()
    }

    /// Returns these namespaces with one more, which takes precedence over a known namespace of the same name. No namespace is copied.
    pub(crate) fn with(&self, namespace: Namespace) -> Self {
        Namespaces {
            known: self.known.clone(),
            overlay: Some(Arc::new(namespace)),
        }
    }

    /// The namespace with this name.
    ///
    /// # Errors
    ///
    /// The namespace does not exist; the message is upstream's.
    pub(crate) fn find(&self, name: &str) -> Result<&Namespace, String> {
        let overlay = self.overlay.as_ref();
        let overlay = overlay.filter(|namespace| namespace.name == name);
        let found = overlay.or_else(|| self.known.get(name));
        found
            .map(|namespace| &**namespace)
            .ok_or_else(|| not_found(name))
    }
}

/// The message for a namespace that does not exist.
pub(crate) fn not_found(name: &str) -> String {
    format!("namespaces {} not found", quote(name))
}

/// A namespace for expressions and selectors.
#[derive(Debug, PartialEq)]
pub struct Namespace {
    name: SmolStr,
    labels: Labels,
    /// The namespace as Go writes it, with all of its fields.
    whole: Content,
    /// The namespace without its `selfLink`, owners and managed fields, as all expressions except audit annotations read it; `None` if it
    /// equals `whole`.
    exposed: Option<Content>,
}

impl Namespace {
    /// A namespace for which only the name is known. It is active, and its only label is `kubernetes.io/metadata.name`.
    pub(crate) fn assumed(name: &str) -> Self {
        let quoted = json::quoted(name);
        // Requests may need one each, so the text is written directly.
        let whole = format!(
            r#"{{"metadata":{{"labels":{{"{NAME_LABEL}":{quoted}}},"name":{quoted}}},"spec":{{"finalizers":["kubernetes"]}},"status":{{"phase":"Active"}}}}"#
        );
        let name = SmolStr::new(name);
        Namespace {
            labels: Labels::one(SmolStr::new_static(NAME_LABEL), name.clone()),
            name,
            whole: Content::Text(whole.into()),
            exposed: None,
        }
    }

    /// Reads the JSON of a Namespace object.
    ///
    /// # Errors
    ///
    /// A field does not have the type that it has in a Namespace.
    pub fn from_json(namespace: &Json) -> Result<Self, DecodeError> {
        Self::of(Object::read(namespace)?)
    }

    /// Reads the manifest of a Namespace as an API server stores it: with the label `kubernetes.io/metadata.name`. A namespace without a
    /// phase is new: it gets the phase `Active` and the finalizer `kubernetes`. Objects of an API server already have all of these.
    ///
    /// # Errors
    ///
    /// A field does not have the type that it has in a Namespace.
    pub fn of_manifest(namespace: &Json) -> Result<Self, DecodeError> {
        let mut object = Object::read(namespace)?;
        let name = object.metadata.name.clone();
        object.metadata.labels.insert(NAME_LABEL.to_owned(), name);
        if object.status.phase.is_empty() {
            "Active".clone_into(&mut object.status.phase);
            let finalizers = &mut object.spec.finalizers;
            if !finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
                finalizers.push(FINALIZER.to_owned());
            }
        }
        Self::of(object)
    }

    fn of(mut object: Object) -> Result<Self, DecodeError> {
        let written = |object: &Object| {
            to_json(object).map_err(|error| DecodeError::new("", error.to_string()))
        };
        let whole = written(&object)?;
        object.metadata.self_link = String::new();
        object.metadata.owner_references = Vec::new();
        object.metadata.managed_fields = Vec::new();
        let exposed = written(&object)?;
        Ok(Namespace {
            exposed: (exposed != whole).then(|| Content::compact(&exposed)),
            whole: Content::compact(&whole),
            labels: object.metadata.labels.iter().collect(),
            name: object.metadata.name.into(),
        })
    }

    /// The labels.
    pub(crate) fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The value of `namespaceObject` for audit annotations, then its value for all other expressions.
    pub(crate) fn values<'a>(&'a self, arena: &'a Arena) -> [Value<'a>; 2] {
        let whole = self.whole.value(arena);
        let exposed = self.exposed.as_ref();
        [whole, exposed.map_or(whole, |exposed| exposed.value(arena))]
    }
}

impl Object {
    fn read(namespace: &Json) -> Result<Self, DecodeError> {
        let decoded: Result<Decoded<Object>, DecodeError> = serializer::decode(namespace, "v1");
        decoded
            .map(|decoded| decoded.object)
            .map_err(|DecodeError { field, message }| {
                DecodeError::new(field, format!("namespace: {message}"))
            })
    }
}

api_types! {
    /// The fields of a namespace that the API server decodes.
    struct Object(".Namespace") {
        /// `metadata`
        "metadata" keep "" metadata: ObjectMeta;
        /// `spec`
        "spec" keep "" spec: NamespaceSpec;
        /// `status`
        "status" keep "" status: NamespaceStatus;
    }

    /// The finalizers of a namespace.
    struct NamespaceSpec(".NamespaceSpec") {
        /// `finalizers`
        "finalizers" omit ".FinalizerName" finalizers: Vec<String>;
    }

    /// The status of a namespace.
    struct NamespaceStatus(".NamespaceStatus") {
        /// `phase`: `Active` or `Terminating`.
        "phase" omit ".NamespacePhase" phase: String;
        /// `conditions`
        "conditions" omit "" conditions: Vec<NamespaceCondition>;
    }

    /// A condition of a namespace: one aspect of its state. Unlike other conditions, it has no `observedGeneration`.
    struct NamespaceCondition(".NamespaceCondition") {
        /// `type`
        "type" keep ".NamespaceConditionType" kind: String;
        /// `status`: `True`, `False` or `Unknown`.
        "status" keep ".ConditionStatus" status: String;
        /// `lastTransitionTime`
        "lastTransitionTime" keep "" last_transition_time: Time;
        /// `reason`
        "reason" omit "" reason: String;
        /// `message`
        "message" omit "" message: String;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn validations_do_not_see_owners_and_managed_fields() {
        let object = json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {
                "name": "a", "labels": {"b": "c"}, "creationTimestamp": "2026-01-31T13:00:00.5+01:00",
                "ownerReferences": [{"apiVersion": "v1", "kind": "Owner", "name": "o", "uid": "1"}],
                "managedFields": [{"manager": "m", "fieldsV1": {"f:a": {}}}],
            },
            "status": {"phase": "Active", "conditions": [{"type": "t", "status": "True"}]},
        });
        let namespace = Namespace::from_json(&object).unwrap();
        let mut expected = json!({
            "metadata": {"name": "a", "labels": {"b": "c"}, "creationTimestamp": "2026-01-31T12:00:00Z"},
            "spec": {},
            "status": {
                "phase": "Active",
                "conditions": [{"type": "t", "status": "True", "lastTransitionTime": null}],
            },
        });
        let arena = Arena::new();
        let [whole, exposed] = namespace.values(&arena);
        assert_eq!(exposed.to_json().unwrap(), expected);
        for field in ["ownerReferences", "managedFields"] {
            expected["metadata"][field] = object["metadata"][field].clone();
        }
        assert_eq!(whole.to_json().unwrap(), expected);
        assert_eq!(namespace.labels().get("b"), Some("c"));
    }

    #[test]
    fn a_manifest_is_read_as_an_api_server_stores_it() {
        let stored = |manifest: Json| Namespace::of_manifest(&manifest).unwrap();
        for manifest in [
            json!({"metadata": {"name": "a"}}),
            json!({
                "metadata": {"name": "a", "labels": {"kubernetes.io/metadata.name": "b"}},
                "spec": {"finalizers": ["kubernetes"]},
            }),
        ] {
            assert_eq!(stored(manifest), Namespace::assumed("a"));
        }
        let ending = json!({
            "metadata": {"name": "a", "labels": {"kubernetes.io/metadata.name": "a"}},
            "spec": {},
            "status": {"phase": "Terminating"},
        });
        let arena = Arena::new();
        let namespace = stored(ending.clone());
        let [whole, _] = namespace.values(&arena);
        assert_eq!(whole.to_json().unwrap(), ending);
    }

    #[test]
    fn an_overlay_shadows_and_copies_nothing() {
        let mut known = Namespaces::default();
        known.insert(Arc::new(Namespace::assumed("a")));
        let with = known.with(Namespace::assumed("b"));
        assert!(std::ptr::eq(
            known.find("a").unwrap(),
            with.find("a").unwrap()
        ));
        assert!(with.find("b").is_ok());
        assert!(known.find("b").is_err());
    }

    #[test]
    fn a_field_of_another_type_is_refused() {
        let found = Namespace::from_json(&json!({"metadata": {"name": 1}}));
        let expected = "namespace: json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string";
        assert_eq!(found.unwrap_err().to_string(), expected);
    }
}
