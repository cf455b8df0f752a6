//! `gavel test`, run in a folder of files.

use std::path::Path;

use gavel_check::suite::Suite;
use gavel_libraries::Server;
use gavel_manifest::{Format, read};

use crate::commands::tests::{TestFolder, run_in};
use crate::exit_code::Exit;

mod coverage;
mod definitions;
mod failing;
mod kaptest;
mod kyverno;

const POLICY: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replicas}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}
  validations:
  - expression: object.spec.?replicas.orValue(1) <= 5
    message: at most 5 replicas
  - expression: object.metadata.name != 'forbidden'
    message: another name, please
  auditAnnotations:
  - {key: replicas, valueExpression: 'string(object.spec.?replicas.orValue(1))'}
";

const TESTS: &str = "\
kind: PolicyTest
given: [policy.yaml]
object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 3}}
tests:
- name: few
  expect: {decision: allow, auditAnnotations: {replicas/replicas: '3'}}
- name: many
  set: {spec.replicas: 6}
  expect: {decision: deny, message: at most 5}
- name: none said
  remove: [spec.replicas]
  expect: allow
- name: a pod
  object: {apiVersion: v1, kind: Pod, metadata: {name: web}}
  expect: skip
";

fn folder() -> TestFolder {
    TestFolder::new().with("policy.yaml", POLICY).with(
        "tests/replicas.yaml",
        &TESTS.replace("policy.yaml", "../policy.yaml"),
    )
}

fn gavel(folder: &TestFolder, args: &[&str]) -> (Exit, String) {
    run_in(folder.path(), &[&["test"], args].concat())
}

#[test]
fn a_table_of_tests_passes() {
    let (exit, out) = gavel(&folder(), &["./tests"]);
    let expected = "\
ok     tests/replicas.yaml: few
ok     tests/replicas.yaml: many
ok     tests/replicas.yaml: none said
ok     tests/replicas.yaml: a pod
";
    assert_eq!((exit, out.as_str()), (Exit::Success, expected));
}

#[test]
fn the_names_of_files_are_safe_for_a_terminal() {
    let folder = folder().with("a\u{7}.yaml", TESTS);
    let (_, out) = gavel(&folder, &["./a\u{7}.yaml", "--filter", "few"]);
    assert_eq!(out, "ok     a\\u{7}.yaml: few\n");
}

#[test]
fn misspelled_paths_are_reported_at_the_path() {
    let misspelled = TESTS.replace("spec.replicas: 6", "spec.replica: 6");
    let folder = folder().with("tests.yaml", &misspelled);
    let (exit, out) = gavel(&folder, &["./tests.yaml", "-o", "github"]);
    let expected = "::error file=tests.yaml,line=8,col=9,endLine=8,endColumn=21,title=unknown-field::\
        test \"many\": set: unknown field \"spec.replica\"; did you mean replicas?\n";
    assert!(out.ends_with(expected), "{out}");
    assert_eq!(exit, Exit::Usage);
    let unknown_kind = misspelled
        .replace("apps/v1", "example.com/v1")
        .replace("expect:", "expect: skip\n  #");
    let folder = folder.with("tests.yaml", &unknown_kind);
    let (exit, out) = gavel(&folder, &["./tests.yaml", "-o", "github"]);
    let expected = "::warning file=tests.yaml,line=9,col=9,endLine=9,endColumn=21,title=unknown-field::\
        test \"many\": set: the object has no spec.replica; did you mean spec.replicas? ";
    assert!(out.starts_with(expected), "{out}");
    assert_eq!(exit, Exit::Success);
}

