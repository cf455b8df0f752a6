//! The test files of the Kyverno CLI.

use super::{gavel, problems};
use crate::commands::tests::TestFolder;
use crate::exit_code::Exit;

const POLICIES: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: owned}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {env: prod}}
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: object.data.owner == request.userInfo.username}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: owned}
spec: {policyName: owned, validationActions: [Deny]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: label}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: \"Object{metadata: Object.metadata{labels: {'a': 'b'}}}\"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: label}
spec: {policyName: label}
---
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: require-labels}
spec: {rules: []}
";

const SUITE: &str = "\
apiVersion: cli.kyverno.io/v1alpha1
kind: Test
metadata: {name: suite}
policies: [policies.yaml]
resources: [resources.yaml]
variables: values.yaml
userinfo: user.yaml
results:
- {policy: owned, kind: ConfigMap, resources: [prod/mine], isValidatingAdmissionPolicy: true, result: pass}
- {policy: owned, kind: ConfigMap, resources: [theirs], isValidatingAdmissionPolicy: true, result: fail}
- {policy: owned, kind: ConfigMap, resources: [nobodys], isValidatingAdmissionPolicy: true, result: error}
- {policy: owned, kind: ConfigMap, resources: [elsewhere], isValidatingAdmissionPolicy: true, result: skip}
- {policy: label, resources: [mine], isMutatingAdmissionPolicy: true, patchedResources: patched.yaml, result: pass}
- {policy: owned, kind: ConfigMap, resources: [theirs], result: fail}
- {policy: owned, resources: [default/homeless], result: skip}
- {policy: owned, resources: [], resourceSpecs: [{version: v1, kind: ConfigMap, namespace: prod, name: theirs}], result: fail}
- {policy: owned, resources: [theirs], operation: DELETE, result: skip}
- {policy: team/require-labels, rule: labels, kind: ConfigMap, resources: [mine, theirs], patchedResources: none.yaml, result: warn}
";

fn folder() -> TestFolder {
    let config_map = |namespace: &str, name: &str, rest: &str| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{namespace: {namespace}, name: {name}{rest}}}\n"
        )
    };
    let resources = [
        config_map("prod", "mine", "}\ndata: {owner: alice"),
        config_map("prod", "theirs", "}\ndata: {owner: bob"),
        config_map("prod", "nobodys", ""),
        config_map("test", "elsewhere", ""),
        "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: homeless}}\n".to_owned(),
    ];
    let patched = config_map("prod", "mine", ", labels: {a: b}}\ndata: {owner: alice");
    let values = "\
apiVersion: cli.kyverno.io/v1alpha1
kind: Values
namespaceSelector: [{name: prod, labels: {env: prod}}, {name: test}]
";
    let user = "\
apiVersion: cli.kyverno.io/v1alpha1
kind: UserInfo
userInfo: {username: alice, groups: [users]}
";
    TestFolder::new()
        .with("policies.yaml", POLICIES)
        .with("resources.yaml", &resources.concat())
        .with("patched.yaml", &patched)
        .with("values.yaml", values)
        .with("user.yaml", user)
        .with("wrong.yaml", "userInfo: {username: [alice]}")
}

#[test]
fn suites_of_kyverno_run_as_they_are() {
    let folder = folder().with("kyverno-test.yaml", SUITE);
    let (exit, out) = gavel(&folder, &["./kyverno-test.yaml"]);
    let expected = "\
ok     kyverno-test.yaml: owned: ConfigMap mine: pass
ok     kyverno-test.yaml: owned: ConfigMap theirs: fail
ok     kyverno-test.yaml: owned: ConfigMap nobodys: error
ok     kyverno-test.yaml: owned: ConfigMap elsewhere: skip
ok     kyverno-test.yaml: label: ConfigMap mine: pass
ok     kyverno-test.yaml: owned: ConfigMap theirs: fail
ok     kyverno-test.yaml: owned: ConfigMap homeless: skip
ok     kyverno-test.yaml: owned: ConfigMap theirs: fail
ok     kyverno-test.yaml: owned: ConfigMap theirs: skip
skipped kyverno-test.yaml: require-labels: ConfigMap mine, theirs: warn
    Gavel does not evaluate the kind ClusterPolicy
";
    assert_eq!((exit, out.as_str()), (Exit::Success, expected));
}

#[test]
fn results_without_a_resource_or_policy_fail() {
    for (result, expected) in [
        (
            "policy: owned, kind: ConfigMap, resources: [typo]",
            "owned: ConfigMap typo: pass\n    no resource of the kind \"ConfigMap\" is named \"typo\"",
        ),
        (
            "policy: owned, kind: ConfigMpa, resources: [mine]",
            "owned: ConfigMpa mine: pass\n    no resource of the kind \"ConfigMpa\" is named \"mine\"",
        ),
        (
            "policy: owned, kind: Pod",
            "owned: Pod: pass\n    no resource has the kind \"Pod\"",
        ),
        (
            "policy: owned, resources: ['m*']",
            "owned: m*: pass\n    no resource is named \"m*\"",
        ),
        (
            "policy: owned, resources: [test/mine]",
            "owned: test/mine: pass\n    no resource is named \"test/mine\"",
        ),
        (
            "policy: typo, resources: [mine]",
            "typo: ConfigMap mine: pass\n    the policy \"typo\" is not given",
        ),
    ] {
        let (before, _) = SUITE.split_once("- {policy").unwrap();
        let suite = format!("{before}- {{{result}, result: pass}}\n");
        let folder = folder().with("kyverno-test.yaml", &suite);
        let (exit, out) = gavel(&folder, &["./kyverno-test.yaml"]);
        let expected = format!("FAILED kyverno-test.yaml: {expected}\n");
        assert_eq!((exit, out), (Exit::Rejected, expected));
    }
}

