//! The test files of kaptest.

use super::{gavel, problems};
use crate::commands::tests::TestFolder;
use crate::exit_code::Exit;

/// Policies that an API server would reject or that do not match Deployments, and one with an `auditAnnotation` that fails.
const POLICIES: &str = "\
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: replicas}, spec: {
  failurePolicy: Ignore,
  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]},
  matchConditions: [{name: named, expression: object == null || object.metadata.name != 'other'}],
  validations: [
    {expression: object == null || object.metadata.name != 'large', message: too large},
    {expression: object.spec.replicas < 5, message: at most 4}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: limits}, spec: {
  paramKind: {apiVersion: v1, kind: ConfigMap}, matchConstraints: {},
  validations: [{expression: object.spec.replicas <= int(params.data.max)}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: audited}, spec: {
  matchConstraints: {}, validations: [{expression: \"request.userInfo.extra.team == ['a']\"}],
  auditAnnotations: [{key: a, valueExpression: object.spec.nothing}]}}
---
{apiVersion: admissionregistration.k8s.io/v1beta1, kind: MutatingAdmissionPolicy, metadata: {name: replicas}, spec: {
  failurePolicy: Ignore, reinvocationPolicy: Never,
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: ['*'], resources: [deployments]}]},
  mutations: [{patchType: ApplyConfiguration, applyConfiguration: {
    expression: 'Object{spec: Object.spec{replicas: object.spec.replicas + 1}}'}}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: failing}, spec: {
  failurePolicy: Ignore, reinvocationPolicy: IfNeeded, paramKind: {apiVersion: example.com/v1, kind: Shop},
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: ['*'], resources: [deployments]}]},
  mutations: [{patchType: JSONPatch, jsonPatch: {
    expression: '[JSONPatch{op: \"replace\", path: \"/spec/replicas\", value: params.spec.nothing}]'}}]}}
";

/// Deployments with and without replicas, a ConfigMap that has the name of a Deployment, and namespaces.
const RESOURCES: &str = "\
{apiVersion: apps/v1, kind: Deployment, metadata: {name: small, namespace: a}, spec: {replicas: 1}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: next, namespace: a}, spec: {replicas: 2}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: large, namespace: a}, spec: {replicas: 9}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: large, namespace: b}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: other}, spec: {replicas: 9}}
---
{apiVersion: example.com/v1, kind: Shop, metadata: {name: shop}, spec: {tags: [a]}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: small, namespace: elsewhere}, data: {max: '3'}}
";

fn folder() -> TestFolder {
    TestFolder::new()
        .with("policies.yaml", POLICIES)
        .with("resources.yaml", RESOURCES)
}

/// Runs one test of a policy. Returns what `gavel test` prints after the name of the test; empty if the test passes.
fn run(suites: &str, policy: &str, test: &str) -> String {
    let policies = match suites {
        "testSuites" => "validatingAdmissionPolicies",
        _ => "policies",
    };
    let file = format!(
        "{policies}: [policies.yaml]\nresources: [resources.yaml]\n{suites}:\n- policy: {policy}\n  tests: [{test}]\n"
    );
    let folder = folder().with("kaptest.yaml", &file);
    let (exit, out) = gavel(&folder, &["./kaptest.yaml"]);
    let (first, rest) = out.split_once('\n').unwrap();
    let expected = match first.starts_with("ok ") {
        true => Exit::Success,
        false => Exit::Rejected,
    };
    assert_eq!(exit, expected, "{out}");
    rest.to_owned()
}

#[test]
fn both_formats_run_as_they_are() {
    let old = "\
validatingAdmissionPolicies: [policies.yaml]
resources: [resources.yaml]
testSuites:
- policy: replicas
  tests:
  - {object: {kind: Deployment, name: small}, expect: admit}
  - {object: {kind: Deployment, name: next}, oldObject: {kind: Deployment, name: small}, expect: admit}
";
    let new = "\
version: v1alpha1
policies: [policies.yaml]
resources: [resources.yaml]
schemaLocations: ['https://example.com/schema.json']
skipSchemaValidation: true
vapTestSuites:
- policy: replicas
  tests:
  - {object: {kind: Deployment, name: small}, expect: admit}
mapTestSuites:
- policy: replicas
  tests:
  - {object: {kind: Deployment, name: small}, expect: mutate, expectObject: {kind: Deployment, name: next}}
";
    let folder = folder().with("old.yaml", old).with("new.yaml", new);
    let (exit, out) = gavel(&folder, &["./old.yaml", "./new.yaml"]);
    let expected = "\
ok     old.yaml: replicas: CREATE Deployment small: admit
ok     old.yaml: replicas: UPDATE Deployment next: admit
ok     new.yaml: replicas: CREATE Deployment small: admit
ok     new.yaml: replicas: CREATE Deployment small: mutate
";
    assert_eq!((exit, out.as_str()), (Exit::Success, expected));
}