#[test]
fn unknown_fields_of_objects_are_warnings() {
    let misspelled = TESTS
        .replace("replicas: 3}", "replicas: 3, replica: 3}")
        .replace(
            "object: {apiVersion: v1, kind: Pod, metadata: {name: web}}",
            "object: {apiVersion: v1, kind: Pod, metadata: {nmae: web}}\n  oldObject: pod.yaml",
        );
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {node: a}}";
    let folder = folder()
        .with("tests.yaml", &misspelled)
        .with("pod.yaml", pod);
    let (exit, out) = gavel(&folder, &["./tests.yaml", "-o", "github"]);
    let expected = "\
::warning file=tests.yaml,line=3,col=92,endLine=3,endColumn=99,title=unknown-field::object: unknown field \"spec.replica\"; did you mean replicas?
::warning file=tests.yaml,line=14,col=50,endLine=14,endColumn=54,title=unknown-field::test \"a pod\": object: unknown field \"metadata.nmae\"; did you mean name?
::warning file=tests.yaml,line=15,col=3,endLine=15,endColumn=12,title=unknown-field::test \"a pod\": oldObject: unknown field \"spec.node\"
";
    assert_eq!((exit, out.as_str()), (Exit::Success, expected));
}

#[test]
fn the_valid_tests_of_a_file_run() {
    let tests = TESTS.replace("- name: many\n", "- name: many\n  usr: alice\n");
    let folder = folder().with("tests.yaml", &tests);
    let (exit, out) = gavel(&folder, &["./tests.yaml"]);
    let expected = "\
ok     tests.yaml: few
ok     tests.yaml: none said
ok     tests.yaml: a pod
";
    assert_eq!((exit, out.as_str()), (Exit::Usage, expected));
    // A problem outside of the tests may concern all of them.
    let folder = folder.with("tests.yaml", &tests.replace("given:", "usr: a\ngiven:"));
    assert_eq!(
        gavel(&folder, &["./tests.yaml"]),
        (Exit::Usage, String::new())
    );
}

#[test]
fn the_first_file_of_tests_passes() {
    let folder = folder().with("policies/policy.yaml", POLICY);
    let policy = folder.path().join("policies/policy.yaml");
    let policy = policy.display().to_string();
    let (exit, out) = gavel(&folder, &["--init", &policy]);
    assert_eq!(exit, Exit::Success);
    assert!(out.contains("kind: PolicyTest"), "{out}");
    assert!(out.contains("given:\n- policies/policy.yaml\n"), "{out}");
    let folder = folder.with("first.yaml", &out);
    let (exit, out) = gavel(&folder, &["./first.yaml"]);
    assert_eq!(exit, Exit::Success, "{out}");
    assert!(out.starts_with("ok     first.yaml: "), "{out}");
}

#[test]
fn the_first_file_of_tests_names_the_kinds_of_resources() {
    for (resource, kind) in [
        (
            "apiGroups: [storage.k8s.io], apiVersions: [v1], resources: [csidrivers]",
            "CSIDriver",
        ),
        (
            "apiGroups: [''], apiVersions: [v1], resources: [endpoints]",
            "Endpoints",
        ),
        (
            "apiGroups: [example.com], apiVersions: [v1], resources: [policies]",
            "Policy",
        ),
    ] {
        let policy = format!(
            "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: kinds}}
spec:
  matchConstraints: {{resourceRules: [{{{resource}, operations: [CREATE]}}]}}
  validations: [{{expression: object.metadata.name != ''}}]
"
        );
        let folder = folder().with("kinds.yaml", &policy);
        let path = folder.path().join("kinds.yaml").display().to_string();
        let (_, out) = gavel(&folder, &["--init", &path]);
        assert!(out.contains(&format!("kind: {kind}\n")), "{out}");
    }
}

#[test]
fn the_first_test_of_a_mutating_policy_expects_the_mutated_object() {
    let policy = "\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: labels}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: \"Object{metadata: Object.metadata{labels: {'a': 'b'}}}\"}
";
    let folder = folder().with("labels.yaml", policy);
    let path = folder.path().join("labels.yaml").display().to_string();
    let (exit, tests) = gavel(&folder, &["--init", &path]);
    assert_eq!(exit, Exit::Success);
    let folder = folder.with("first.yaml", &tests);
    assert_eq!(gavel(&folder, &["./first.yaml"]).0, Exit::Success);
    let folder = folder.with("labels.yaml", &policy.replace("'a': 'b'", "'a': 'c'"));
    assert_eq!(
        gavel(&folder, &["./first.yaml"]).0,
        Exit::Rejected,
        "{tests}"
    );
}

