//! The test files of the Kyverno CLI (github.com/kyverno/kyverno, `cmd/cli/kubectl-kyverno`). Results about Kubernetes' own policy kinds are
//! tests; results about Kyverno's own policies are skipped.

use std::collections::BTreeMap;
use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_libraries::authorizer::UserInfo;
use gavel_manifest::{Document, Fields, Problem};
use serde::Deserialize;
use serde_json::json;

use super::{Decision, Expected, Files, Question, Skipped, Suite, Test};
use super::{kind_of, listed_objects, metadata, name_of, operation, policies};
use crate::kinds::Kinds;
use crate::role::Role;
use crate::subject::Operation;
use crate::user::user;

/// The fields of a file that are already read, or concern only Kyverno's own policies.
const IGNORED: [&str; 14] = [
    "apiVersion",
    "kind",
    "metadata",
    "name",
    "jsonPayload",
    "jsonPayloads",
    "httpPayloads",
    "envoyPayloads",
    "targetResources",
    "exceptions",
    "context",
    "clusterResources",
    "apiCallResponses",
    "globalContextEntries",
];

/// The fields of a result that concern only Kyverno's own policies, or repeat the kind of the policy.
const IGNORED_IN_RESULTS: [&str; 12] = [
    "rule",
    "generatedResource",
    "generatedResources",
    "cloneSourceResource",
    "failOnMissingResources",
    "isValidatingAdmissionPolicy",
    "isMutatingAdmissionPolicy",
    "isValidatingPolicy",
    "isMutatingPolicy",
    "isGeneratingPolicy",
    "isDeletingPolicy",
    "isImageValidatingPolicy",
];

pub(super) fn is_suite(document: &Json) -> bool {
    let api_version = document.get("apiVersion").and_then(Json::as_str);
    let group = api_version.and_then(|version| version.split('/').next());
    matches!(group, Some("cli.kyverno.io" | "kyverno.io")) && kind_of(document) == "Test"
}

/// What all results of a file share.
struct KyvernoFile<'d> {
    /// The documents in the files of `policies`.
    policies: Vec<Document>,
    resources: Vec<Document>,
    given: Arc<[Document]>,
    user: UserInfo,
    files: &'d dyn Files,
}

/// Reads the tests of a file.
pub(super) fn read(document: &Document, files: &dyn Files) -> Result<Suite, Vec<Problem>> {
    let mut tests = Vec::new();
    let mut skipped = Vec::new();
    let (within_tests, problems) = Fields::read_with_problems(document, |fields| {
        for key in IGNORED {
            fields.value(key);
        }
        let policies = listed_objects(fields, "policies", files);
        let resources = listed_objects(fields, "resources", files);
        let mut given = policies.clone();
        given.extend(listed_objects(fields, "paramResources", files));
        given.extend(namespaces(fields, files));
        given.extend(resources.iter().cloned());
        let suite_file = KyvernoFile {
            policies,
            resources,
            given: given.into(),
            user: read_user(fields, files),
            files,
        };
        fields.required("results");
        let before = fields.problems();
        for found in fields.objects("results", |fields| suite_file.result(fields)) {
            match found {
                Ok(found) => tests.extend(found),
                Err(found) => skipped.push(found),
            }
        }
        fields.problems().saturating_sub(before)
    });
    let suite = Suite {
        tests,
        skipped,
        ..Suite::default()
    };
    suite.with_problems(problems, within_tests)
}

