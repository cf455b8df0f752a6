//! Applies the `set` and `remove` of a test to its object, and finds paths that the kind of the object does not have.

use std::collections::BTreeMap;

use gavel_crd::definition::Definition;
use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_manifest::problem::rule;
use gavel_manifest::{Document, Severity, nearest};
use gavel_schema::JsonSchema;
use gavel_schema::built_in::{DecodingError, decoding_error};
use gavel_schema::merge::{MergeType, UnknownField, undeclared_fields};

use super::fault::Fault;
use super::set;
use crate::custom::Key;
use crate::role::Role;

/// The fields that objects can have: those of Kubernetes' own kinds, and those of the CustomResourceDefinitions that are given.
pub(super) struct KnownFields {
    server: Server,
    definitions: Vec<Definition>,
    /// The schema of all other kinds. Only the metadata has a type.
    other: JsonSchema,
}

impl KnownFields {
    /// Reads the definitions among the given objects.
    pub(super) fn new(given: &[Document], server: Server) -> Self {
        let values = given.iter().map(Document::value);
        let definitions = values.filter(|value| Role::of(value) == Role::Definition);
        // Errors of definitions are reported when the test runs.
        let read = definitions.filter_map(|value| Definition::read(value).ok());
        KnownFields {
            server,
            definitions: read.collect(),
            other: JsonSchema {
                kind: "object".into(),
                preserve_unknown_fields: Some(true),
                ..JsonSchema::default()
            },
        }
    }

    /// The type of an object; `None` if its kind is unknown.
    fn of(&self, object: &Json) -> Option<MergeType<'_>> {
        let key = Key::of(object).ok()?;
        let mut definitions = self.definitions.iter();
        let definition = definitions
            .find(|each| each.spec.group == key.group() && each.spec.names.kind == key.kind);
        match definition {
            Some(definition) => definition
                .schema(key.version())
                .map(|schema| MergeType::custom_resource(schema, self.server)),
            None => MergeType::built_in(key.api_version, key.kind, self.server),
        }
    }

    /// Sets and removes parts of an object. Returns an error for each path that is invalid, names a field that objects of the kind do not
    /// have, or sets a value of the wrong type, and a warning for each path that is probably misspelled, if the kind of the object is unknown.
    pub(super) fn edit(
        &self,
        object: &mut Json,
        set: BTreeMap<String, Json>,
        remove: &[String],
    ) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (path, value) in set {
            let within = format!("set.{path}");
            let mut after = object.clone();
            match set::set(&mut after, &path, value) {
                Ok(()) => {
                    faults.extend(self.check(object, &after, &path, ("set", &within)));
                    *object = after;
                }
                Err(message) => faults.push(invalid(within, message)),
            }
        }
        for (n, path) in remove.iter().enumerate() {
            let within = format!("remove[{n}]");
            let mut named = object.clone();
            // A path that leads nowhere names nothing to remove.
            if set::set(&mut named, path, Json::Null).is_ok() {
                faults.extend(self.check(object, &named, path, ("remove", &within)));
            }
            if let Err(message) = set::remove(object, path) {
                faults.push(invalid(within, message));
            }
        }
        faults
    }

    /// Why an API server cannot decode an object of one of Kubernetes' own kinds.
    fn undecodable(&self, object: &Json) -> Option<DecodingError> {
        let key = Key::of(object).ok()?;
        decoding_error(object, key.api_version, key.kind, self.server)
    }

    /// Warns of the fields of an object that its kind does not have, and of values of the wrong type. `key` is the key of the object in the test.
    pub(super) fn warnings(&self, object: &Json, key: &str) -> Vec<Fault> {
        let ty = self.of(object);
        let ty = ty.unwrap_or(MergeType::custom_resource(&self.other, self.server));
        let unknown = undeclared_fields(object, ty);
        let unknown = unknown
            .iter()
            .map(|unknown| unknown_field(unknown, key, format!("{key}.{}", unknown.path)));
        let wrong = self.undecodable(object).into_iter();
        let wrong = wrong.map(|DecodingError { field, message }| {
            invalid(format!("{key}.{field}"), format!("{key}: {message}"))
        });
        let warnings = unknown.chain(wrong).map(|fault| Fault {
            severity: Severity::Warning,
            ..fault
        });
        warnings.collect()
    }

    /// Checks the fields that a path adds to an object. `key` is the key of the test that contains the path, and `field` the path's place in
    /// the test.
    fn check(
        &self,
        before: &Json,
        after: &Json,
        path: &str,
        (key, field): (&str, &str),
    ) -> Option<Fault> {
        let known = self.of(after);
        let ty = known.unwrap_or(MergeType::custom_resource(&self.other, self.server));
        let old = undeclared_fields(before, ty);
        let new = undeclared_fields(after, ty);
        if let Some(unknown) = new.iter().find(|unknown| !old.contains(unknown)) {
            return Some(unknown_field(unknown, key, field.to_owned()));
        }
        if let Some(DecodingError { message, .. }) = self.undecodable(after)
            && self.undecodable(before).is_none()
        {
            return Some(invalid(field.to_owned(), format!("{key}: {message}")));
        }
        let misspelled = match known {
            Some(_) => None,
            // The fields of metadata have a type, and the names of labels and annotations are free.
            None if path.split(['.', '[']).next() == Some("metadata") => None,
            None => set::misspelled(before, path),
        };
        misspelled.map(|(absent, near)| Fault {
            rule: rule::UNKNOWN_FIELD,
            severity: Severity::Warning,
            field: field.to_owned(),
            message: format!(
                "{key}: the object has no {absent}; did you mean {near}? To check the path by the schema, add the CustomResourceDefinition to given"
            ),
        })
    }
}

