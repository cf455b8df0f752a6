//! The validation of one object by its definition.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use gavel_apimachinery::field::{Error, Path};
use gavel_apimachinery::meta::{self, MetadataView, keep_system_fields};
use gavel_apimachinery::names::generated_name;
use gavel_crd::CompiledCrd;
use gavel_crd::resource::{
    DecodeError, DecodeOptions, Outcome, ValidateOptions, finalizer_warnings,
};
use gavel_engine::value::Json;
use gavel_manifest::problem::rule;
use gavel_manifest::{Document, Problem};
use gavel_policy::api::FieldValidation;

use super::checked::{Checked, field_problem};
use super::definitions::{KnownDefinition, ServedVersion};
use super::key::Key;
use super::rules::Outcomes;

/// How objects are read and validated.
#[derive(Debug, Clone, Copy)]
pub struct Taken<'a> {
    /// The namespace of objects that do not name one.
    pub namespace: &'a str,
    /// How unknown and duplicate fields are treated.
    pub strictness: FieldValidation,
    /// Whether only the status is updated, through its subresource.
    pub is_status: bool,
    /// Whether to record the outcomes of the rules in [`Checked::rules`].
    pub records_rules: bool,
}

/// Validates an object by its definition: as an update if there is an old object, otherwise as a creation.
pub fn check(
    document: &Document,
    old: Option<&Document>,
    key: &Key<'_>,
    definition: &KnownDefinition,
    taken: Taken<'_>,
) -> Checked {
    let KnownDefinition { crd, served, .. } = definition;
    let mut checked = Checked::default();
    let mut strict = document.duplicate_keys().to_vec();
    // The messages about the version name it, so the field only gives the place.
    let of_version = |message| {
        let problem = document.problem(rule::OBJECT, "apiVersion", message);
        problem.of_field("")
    };
    let mut versions = served.iter();
    let Some(version) = versions.find(|version| version.name == key.version()) else {
        checked.add_strict(strict, taken.strictness);
        checked.problems.push(of_version(not_served(key, served)));
        return checked;
    };
    let deprecation = version.deprecation.clone();
    let deprecation = deprecation.map(|warning| of_version(warning).as_warning());
    checked.warnings.extend(deprecation);
    let (mut object, unknown_fields) = match read(document, crd, taken) {
        Ok(read) => read,
        Err(problem) => {
            checked.problems.push(problem);
            checked.add_strict(strict, taken.strictness);
            return checked;
        }
    };
    let unknown = unknown_fields.iter();
    strict.extend(unknown.map(|field| document.unknown_field(field)));
    checked.add_strict(strict, taken.strictness);
    let old = match old.map(|old| read(old, crd, taken)).transpose() {
        Ok(old) => old.map(|(mut old, _)| {
            if let (Some(metadata), Some(before)) =
                (object.get_mut("metadata"), old.get_mut("metadata"))
            {
                keep_system_fields(metadata, before);
                if taken.is_status {
                    // An update of the status takes all of the old metadata, which must be complete.
                    let complete = before.clone();
                    keep_system_fields(before, &complete);
                }
            }
            old
        }),
        Err(problem) => {
            let message = format!("the old object: {}", problem.text());
            checked
                .problems
                .push(document.problem(rule::OBJECT, "", message));
            return checked;
        }
    };
    let rules: RefCell<BTreeMap<String, Outcomes>> = RefCell::default();
    let observe = |path: &Path<'_>, index, result: Result<bool, &_>| {
        let schema = format!("{}{}", version.schema, path.in_schema());
        let field = format!("{schema}.x-kubernetes-validations[{index}].rule");
        rules.borrow_mut().entry(field).or_default().add(result);
    };
    let options = ValidateOptions {
        status: taken.is_status,
        observer: taken.records_rules.then_some(&observe),
        ..ValidateOptions::default()
    };
    let outcome = crd
        .prepare(key.version(), &mut object, old.as_ref(), taken.is_status)
        .and_then(|()| crd.validate_with(key.version(), &object, old.as_ref(), &options));
    checked.rules = rules.into_inner();
    match outcome {
        Ok(outcome) => {
            let errors = errors(&outcome, &object, old.as_ref(), crd);
            let errors = errors.iter().map(|error| field_problem(document, error));
            checked.problems.extend(errors);
            let of_finalizers = match checked.problems.is_empty() {
                true => finalizer_warnings(&object, old.as_ref()),
                false => Vec::new(),
            };
            let of_finalizers = of_finalizers.into_iter().map(|warning| {
                let problem = document.problem(rule::OBJECT, "metadata.finalizers", warning);
                problem.of_field("")
            });
            let of_rules = outcome.warnings.into_iter();
            let of_rules = of_rules.map(|warning| document.problem(rule::OBJECT, "", warning));
            let warnings = of_rules.chain(of_finalizers).map(Problem::as_warning);
            checked.warnings.extend(warnings);
        }
        Err(error) => checked
            .problems
            .push(document.problem(rule::OBJECT, "", error.to_string())),
    }
    checked.object = Some(object);
    checked
}