#[test]
fn reviews_and_updates_are_tested_too() {
    let tests = "\
kind: PolicyTest
given:
- policy.yaml
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  metadata: {name: replicas}
  spec: {policyName: replicas, validationActions: [Warn]}
tests:
- name: a review
  review:
    request:
      uid: '1'
      operation: UPDATE
      kind: {group: apps, version: v1, kind: Deployment}
      resource: {group: apps, version: v1, resource: deployments}
      name: web
      namespace: default
      object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 6}}
      oldObject: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 6}}
  expect: {decision: allow, warnings: [at most 5 replicas]}
- name: a deletion
  operation: DELETE
  object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}
  expect: skip
";
    let folder = folder().with("reviews.yaml", tests);
    let (exit, out) = gavel(&folder, &["./reviews.yaml"]);
    assert_eq!(exit, Exit::Success, "{out}");
    assert_eq!(out.lines().count(), 2, "{out}");
}

#[test]
fn problems_of_suites_name_the_field_and_its_position() {
    for (tests, expected) in [
        (
            "[{name: a, object: {}, expct: allow, expect: {decison: allow, mesage: no}}]",
            "3:31: unknown field \"tests[0].expct\"; did you mean expect?
3:54: unknown field \"tests[0].expect.decison\"; did you mean decision?
3:70: unknown field \"tests[0].expect.mesage\"; did you mean message?",
        ),
        (
            "[{name: a, object: {}, expect: {decision: [allow]}}]\napiVersion: gavel/v1",
            "3:50: tests[0].expect.decision: must be a string",
        ),
        (
            "[{name: a, object: {}, user: 1, expect: deny}, {name: b, object: {}}]",
            "3:37: tests[0].user: must be a string
3:55: tests[1]: expect must be set",
        ),
        (
            "[{name: a, object: {}, expect: {auditAnnotations: {count: '1', replicas/count: 1}}}]",
            "3:66: tests[0].expect.auditAnnotations.count: the key must be POLICY/KEY, such as replicas/count
3:87: tests[0].expect.auditAnnotations.replicas/count: must be a string",
        ),
        (
            "[{name: a, object: {}, operation: UPDATE, expect: allow}, {name: b, object: {}, subresource: status, expect: allow}, {name: c, object: {}, subresource: scale, expect: allow}]",
            "3:42: tests[0].operation: test \"a\": UPDATE needs an oldObject, which an API server always sends
3:101: tests[1].subresource: test \"b\": the subresource status can only be updated, which needs an oldObject
3:160: tests[2].subresource: must be status, but is \"scale\"; others need a review",
        ),
        (
            "[{name: a, object: {}, expect: {}}, {name: b, object: {}, expect: {decision: null, message: ''}}]",
            "3:39: tests[0].expect: must have decision, message, warnings, auditAnnotations, object, stored or patch
3:74: tests[1].expect: must have decision, message, warnings, auditAnnotations, object, stored or patch",
        ),
        ("{}", "3:8: tests: must be a list"),
        ("[a]", "3:9: tests[0]: must be an object"),
        (
            "[{name: a, object: {}, given: [policy.yaml, 1], expect: allow}]",
            "3:52: tests[0].given[1]: must be the path of a file, or an object",
        ),
        (
            "[{name: a, object: none.yaml, set: {spec.replicas: 6, 'spec[': 1}, expect: never}]\nuser: 1",
            "3:27: tests[0].object: FOLDER/none.yaml: No such file or directory
3:71: tests[0].set.spec[: test \"a\": \"spec[\" must be a path such as spec.containers[0].image
3:83: tests[0].expect: must be allow, deny, error or skip, but is \"never\"
4:7: user: must be a string",
        ),
        (
            "[]\napiVersion: gavel/v2",
            "4:13: apiVersion: must be gavel/v1, but is \"gavel/v2\"",
        ),
        (
            "[{name: a, review: {request: {}}, set: {spec.replicas: 6}, expect: allow}]",
            "3:9: tests[0]: test \"a\": only name, given and expect may be set beside review, which is the whole request",
        ),
        (
            "[{name: a, review: {request: {}}, user: alice, expect: allow}]",
            "3:9: tests[0]: test \"a\": only name, given and expect may be set beside review, which is the whole request",
        ),
    ] {
        let suite = format!("kind: PolicyTest\ngiven: [policy.yaml]\ntests: {tests}\n");
        assert_eq!(problems(&folder(), &suite), expected);
    }
    for (suite, expected) in [
        ("kind: PolicyTest\n", "1:1: tests must be set"),
        (
            "{apiVersion: gavel/v1, kind: PolicyTests, tests: []}",
            "1:30: kind: must be PolicyTest, but is \"PolicyTests\"",
        ),
        ("{apiVersion: gavel/v1, tests: []}", "1:1: kind must be set"),
    ] {
        assert_eq!(problems(&folder(), suite), expected);
    }
}

/// The problems of a test file in a folder, one per line.
fn problems(folder: &TestFolder, suite: &str) -> String {
    let document = read(suite, Format::Yaml).all().unwrap().remove(0);
    let path = folder.path().join("test.yaml");
    let problems = match Suite::read(&document, Server::default(), &super::Beside(&path)) {
        Ok(suite) => suite.problems,
        Err(problems) => problems,
    };
    let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
    let folder = folder.path().display().to_string();
    problems.join("\n").replace(&folder, "FOLDER")
}

#[test]
fn no_test_is_no_success() {
    let nothing = (Exit::Usage, String::new());
    assert_eq!(gavel(&folder(), &["./policy.yaml"]), nothing);
    let empty = "apiVersion: gavel/v1\nkind: PolicyTest\ntests: []\n";
    for none in [
        empty,
        "{apiVersion: gavel/v1, kind: PolicyTests, tests: []}",
    ] {
        let folder_of_none = folder().with("none.yaml", none);
        assert_eq!(gavel(&folder_of_none, &["./none.yaml"]), nothing);
    }
    let args = ["./tests", "--coverage", "--filter", "nothing like it"];
    assert_eq!(gavel(&folder(), &args), nothing);
}

/// Runs the tests of the policies in `policies/`.
#[test]
fn the_policies_to_start_from_pass_their_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (exit, out) = run_in(&root, &["test", "./policies/tests"]);
    assert_eq!(exit, Exit::Success, "{out}");
}

#[test]
fn an_expected_object_may_omit_only_the_namespace_of_the_request() {
    let policy = "\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: move}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - {apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: \"[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}] + (
        object.metadata.name == 'bad' ? [JSONPatch{op: 'replace', path: '/metadata/namespace', value: 'evil'}] : [])\"
";
    let check = |name: &str, namespace: &str, exit: Exit, shown: &str| {
        let test = format!(
            "kind: PolicyTest
given: [policy.yaml]
object: {{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}{namespace}}}}}
tests:
- name: move
  expect: {{object: {{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}, labels: {{a: b}}}}}}}}
"
        );
        let folder = TestFolder::new()
            .with("policy.yaml", policy)
            .with("test.yaml", &test);
        let (found, out) = gavel(&folder, &["./test.yaml"]);
        assert_eq!(found, exit, "{out}");
        assert!(out.contains(shown), "{out}");
    };
    check("good", "", Exit::Success, "ok ");
    check("good", ", namespace: prod", Exit::Success, "ok ");
    check("bad", "", Exit::Rejected, "+   namespace: evil\n");
    check(
        "bad",
        ", namespace: prod",
        Exit::Rejected,
        "+   namespace: evil\n",
    );
}