impl KyvernoFile<'_> {
    /// The tests of a result; an error if Gavel does not evaluate the policy.
    fn result(&self, fields: &mut Fields<'_>) -> Result<Vec<Test>, Skipped> {
        for key in IGNORED_IN_RESULTS {
            fields.value(key);
        }
        fields.required("policy");
        fields.required("result");
        let policy = fields.text("policy").unwrap_or_default();
        // Kyverno's own policies can have a namespace.
        let policy = policy.rsplit('/').next().unwrap_or_default();
        let kind = fields.text("kind").unwrap_or_default();
        let wanted = fields.text("result");
        let result = wanted.unwrap_or_default();
        let field = fields.path().to_owned();
        let name = |subject: &str| match (kind, subject) {
            ("", "") => format!("{policy}: {result}"),
            (one, "") | ("", one) => format!("{policy}: {one}: {result}"),
            (kind, subject) => format!("{policy}: {kind} {subject}: {result}"),
        };
        if let Some(other) = self.kyvernos_own(policy) {
            for key in ["operation", "patchedResources", "resourceSpecs"] {
                fields.value(key);
            }
            return Err(Skipped {
                name: name(&fields.texts("resources").unwrap_or_default().join(", ")),
                field,
                reason: format!("Gavel does not evaluate the kind {other}"),
            });
        }
        let decision = wanted.and_then(|wanted| decision(fields, wanted));
        let operation = operation(fields, "").unwrap_or(Operation::Create);
        let patched = file(fields, "patchedResources", self.files);
        let patched = patched.unwrap_or_else(|message| {
            fields.problem("patchedResources", message);
            Vec::new()
        });
        let test = |name: String, question, object| Test {
            name,
            field: field.clone(),
            given: Arc::clone(&self.given),
            definitions: Arc::default(),
            policy: Some(policy.to_owned()),
            is_bare: false,
            param: None,
            question,
            expected: Expected {
                decision,
                excludes_errors: true,
                object,
                ..Expected::default()
            },
        };
        let mut tests = Vec::new();
        for (subject, resources) in self.wanted(fields, kind) {
            if resources.is_empty() {
                let reason = match (subject.as_str(), kind) {
                    ("", _) => format!("no resource has the kind {kind:?}"),
                    (_, "") => format!("no resource is named {subject:?}"),
                    _ => format!("no resource of the kind {kind:?} is named {subject:?}"),
                };
                tests.push(test(name(&subject), Question::Missing(reason), None));
            }
            for object in resources {
                let subject = format!("{} {}", kind_of(object), name_of(object));
                let question = Question::Subject {
                    operation,
                    object: object.clone(),
                    old: (operation == Operation::Update).then(|| object.clone()),
                    is_status: false,
                    namespace: "default".to_owned(),
                    user: Box::new(self.user.clone()),
                };
                let mut patched = patched.iter().map(Document::value);
                let patched = patched.find(|other| {
                    kind_of(other) == kind_of(object) && name_of(other) == name_of(object)
                });
                let name = format!("{policy}: {subject}: {result}");
                tests.push(test(name, question, patched.cloned()));
            }
        }
        Ok(tests)
    }

    /// The kind of the policy with this name, if it is not one of Kubernetes' own kinds.
    fn kyvernos_own(&self, name: &str) -> Option<&str> {
        let mut documents = self.policies.iter().map(Document::value);
        let other =
            documents.find(|each| name_of(each) == name && Role::of(each) != Role::Policy)?;
        let mut known = policies(&self.policies).map(Document::value);
        (!known.any(|each| name_of(each) == name)).then(|| kind_of(other))
    }

    /// The resources that a result is about: for each name in the result, those with this name. Without names, all of the kind.
    fn wanted(&self, fields: &mut Fields<'_>, kind: &str) -> Vec<(String, Vec<&Json>)> {
        let resources = self.resources.iter().map(Document::value);
        let of_kind = resources.filter(|each| kind.is_empty() || kind_of(each) == kind);
        let of_kind: Vec<&Json> = of_kind.collect();
        let mut wanted = Vec::new();
        for name in fields.texts("resources").unwrap_or_default() {
            let is_named = |each: &&Json| match name.split_once('/') {
                Some((namespace, name)) => name_of(each) == name && namespace_of(each) == namespace,
                None => name_of(each) == name,
            };
            let found = of_kind.iter().copied().filter(is_named).collect();
            wanted.push((name, found));
        }
        wanted.extend(fields.objects("resourceSpecs", |fields| {
            let mut text = |key| fields.text(key).unwrap_or_default();
            let (group, version, kind) = (text("group"), text("version"), text("kind"));
            let (namespace, name) = (text("namespace"), text("name"));
            text("subresource");
            let api_version = match group {
                "" => version.to_owned(),
                group => format!("{group}/{version}"),
            };
            let is_meant = |each: &&Json| {
                each.get("apiVersion").and_then(Json::as_str) == Some(&api_version)
                    && (kind.is_empty() || kind_of(each) == kind)
                    && namespace_of(each) == namespace
                    && name_of(each) == name
            };
            let found = of_kind.iter().copied().filter(is_meant).collect();
            (name.to_owned(), found)
        }));
        match wanted.is_empty() {
            true => vec![(String::new(), of_kind)],
            false => wanted,
        }
    }
}