/// All errors of an object: those of its definition and, for an update, those that an API server reports for the metadata of every kind.
/// Errors that are found in both ways are listed once.
fn errors(outcome: &Outcome, object: &Json, old: Option<&Json>, crd: &CompiledCrd) -> Vec<Error> {
    let mut errors = old.map_or_else(Vec::new, |old| {
        let (object, old) = (MetadataView::of(object), MetadataView::of(old));
        let path = Path::new("metadata");
        meta::validate_any_update(object, old, crd.is_namespaced(), &path, crd.server())
    });
    let mut seen = BTreeSet::new();
    errors.retain(|error| seen.insert(error.to_string()));
    let own = outcome.errors();
    errors.extend(
        own.filter(|error| !seen.contains(&error.to_string()))
            .cloned(),
    );
    errors
}

/// The message of an API server about a version that it does not serve, and the versions that it serves.
fn not_served(key: &Key<'_>, served: &[ServedVersion]) -> String {
    let Key {
        kind, api_version, ..
    } = key;
    let names: Vec<_> = served.iter().map(|version| version.name.as_str()).collect();
    let served = match names.as_slice() {
        [] => "no version".to_owned(),
        names => names.join(", "),
    };
    format!(
        "no matches for kind {kind:?} in version {api_version:?}: the definition serves {served}"
    )
}

/// Decodes an object as an API server does, after adding a missing namespace and a missing generated name, and removing the namespace of a
/// cluster-scoped object. Also returns the paths of the unknown fields.
fn read(
    document: &Document,
    crd: &CompiledCrd,
    taken: Taken<'_>,
) -> Result<(Json, Vec<String>), Problem> {
    let mut object = document.value().clone();
    if let Some(fields) = object.as_object_mut() {
        let metadata = fields.entry("metadata").or_insert(Json::Null);
        if metadata.is_null() {
            *metadata = Json::Object(Default::default());
        }
    }
    if let Some(Json::Object(metadata)) = object.get_mut("metadata") {
        let is_missing =
            |value: Option<&Json>| value.is_none_or(|value| value.is_null() || value == "");
        let namespace = metadata.get("namespace");
        match crd.is_namespaced() {
            true if is_missing(namespace) => {
                metadata.insert("namespace".to_owned(), taken.namespace.into());
            }
            // An API server removes the namespace of a cluster-scoped object.
            false if namespace.is_some_and(Json::is_string) => {
                metadata.remove("namespace");
            }
            _ => {}
        }
        let prefix = metadata.get("generateName").and_then(Json::as_str);
        if let Some(prefix) = prefix.filter(|prefix| !prefix.is_empty())
            && is_missing(metadata.get("name"))
        {
            let name = generated_name(prefix);
            metadata.insert("name".to_owned(), name.into());
        }
    }
    let decoded = crd.decode(object, DecodeOptions::default());
    let decoded = decoded.map_err(|DecodeError { field, message }| {
        // The message itself already says what is wrong, so the field only gives the place.
        document.problem(rule::OBJECT, &field, message).of_field("")
    })?;
    Ok((decoded.object, decoded.unknown_fields))
}

