//! The suites of kaptest (github.com/pfnet/kaptest, `internal/tester/manifests.go`), which have no bindings.

use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_manifest::Document;
use serde::Deserialize;

use super::{Decision, Expected, Files, Question, Test, all_objects, kind_of, metadata, name_of};
use crate::kinds::Kinds;
use crate::subject::Operation;
use crate::user::user;

/// The contents of a suite's file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct KaptestFile {
    validating_admission_policies: Vec<String>,
    #[serde(default)]
    resources: Vec<String>,
    test_suites: Vec<OfPolicy>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfPolicy {
    policy: String,
    tests: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Case {
    #[serde(default)]
    object: Option<KaptestName>,
    #[serde(default)]
    old_object: Option<KaptestName>,
    #[serde(default)]
    param: Option<KaptestName>,
    #[serde(default)]
    user_info: Option<KaptestUser>,
    expect: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct KaptestName {
    kind: String,
    name: String,
    namespace: String,
}

#[derive(Debug, Deserialize)]
struct KaptestUser {
    name: String,
    #[serde(default)]
    groups: Vec<String>,
}

pub(super) fn is_suite(document: &Json) -> bool {
    ["validatingAdmissionPolicies", "testSuites"]
        .iter()
        .all(|key| document.get(key).is_some())
}

pub(super) fn read(document: &Json, files: &dyn Files) -> Result<Vec<Test>, String> {
    let file = KaptestFile::deserialize(document).map_err(|error| error.to_string())?;
    let policies = all_objects(files, &file.validating_admission_policies)?;
    let resources = all_objects(files, &file.resources)?;
    let mut tests = Vec::new();
    for (suite, of_policy) in file.test_suites.iter().enumerate() {
        for (n, case) in of_policy.tests.iter().enumerate() {
            let test = test(&of_policy.policy, case, &policies, &resources)?;
            tests.push(Test {
                field: format!("testSuites[{suite}].tests[{n}]"),
                ..test
            });
        }
    }
    Ok(tests)
}

fn test(
    policy: &str,
    case: &Case,
    policies: &[Document],
    resources: &[Document],
) -> Result<Test, String> {
    let find = |name: &Option<KaptestName>| match name {
        Some(name) => find(resources, name).map(|found| Some(found.clone())),
        None => Ok(None),
    };
    let (object, old) = (find(&case.object)?, find(&case.old_object)?);
    let (operation, object, old) = match (object, old) {
        (Some(object), None) => (Operation::Create, object, None),
        (Some(object), old) => (Operation::Update, object, old),
        (None, Some(old)) => (Operation::Delete, old, None),
        (None, None) => return Err(format!("{policy}: a test needs object or oldObject")),
    };
    let param = case.param.as_ref();
    let user_info = case.user_info.as_ref();
    let mut kinds = Kinds::default();
    resources.iter().for_each(|each| kinds.define(each.value()));
    // A param without a namespace is found by its name alone.
    let namespace = param.map(|param| match param.namespace.as_str() {
        "" => match self::find(resources, param) {
            Ok(found) => metadata(&kinds.placed(found.clone(), "default"), "namespace").to_owned(),
            Err(_) => String::new(),
        },
        namespace => namespace.to_owned(),
    });
    let subject = format!("{} {}", kind_of(&object), name_of(&object));
    let expected = Decision::read(&case.expect)?;
    Ok(Test {
        name: format!("{policy}: {} {subject}: {}", operation.name(), case.expect),
        field: String::new(),
        given: super::policies(policies)
            .chain(resources)
            .cloned()
            .collect(),
        definitions: Arc::default(),
        policy: Some(policy.to_owned()),
        is_bare: true,
        param: namespace
            .zip(param)
            .map(|(namespace, param)| (namespace, param.name.clone())),
        question: Question::Subject {
            operation,
            object,
            old,
            is_status: false,
            namespace: "default".to_owned(),
            user: Box::new(match user_info {
                Some(KaptestUser { name, groups }) => user(name, groups),
                None => user("kubernetes-admin", &[]),
            }),
        },
        expected: Expected {
            decision: Some(expected),
            ..Expected::default()
        },
    })
}

fn find<'d>(resources: &'d [Document], wanted: &KaptestName) -> Result<&'d Json, String> {
    let is_wanted = |object: &&Json| {
        (wanted.kind.is_empty() || kind_of(object) == wanted.kind)
            && name_of(object) == wanted.name
            && (wanted.namespace.is_empty() || metadata(object, "namespace") == wanted.namespace)
    };
    let mut objects = resources.iter().map(Document::value);
    let found = objects.find(is_wanted);
    found.ok_or_else(|| format!("no resource is the {} {:?}", wanted.kind, wanted.name))
}

#[cfg(test)]
mod tests {
    use gavel_libraries::Server;
    use gavel_manifest::{Format, read};

    use super::super::Suite;
    use super::*;

    /// The files `policy.yaml` and `objects.yaml`.
    struct TwoFiles {
        policy: &'static str,
        objects: &'static str,
    }

    impl Files for TwoFiles {
        fn objects(&self, path: &str) -> Result<Vec<Document>, String> {
            let text = match path {
                "policy.yaml" => self.policy,
                _ => self.objects,
            };
            Ok(read(text, Format::Yaml).documents)
        }
    }

    /// Whether each test of a suite passes.
    fn passes(suite: &str, files: &TwoFiles) -> Vec<bool> {
        let reading = read(suite, Format::Yaml);
        let suite = Suite::read(&reading.documents[0], Server::default(), files).unwrap();
        let passes = suite.tests.iter().map(|test| {
            let report = test.run(Server::default(), |value| format!("{value:?}"));
            report.unwrap().differences.is_empty()
        });
        passes.collect()
    }

    #[test]
    fn policies_are_evaluated_even_if_they_do_not_match() {
        let suite = "{validatingAdmissionPolicies: [policy.yaml], resources: [objects.yaml], testSuites: [{policy: noUppercase, tests: [{object: {kind: Deployment, name: few}, expect: admit}, {object: {kind: Deployment, name: many}, expect: deny}, {object: {kind: Deployment, name: none}, expect: error}, {object: {kind: Deployment, name: few}, expect: deny}]}]}";
        // An API server would reject the policy, and the policy does not match the API group of the objects.
        let files = TwoFiles {
            policy: "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: noUppercase}, spec: {matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]}, validations: [{expression: object.spec.replicas < 5}]}}",
            objects: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: few}, spec: {replicas: 1}}\n---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: many}, spec: {replicas: 9}}\n---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: none}}",
        };
        assert_eq!(passes(suite, &files), [true, true, true, false]);
    }

    #[test]
    fn params_without_a_namespace_are_found_by_name() {
        let suite = "{validatingAdmissionPolicies: [policy.yaml], resources: [objects.yaml], testSuites: [{policy: a, tests: [{object: {kind: Deployment, name: few}, param: {name: limits}, expect: admit}]}]}";
        let files = TwoFiles {
            policy: "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: a}, spec: {paramKind: {apiVersion: v1, kind: ConfigMap}, matchConstraints: {}, validations: [{expression: object.spec.replicas <= int(params.data.max)}]}}",
            objects: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: few}, spec: {replicas: 1}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: limits, namespace: elsewhere}, data: {max: '3'}}",
        };
        assert_eq!(passes(suite, &files), [true]);
    }
}
