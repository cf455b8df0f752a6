//! What failing tests print, and tests that cannot run.

use super::{POLICY, TESTS, folder, gavel};
use crate::commands::tests::TestFolder;
use crate::exit_code::Exit;

#[test]
fn mismatches_are_shown_as_a_difference() {
    let tests = TESTS
        .replace("at most 5}", "at most 4}")
        .replace("expect: skip", "expect: deny");
    let folder = folder().with("tests.yaml", &tests);
    let (exit, out) = gavel(&folder, &["./tests.yaml", "--filter", "a"]);
    let expected = "\
FAILED tests.yaml: many
    message:
      - at most 4
      + - \"at most 5 replicas\"
ok     tests.yaml: none said
FAILED tests.yaml: a pod
    decision:
      - deny
      + skip
";
    assert_eq!((exit, out.as_str()), (Exit::Rejected, expected));
}

#[test]
fn an_unexpected_denial_has_its_message() {
    let tests = TESTS.replace("{decision: deny, message: at most 5}", "allow");
    let folder = folder().with("tests.yaml", &tests);
    let args = ["./tests.yaml", "--filter", "many"];
    let (_, out) = gavel(&folder, &args);
    let expected = "\
FAILED tests.yaml: many
    decision:
      - allow
      + deny
    message:
      + - \"at most 5 replicas\"
";
    assert_eq!(out, expected);
    let (_, out) = gavel(&folder, &[&args[..], &["-o", "github"]].concat());
    let expected = "many: decision: expected allow, got deny%0Amessage: [\"at most 5 replicas\"]\n";
    assert!(out.ends_with(expected), "{out}");
}

#[test]
fn either_object_is_the_object_of_a_deletion() {
    let policy = POLICY
        .replace("[CREATE, UPDATE]", "[DELETE]")
        .replace("object.", "oldObject.");
    let object = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: forbidden}}";
    let tests = format!(
        "kind: PolicyTest\ngiven: [policy.yaml]\ntests:
- {{name: a, operation: DELETE, object: {object}, expect: {{message: another name}}}}
- {{name: b, operation: DELETE, oldObject: {object}, expect: {{message: another name}}}}\n"
    );
    let folder = TestFolder::new()
        .with("policy.yaml", &policy)
        .with("tests.yaml", &tests);
    let (exit, out) = gavel(&folder, &["./tests.yaml"]);
    assert_eq!(exit, Exit::Success, "{out}");
}

#[test]
fn tests_need_a_policy() {
    let definition = "\
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: shops.example.com}, spec: {
  group: example.com, scope: Namespaced, names: {plural: shops, kind: Shop},
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}";
    for (given, expected) in [
        ("", "    no policy is given\n"),
        (
            definition,
            "    no policy is given, and no CustomResourceDefinition of apps/v1 Deployment\n",
        ),
    ] {
        let tests = format!("kind: PolicyTest\ngiven: [{given}]\n{TESTS}");
        let tests = tests.replace("kind: PolicyTest\ngiven: [policy.yaml]\n", "");
        let folder = TestFolder::new().with("tests.yaml", &tests);
        let (_, out) = gavel(&folder, &["./tests.yaml", "--filter", "few"]);
        assert_eq!(out, format!("FAILED tests.yaml: few\n{expected}"));
    }
}

#[test]
fn a_mutating_policy_that_fails_is_an_error() {
    let policy = "\
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: replicas}, spec: {
  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]},
  reinvocationPolicy: Never, mutations: [{patchType: ApplyConfiguration, applyConfiguration: {
    expression: 'Object{spec: Object.spec{replicas: object.spec.nothing}}'}}]}}";
    let tests = TESTS.replace("{decision: deny, message: at most 5}", "error");
    let folder = folder()
        .with("policy.yaml", policy)
        .with("tests.yaml", &tests);
    let (exit, out) = gavel(&folder, &["./tests.yaml", "--filter", "many"]);
    assert_eq!(exit, Exit::Success, "{out}");
}