#[cfg(test)]
mod tests {
    use gavel_crd::definition::Definition;
    use serde_json::json;

    use super::*;

    fn definition(scope: &str) -> KnownDefinition {
        let schema = json!({"openAPIV3Schema": {"type": "object"}});
        let definition = json!({
            "metadata": {"name": "things.example.com"},
            "spec": {
                "group": "example.com", "scope": scope,
                "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
            },
        });
        let definition = Definition::read(&definition).unwrap();
        KnownDefinition {
            crd: CompiledCrd::compile(&definition).unwrap(),
            name: String::new(),
            served: vec![ServedVersion {
                name: "v1".to_owned(),
                schema: String::new(),
                has_status: false,
                deprecation: Some("old".to_owned()),
            }],
        }
    }

    fn document(metadata: Json) -> Document {
        Document::from(
            json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": metadata}),
        )
    }

    fn checked(document: &Document, old: Option<&Document>, scope: &str) -> Checked {
        let key = Key::of(document.value()).unwrap();
        let taken = Taken {
            namespace: "default",
            strictness: FieldValidation::Strict,
            is_status: false,
            records_rules: false,
        };
        check(document, old, &key, &definition(scope), taken)
    }

    fn warnings(document: &Document, old: Option<&Document>) -> Vec<String> {
        let checked = checked(document, old, "Cluster");
        let warnings = checked.warnings.iter();
        warnings.map(|warning| warning.text()).collect()
    }

    /// The errors of an object. Explanations end before the word "must".
    fn errors(document: &Document, old: Option<&Document>, scope: &str) -> Vec<String> {
        let checked = checked(document, old, scope);
        let texts = checked.problems.iter().map(|problem| problem.text());
        let short = |text: String| text.split(" must").next().unwrap_or_default().to_owned();
        texts.map(short).collect()
    }

    #[test]
    fn an_api_server_removes_the_namespace_of_a_cluster_scoped_object() {
        let document = document(json!({"name": "a", "namespace": "A b"}));
        for old in [None, Some(&document)] {
            assert_eq!(errors(&document, old, "Cluster"), [] as [&str; 0]);
        }
        let expected = ["metadata.namespace: Invalid value: \"A b\": a lowercase RFC 1123 label"];
        assert_eq!(errors(&document, None, "Namespaced"), expected);
    }

    #[test]
    fn objects_of_deprecated_versions_are_warned_of() {
        let document = document(json!({"name": "a"}));
        assert_eq!(warnings(&document, None), ["old"]);
    }

    #[test]
    fn new_finalizers_without_a_domain_are_warned_of() {
        let old = document(json!({"name": "a", "finalizers": ["b"]}));
        let new = document(json!({"name": "a", "finalizers": ["b", "orphan", "x.y", "x.y/z"]}));
        let advice = "to avoid accidental conflicts with other finalizer writers";
        let prefer = |name, rest| {
            format!(
                "metadata.finalizers: {name:?}: prefer a domain-qualified finalizer name{rest} {advice}"
            )
        };
        let path = prefer("x.y", " including a path (/)");
        let expected = ["old", &prefer("b", ""), &path];
        assert_eq!(warnings(&new, None), expected);
        assert_eq!(warnings(&new, Some(&old)), ["old", &path]);
    }

    #[test]
    fn the_metadata_of_updates_is_validated_as_that_of_every_kind() {
        let old = document(json!({"name": "a"}));
        let both = json!(["orphan", "foregroundDeletion"]);
        let new = document(json!({"name": "a", "finalizers": both, "labels": {"-b": "c"}}));
        let expected = [
            "metadata.labels: Invalid value: \"-b\": name part",
            "metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer orphan and foregroundDeletion cannot be both set",
        ];
        assert_eq!(errors(&new, Some(&old), "Cluster"), expected);
    }
}