#[test]
fn validating_policies_have_the_result_of_kaptest() {
    for (policy, test, expected) in [
        // The failurePolicy is Ignore, and an error wins over the false validation.
        (
            "replicas",
            "object: {kind: Deployment, name: large, namespace: b}, expect: error",
            "",
        ),
        (
            "replicas",
            "object: {kind: Deployment, name: large, namespace: b}, expect: deny",
            "    decision:\n      - deny\n      + error\n    message:\n      + - \"too large\"\n      + - \"expression 'object.spec.replicas \\u003c 5' resulted in error: no such key: spec\"\n",
        ),
        (
            "replicas",
            "object: {kind: Deployment, name: large, namespace: a}, expect: deny, deniedMessage: at most 4",
            "",
        ),
        (
            "replicas",
            "object: {kind: Deployment, name: large, namespace: a}, expect: deny, deniedMessage: too small",
            "    message:\n      - too small\n      + - \"too large\"\n      + - \"at most 4\"\n",
        ),
        (
            "replicas",
            "object: {kind: Deployment, name: other}, expect: skip",
            "",
        ),
        (
            "replicas",
            "object: {kind: Deployment, name: other}, expect: admit",
            "    decision:\n      - allow\n      + skip\n",
        ),
        // Failing audit annotations do not count.
        (
            "audited",
            "object: {kind: Deployment, name: small}, userInfo: {name: a, extra: {team: [a]}}, expect: admit",
            "",
        ),
        (
            "limits",
            "object: {kind: Deployment, name: small}, param: {name: small}, expect: admit",
            "",
        ),
        (
            "limits",
            "object: {kind: Deployment, name: next}, param: {name: small, namespace: elsewhere}, expect: admit",
            "",
        ),
    ] {
        let test = format!("{{{test}}}");
        assert_eq!(run("testSuites", policy, &test), expected, "{test}");
        assert_eq!(run("vapTestSuites", policy, &test), expected, "{test}");
    }
}

#[test]
fn mutating_policies_have_the_result_of_kaptest() {
    for (policy, test, expected) in [
        (
            "replicas",
            "object: {kind: Deployment, name: small}, expect: mutate, expectObject: {kind: Deployment, name: next}, disableNameOverwrite: true",
            "    object:\n        apiVersion: apps/v1",
        ),
        (
            "failing",
            "object: {kind: Deployment, name: small}, param: {name: shop}, expect: error",
            "",
        ),
        (
            "replicas",
            "object: {kind: ConfigMap, name: small}, expect: skip",
            "",
        ),
        (
            "replicas",
            "object: {kind: ConfigMap, name: small}, expect: mutate, expectObject: {kind: ConfigMap, name: small}",
            "    decision:\n      - allow\n      + skip\n",
        ),
        (
            "replicas",
            "oldObject: {kind: Deployment, name: small}, expect: error",
            "",
        ),
        (
            "replicas",
            "oldObject: {kind: Deployment, name: small}, expect: skip",
            "    a test of a mutating policy without object must expect error\n",
        ),
        (
            "replicas",
            "object: {kind: Deployment, name: small}, expect: mutate, expectObject: {kind: Deployment, name: typo}",
            "    no resource is the Deployment \"typo\"\n",
        ),
    ] {
        let found = run("mapTestSuites", policy, &format!("{{{test}}}"));
        assert!(
            found.starts_with(expected) && found.is_empty() == expected.is_empty(),
            "{test}\n{found}"
        );
    }
}