/// The error for a field that the kind of an object does not have. `key` and `field` are as in [`KnownFields::check`].
fn unknown_field(unknown: &UnknownField<'_>, key: &str, field: String) -> Fault {
    let meant = nearest(&unknown.name, unknown.declared.iter().copied());
    let meant = meant.map(|meant| format!("; did you mean {meant}?"));
    let meant = meant.unwrap_or_default();
    Fault {
        rule: rule::UNKNOWN_FIELD,
        severity: Severity::Error,
        field,
        message: format!("{key}: unknown field {:?}{meant}", unknown.path),
    }
}

fn invalid(field: String, message: String) -> Fault {
    Fault {
        rule: rule::OBJECT,
        severity: Severity::Error,
        field,
        message,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Edits an object. Returns the messages of the problems and warnings.
    fn check(given: &[Document], object: &Json, set: Json, remove: &[&str]) -> String {
        let set = serde_json::from_value(set).unwrap();
        let remove: Vec<String> = remove.iter().map(|path| (*path).to_owned()).collect();
        let faults =
            KnownFields::new(given, Server::default()).edit(&mut object.clone(), set, &remove);
        let texts = faults.iter().map(|fault| match fault.severity {
            Severity::Error => format!("error: {}: {}", fault.field, fault.message),
            _ => fault.message.clone(),
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn paths_are_fields_of_the_kind() {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "odd": 1,
            "spec": {"containers": [{"name": "a"}]},
        });
        for (set, remove, expected) in [
            (json!({"spec.hostNetwork": true}), &[][..], ""),
            (
                json!({"spec.containers[0].securityContext.privileged": true}),
                &[],
                "",
            ),
            (
                json!({"metadata.labels[\"a.b/c\"]": "d", "odd": 2}),
                &["metadata.annotations", "spec.containers[4].name"],
                "",
            ),
            (
                json!({"spec.hostNetwrk": true}),
                &[],
                "error: set.spec.hostNetwrk: set: unknown field \"spec.hostNetwrk\"; did you mean hostNetwork?",
            ),
            (
                json!({"spec.os": {"nmae": "linux"}}),
                &[],
                "error: set.spec.os: set: unknown field \"spec.os.nmae\"; did you mean name?",
            ),
            (
                json!({"spec.hostNetwork": "yes"}),
                &[],
                "error: set.spec.hostNetwork: set: json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool",
            ),
            (
                json!({"metadata.labels.app.kubernetes.io/name": "b"}),
                &[],
                "error: set.metadata.labels.app.kubernetes.io/name: set: json: cannot unmarshal object into Go struct field \
                 ObjectMeta.metadata.labels of type string",
            ),
            (
                json!({"metadata.whatever": 1}),
                &[],
                "error: set.metadata.whatever: set: unknown field \"metadata.whatever\"",
            ),
            (
                json!({}),
                &["spec.containers", "spec.container"],
                "error: remove[1]: remove: unknown field \"spec.container\"; did you mean containers?",
            ),
            (
                json!({"spec.replicas": 1, "spec[": 1}),
                &["spec..a"],
                "error: set.spec.replicas: set: unknown field \"spec.replicas\"
error: set.spec[: \"spec[\" must be a path such as spec.containers[0].image
error: remove[0]: \"spec..a\" must be a path such as spec.containers[0].image",
            ),
        ] {
            assert_eq!(check(&[], &pod, set.clone(), remove), expected, "{set}");
        }
    }

    #[test]
    fn paths_are_fields_of_the_version() {
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "spec": {}});
        for (server, expected) in [
            (
                "1.36",
                &["set: unknown field \"spec.evictionResponders\""][..],
            ),
            ("1.37", &[]),
        ] {
            let known = KnownFields::new(&[], server.parse().unwrap());
            let set = BTreeMap::from([("spec.evictionResponders".to_owned(), json!([]))]);
            let faults = known.edit(&mut pod, set, &[]);
            let messages: Vec<_> = faults.iter().map(|fault| &*fault.message).collect();
            assert_eq!(messages, expected, "{server}");
        }
    }

    #[test]
    fn paths_of_custom_resources_are_fields_of_their_definition() {
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "routes.example.com"},
            "spec": {
                "group": "example.com", "names": {"plural": "routes", "kind": "Route"}, "scope": "Namespaced",
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                    "type": "object", "properties": {"spec": {"type": "object", "properties": {
                        "weight": {"type": "integer"},
                        "minReplicas": {"type": "integer"},
                        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                    }}},
                }}}],
            },
        });
        let definition = Document::from(definition);
        let route = json!({
            "apiVersion": "example.com/v1", "kind": "Route", "metadata": {"name": "a", "labels": {"team1": "a"}},
            "spec": {"weight": 1, "free": {"name": "a"}, "minReplicas": 1},
        });
        let misspelled = json!({"spec.wieght": 2});
        for (set, expected) in [
            (json!({"spec.weight": 2, "spec.free.nmae.b": 1}), ""),
            (
                misspelled.clone(),
                "error: set.spec.wieght: set: unknown field \"spec.wieght\"; did you mean weight?",
            ),
        ] {
            let given = std::slice::from_ref(&definition);
            assert_eq!(check(given, &route, set.clone(), &[]), expected, "{set}");
        }
        // Without the definition, only metadata has known fields.
        let warning = "set: the object has no spec.wieght; did you mean spec.weight? \
            To check the path by the schema, add the CustomResourceDefinition to given";
        for (set, expected) in [
            (misspelled, warning),
            (json!({"spec.other.path": 2, "spec.free.b": 1}), ""),
            (
                json!({"metadata.labels.team2": "a", "spec.maxReplicas": 2}),
                "",
            ),
            (
                json!({"metadata.lables.a": "b"}),
                "error: set.metadata.lables.a: set: unknown field \"metadata.lables\"; did you mean labels?",
            ),
        ] {
            assert_eq!(check(&[], &route, set.clone(), &[]), expected, "{set}");
        }
    }
}
