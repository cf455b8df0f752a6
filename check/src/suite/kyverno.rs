//! The suites of `kyverno test`, as far as they concern Kubernetes' own policy kinds (github.com/kyverno/kyverno,
//! `cmd/cli/kubectl-kyverno/apis/v1alpha1`).

use std::collections::BTreeMap;
use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_libraries::authorizer::UserInfo;
use gavel_manifest::Document;
use serde::Deserialize;
use serde_json::json;

use super::{Decision, Expected, Files, Question, Test, all_objects, kind_of, metadata, name_of};
use crate::subject::Operation;
use crate::user::user;

/// The contents of a suite's file. Tests of Kyverno's own policies are ignored.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KyvernoFile {
    #[serde(default)]
    policies: Vec<String>,
    #[serde(default)]
    resources: Vec<String>,
    #[serde(default)]
    param_resources: Vec<String>,
    variables: Option<String>,
    userinfo: Option<String>,
    results: Vec<KyvernoResult>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct KyvernoResult {
    policy: String,
    kind: String,
    resources: Vec<String>,
    result: String,
    patched_resources: Option<String>,
    is_validating_admission_policy: bool,
    is_mutating_admission_policy: bool,
}

pub(super) fn is_suite(document: &Json) -> bool {
    let api_version = document.get("apiVersion").and_then(Json::as_str);
    let is_kyverno = api_version.is_some_and(|version| version.contains("kyverno.io/"));
    let results = document.get("results").and_then(Json::as_array);
    let is_ours = |result: &Json| {
        ["isValidatingAdmissionPolicy", "isMutatingAdmissionPolicy"]
            .iter()
            .any(|key| result.get(key) == Some(&Json::Bool(true)))
    };
    is_kyverno
        && kind_of(document) == "Test"
        && results.is_some_and(|results| results.iter().any(is_ours))
}

pub(super) fn read(document: &Json, files: &dyn Files) -> Result<Vec<Test>, String> {
    let file = KyvernoFile::deserialize(document).map_err(|error| error.to_string())?;
    let mut given = all_objects(files, &file.policies)?;
    given.extend(all_objects(files, &file.param_resources)?);
    given.extend(namespaces(file.variables.as_deref(), files)?);
    let resources = all_objects(files, &file.resources)?;
    given.extend(resources.iter().cloned());
    let given: Arc<[Document]> = given.into();
    let user = read_user(file.userinfo.as_deref(), files)?;
    let results = file.results.iter().enumerate();
    let results = results.filter(|(_, each)| {
        each.is_validating_admission_policy || each.is_mutating_admission_policy
    });
    let mut tests = Vec::new();
    for (n, expectation) in results {
        let patched = match &expectation.patched_resources {
            Some(path) => files.objects(path)?,
            None => Vec::new(),
        };
        for resource in &resources {
            let object = resource.value();
            if !expectation.is_about(object) {
                continue;
            }
            tests.push(Test {
                name: format!(
                    "{}: {} {}: {}",
                    expectation.policy,
                    kind_of(object),
                    name_of(object),
                    expectation.result
                ),
                field: format!("results[{n}]"),
                given: Arc::clone(&given),
                definitions: Arc::default(),
                policy: Some(expectation.policy.clone()),
                is_bare: false,
                param: None,
                question: Question::Subject {
                    operation: Operation::Create,
                    object: object.clone(),
                    old: None,
                    is_status: false,
                    namespace: "default".to_owned(),
                    user: Box::new(user.clone()),
                },
                expected: expectation.expected(object, &patched)?,
            });
        }
    }
    Ok(tests)
}

impl KyvernoResult {
    fn is_about(&self, object: &Json) -> bool {
        let name = name_of(object);
        let full = format!("{}/{name}", metadata(object, "namespace"));
        let is_named = |wanted: &String| *wanted == name || *wanted == full;
        let is_kind = self.kind.is_empty() || kind_of(object) == self.kind;
        is_kind && (self.resources.is_empty() || self.resources.iter().any(is_named))
    }

    fn expected(&self, object: &Json, patched: &[Document]) -> Result<Expected, String> {
        let decision = match self.result.as_str() {
            "pass" => Decision::Allow,
            "fail" => Decision::Deny,
            "skip" => Decision::Skip,
            "error" => Decision::Error,
            other => return Err(format!("results: unknown result {other:?}")),
        };
        let is_same = |other: &&Document| {
            let other = other.value();
            kind_of(other) == kind_of(object) && name_of(other) == name_of(object)
        };
        Ok(Expected {
            decision: Some(decision),
            object: patched
                .iter()
                .find(is_same)
                .map(|found| found.value().clone()),
            ..Expected::default()
        })
    }
}

/// The namespaces that Kyverno's values file lists, with their labels.
fn namespaces(path: Option<&str>, files: &dyn Files) -> Result<Vec<Document>, String> {
    #[derive(Deserialize)]
    struct Labelled {
        name: String,
        #[serde(default)]
        labels: BTreeMap<String, String>,
    }
    let values = path.map(|path| files.objects(path)).transpose()?;
    let mut namespaces = Vec::new();
    for values in values.into_iter().flatten() {
        let listed = values.value().get("namespaceSelector").cloned();
        let listed: Vec<Labelled> = serde_json::from_value(listed.unwrap_or_else(|| json!([])))
            .map_err(|error| error.to_string())?;
        for Labelled { name, mut labels } in listed {
            labels.insert("kubernetes.io/metadata.name".to_owned(), name.clone());
            let metadata = json!({"name": name, "labels": labels});
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
            namespaces.push(Document::from(namespace));
        }
    }
    Ok(namespaces)
}

fn read_user(path: Option<&str>, files: &dyn Files) -> Result<UserInfo, String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct KyvernoUser {
        username: String,
        uid: String,
        groups: Vec<String>,
    }
    let Some(path) = path else {
        return Ok(user("kubernetes-admin", &[]));
    };
    let documents = files.objects(path)?;
    let written = documents
        .first()
        .and_then(|document| document.value().get("userInfo"));
    let written: KyvernoUser =
        serde_json::from_value(written.cloned().unwrap_or_else(|| json!({})))
            .map_err(|error| format!("{path}: {error}"))?;
    Ok(UserInfo {
        uid: written.uid,
        ..user(&written.username, &written.groups)
    })
}