#[test]
fn custom_resources_are_mutated_by_the_schema_of_their_definition() {
    let definition = "\
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: shops.example.com}, spec: {
  group: example.com, scope: Namespaced, names: {plural: shops, kind: Shop}, versions: [{name: v1, served: true, storage: true,
  schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {tags: {
    type: array, x-kubernetes-list-type: set, items: {type: string}}}}}}}}]}}";
    let policy = "\
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: tags}, spec: {
  matchConstraints: {resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*']}]},
  reinvocationPolicy: Never, mutations: [{patchType: ApplyConfiguration, applyConfiguration: {
    expression: \"Object{spec: Object.spec{tags: ['b']}}\"}}]}}";
    let resources = "\
{apiVersion: example.com/v1, kind: Shop, metadata: {name: one}, spec: {tags: [a]}}
---
{apiVersion: example.com/v1, kind: Shop, metadata: {name: both}, spec: {tags: [a, b]}}
";
    let suite = "\
policies: [policy.yaml]
resources: [shops.yaml]
crds: [definition.yaml]
mapTestSuites:
- policy: tags
  tests: [{object: {kind: Shop, name: one}, expect: mutate, expectObject: {kind: Shop, name: both}}]
";
    let folder = TestFolder::new()
        .with("policy.yaml", policy)
        .with("definition.yaml", definition)
        .with("shops.yaml", resources)
        .with("kaptest.yaml", suite);
    let (exit, out) = gavel(&folder, &["./kaptest.yaml"]);
    assert_eq!(exit, Exit::Success, "{out}");
}

#[test]
fn what_is_not_given_fails_the_test() {
    let object = "object: {kind: Deployment, name: small}";
    for (suites, policy, test, expected) in [
        (
            "vapTestSuites",
            "typo",
            "expect: skip",
            "the ValidatingAdmissionPolicy \"typo\" is not given",
        ),
        (
            "mapTestSuites",
            "limits",
            "expect: skip",
            "the MutatingAdmissionPolicy \"limits\" is not given",
        ),
        (
            "testSuites",
            "limits",
            "param: {name: typo}, expect: deny",
            "no resource is the ConfigMap \"typo\"",
        ),
        (
            "testSuites",
            "limits",
            "expect: deny",
            "param must be set, because the policy has a paramKind",
        ),
        (
            "testSuites",
            "replicas",
            "oldObject: {kind: Deployment, name: typo}, expect: deny",
            "no resource is the Deployment \"typo\"",
        ),
        (
            "testSuites",
            "replicas",
            "oldObject: {group: extensions, kind: Deployment, name: next}, expect: deny",
            "no resource is the Deployment \"next\"",
        ),
        (
            "testSuites",
            "replicas",
            "oldObject: {kind: Deployment, name: large}, expect: deny",
            "several resources are the Deployment \"large\"",
        ),
        (
            "testSuites",
            "replicas",
            "oldObject: {kind: Deployment, name: other}, expect: deny",
            "object and oldObject must have the same namespace",
        ),
    ] {
        let found = run(suites, policy, &format!("{{{object}, {test}}}"));
        assert_eq!(found, format!("    {expected}\n"), "{test}");
    }
}

#[test]
fn problems_have_their_position_and_the_other_tests_run() {
    let suite = "\
version: v1alpha1
policies: [policies.yaml]
resources: [resources.yaml]
vapTestSuites:
- policy: replicas
  tests:
  - {object: {kind: Deployment, name: small}, expect: admit}
  - {object: {kind: Deployment, name: small}, params: {name: small}, expect: warn}
  - {object: {name: small}}
  - {expect: deny, userInfo: {user: a, extra: {b: [1]}}}
mapTestSuites:
- policy: replicas
  tests:
  - {object: {kind: Deployment, name: small}, expect: mutate}
  - {object: {kind: Deployment, name: small}, expect: ''}
";
    let expected = "\
8:47: unknown field \"vapTestSuites[0].tests[1].params\"; did you mean param?
8:78: vapTestSuites[0].tests[1].expect: must be admit, deny, error or skip, but is \"warn\"
9:5: vapTestSuites[0].tests[2]: expect must be set
9:14: vapTestSuites[0].tests[2].object: kind must be set
10:5: vapTestSuites[0].tests[3]: object or oldObject must be set
10:31: unknown field \"vapTestSuites[0].tests[3].userInfo.user\"
10:51: vapTestSuites[0].tests[3].userInfo.extra.b: must be a list of strings
14:5: mapTestSuites[0].tests[0]: expectObject must be set, because expect is mutate
15:55: mapTestSuites[0].tests[1].expect: must be mutate, error or skip, but is \"\"";
    let folder = folder().with("kaptest.yaml", suite);
    assert_eq!(problems(&folder, suite), expected);
    let (exit, out) = gavel(&folder, &["./kaptest.yaml"]);
    let passed = "ok     kaptest.yaml: replicas: CREATE Deployment small: admit\n";
    assert_eq!((exit, out.as_str()), (Exit::Usage, passed));
    for (of_file, expected) in [
        (
            "version: v2\npolicies: [policies.yaml]\ncrds: ['https://example.com/crd.yaml']",
            "1:10: version: must be v1alpha1, but is \"v2\"\n3:8: crds[0]: must be the path of a file: Gavel does not read URLs",
        ),
        (
            "resources: [1]",
            "1:1: policies must be set\n1:13: resources[0]: must be the path of a file",
        ),
        (
            "validatingAdmissionPolicies: [policies.yaml]",
            "1:1: unknown field \"validatingAdmissionPolicies\"\n1:1: policies must be set",
        ),
    ] {
        let suite = format!("{of_file}\nvapTestSuites: []\n");
        assert_eq!(problems(&folder, &suite), expected);
    }
}