/// The namespace of a resource; Kyverno puts resources without a namespace into `default`.
fn namespace_of(object: &Json) -> String {
    let placed = Kinds::default().placed(object.clone(), "default");
    metadata(&placed, "namespace").to_owned()
}

fn decision(fields: &mut Fields<'_>, result: &str) -> Option<Decision> {
    match result {
        "pass" => Some(Decision::Allow),
        "fail" => Some(Decision::Deny),
        "skip" => Some(Decision::Skip),
        "error" => Some(Decision::Error),
        other => {
            let message = format!("must be pass, fail, skip or error, but is {other:?}");
            fields.problem("result", message);
            None
        }
    }
}

/// The namespaces that the values list, with their labels. The values are in the file or in a file of their own.
fn namespaces(fields: &mut Fields<'_>, files: &dyn Files) -> Vec<Document> {
    #[derive(Deserialize)]
    struct Labelled {
        name: String,
        #[serde(default)]
        labels: BTreeMap<String, String>,
    }
    let mut listed = Vec::new();
    let inline = fields.value("values").cloned().map(Document::from);
    for (field, values) in [
        ("values", Ok(inline.into_iter().collect())),
        ("variables", file(fields, "variables", files)),
    ] {
        let read = |values: &Document| {
            let selectors = values.value().get("namespaceSelector")?;
            let listed: Result<Vec<Labelled>, _> = serde_json::from_value(selectors.clone());
            Some(listed.map_err(|error| format!("namespaceSelector: {error}")))
        };
        let values: Result<Vec<Document>, String> = values;
        match values.and_then(|values| {
            values
                .iter()
                .filter_map(read)
                .collect::<Result<Vec<_>, _>>()
        }) {
            Ok(read) => listed.extend(read.into_iter().flatten()),
            Err(message) => fields.problem(field, message),
        }
    }
    let namespaces = listed.into_iter().map(|Labelled { name, mut labels }| {
        labels.insert("kubernetes.io/metadata.name".to_owned(), name.clone());
        let metadata = json!({"name": name, "labels": labels});
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}).into()
    });
    namespaces.collect()
}

fn read_user(fields: &mut Fields<'_>, files: &dyn Files) -> UserInfo {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct KyvernoUser {
        username: String,
        uid: String,
        groups: Vec<String>,
    }
    let written = file(fields, "userinfo", files).and_then(|documents| {
        let written = documents
            .first()
            .and_then(|each| each.value().get("userInfo"));
        let written = written.map(KyvernoUser::deserialize);
        written
            .transpose()
            .map_err(|error| format!("userInfo: {error}"))
    });
    match written {
        Ok(Some(written)) => UserInfo {
            uid: written.uid,
            ..user(&written.username, &written.groups)
        },
        Ok(None) => user("kubernetes-admin", &[]),
        Err(message) => {
            fields.problem("userinfo", message);
            user("kubernetes-admin", &[])
        }
    }
}

/// The documents of the file that a field names; none if the field is absent.
fn file(
    fields: &mut Fields<'_>,
    key: &'static str,
    files: &dyn Files,
) -> Result<Vec<Document>, String> {
    match fields.text(key) {
        Some(path) => files.objects(path),
        None => Ok(Vec::new()),
    }
}