#[test]
fn an_error_is_no_failed_validation() {
    let suite = SUITE.replace("result: error", "result: fail");
    let folder = folder().with("kyverno-test.yaml", &suite);
    let (_, out) = gavel(&folder, &["./kyverno-test.yaml", "--filter", "nobodys"]);
    let expected = "    decision:\n      - deny\n      + error\n";
    assert!(out.contains(expected), "{out}");
}

#[test]
fn a_run_without_a_policy_of_kubernetes_is_no_success() {
    let (before, _) = SUITE.split_once("- {policy").unwrap();
    let suite = format!("{before}- {{policy: require-labels, result: pass}}\n");
    let folder = folder().with("kyverno-test.yaml", &suite);
    let name = "require-labels: pass";
    let reason = "Gavel does not evaluate the kind ClusterPolicy";
    for (output, expected) in [
        (
            "text",
            format!("skipped kyverno-test.yaml: {name}\n    {reason}\n"),
        ),
        (
            "json",
            format!("\"passed\":null,\"skipped\":\"{reason}\",\"test\":\"{name}\""),
        ),
        ("junit", format!("<skipped message=\"{reason}\"/>")),
        (
            "github",
            "::notice file=kyverno-test.yaml,line=9,col=3,".to_owned(),
        ),
        ("sarif", format!("{name}: skipped: {reason}")),
    ] {
        let (exit, out) = gavel(&folder, &["./kyverno-test.yaml", "-o", output]);
        assert_eq!(exit, Exit::Usage, "{out}");
        assert!(out.contains(&expected), "{output}: {out}");
    }
}

#[test]
fn tests_of_chainsaw_are_ignored() {
    let folder = folder().with(
        "chainsaw-test.yaml",
        "{apiVersion: chainsaw.kyverno.io/v1alpha1, kind: Test, spec: {steps: []}}",
    );
    let folder = folder.with(
        "kyverno-test.yaml",
        &SUITE.replace("cli.kyverno.io/v1alpha1", "kyverno.io/v1"),
    );
    let (exit, out) = gavel(&folder, &["./chainsaw-test.yaml", "./kyverno-test.yaml"]);
    assert_eq!(exit, Exit::Success, "{out}");
}

#[test]
fn problems_have_their_position_and_the_other_tests_run() {
    let wrong = SUITE
        .replace("result: error", "reslut: error, operation: CONNECT")
        .replace(
            "[elsewhere], isValidatingAdmissionPolicy: true, result: skip",
            "elsewhere, result: ''",
        )
        .replace("patched.yaml", "none.yaml");
    let expected = "\
11:3: results[2]: result must be set
11:93: unknown field \"results[2].reslut\"; did you mean result?
11:119: results[2].operation: must be CREATE, UPDATE or DELETE, but is \"CONNECT\"
12:47: results[3].resources: must be a list
12:66: results[3].result: must be pass, fail, skip or error, but is \"\"
13:89: results[4].patchedResources: FOLDER/none.yaml: No such file or directory";
    let folder = folder().with("kyverno-test.yaml", &wrong);
    assert_eq!(problems(&folder, &wrong), expected);
    let (exit, out) = gavel(&folder, &["./kyverno-test.yaml"]);
    assert_eq!(exit, Exit::Usage);
    assert_eq!(out.lines().count(), 8, "{out}");
    for (before, after, expected) in [
        (
            "resources.yaml",
            "https://example.com/a.yaml",
            "5:13: resources[0]: must be the path of a file: Gavel does not read URLs",
        ),
        (
            "values.yaml",
            "none.yaml",
            "6:12: variables: FOLDER/none.yaml: No such file or directory",
        ),
        (
            "userinfo: user.yaml",
            "values: {namespaceSelector: [{labels: {}}]}",
            "7:9: values: namespaceSelector: missing field `name`",
        ),
        (
            "userinfo: user.yaml",
            "userinfo: wrong.yaml",
            "7:11: userinfo: userInfo: invalid type: sequence, expected a string",
        ),
        (
            "metadata",
            "metdata",
            "3:1: unknown field \"metdata\"; did you mean metadata?",
        ),
        (
            "results:",
            "result:",
            "1:1: results must be set\n8:1: unknown field \"result\"; did you mean results?",
        ),
    ] {
        let suite = SUITE.replacen(before, after, 1);
        assert_eq!(problems(&folder, &suite), expected);
    }
}
