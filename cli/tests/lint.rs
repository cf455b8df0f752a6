//! `gavel lint`, run as a user runs it.
#![cfg(test)]

#[expect(dead_code, reason = "some of it is for `gavel serve`")]
mod program;

use std::path::Path;

use program::{Folder, definition, gavel};

const SCHEMA: &str = "        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
              hosts: {type: array, maxItems: 10, items: {type: string, maxLength: 253}}
              notes: {type: array, items: {type: string}}
";

/// What a kind of another API server is, as `kubectl get --raw` prints it.
const OPENAPI: &str = r##"{
    "paths": {
        "/apis/apps.example/v1/namespaces/{namespace}/machines": {
            "get": {"x-kubernetes-group-version-kind": {"group": "apps.example", "version": "v1", "kind": "Machine"}}
        }
    },
    "components": {"schemas": {
        "Machine": {
            "type": "object",
            "properties": {"spec": {"allOf": [{"$ref": "#/components/schemas/MachineSpec"}]}},
            "x-kubernetes-group-version-kind": [{"group": "apps.example", "version": "v1", "kind": "Machine"}]
        },
        "MachineSpec": {"type": "object", "properties": {"cores": {"type": "integer"}}}
    }}
}"##;

/// A policy about a resource; `more` is the rest of its `spec`.
fn policy(group: &str, resource: &str, more: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: sizes
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [\"{group}\"]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [\"{resource}\"]
{more}"
    )
}

/// A policy, and what it may be about.
fn folder(policy: &str) -> Folder {
    Folder::new()
        .with("crd.yaml", &definition(SCHEMA))
        .with("openapi.json", OPENAPI)
        .with("policies/policy.yaml", policy)
}

/// The exit status, standard output and standard error of a run about the policies.
fn lint(folder: &Folder, args: &[&str]) -> (i32, String, String) {
    let about = ["lint", "--policies", "policies", "--crd", "crd.yaml"];
    gavel(folder.path(), &[&about, args].concat(), "")
}

#[test]
fn a_good_policy_has_no_findings() {
    let more = "  validations:
  - expression: object.spec.size < 5 && object.metadata.labels.size() > 0
    messageExpression: \"'too large: ' + string(object.spec.size)\"
";
    let folder = folder(&policy("example.com", "things", more));
    let expected = (0, String::new(), "1 object, 0 findings\n".to_owned());
    assert_eq!(lint(&folder, &[]), expected);
}

#[test]
fn each_finding_is_a_line_with_its_place() {
    let more = "  variables:
  - name: hosts
    expression: object.spec.host
  - name: spec
    expression: object.spec
  matchConditions:
  - name: sized
    expression: has(object.spec.sizes)
  validations:
  - expression: |
      object.spec.size < 5 &&
        variables.spec.sise > 1
  - expression: object.spec.notes.all(n, !n.contains('TODO'))
  - expression: object.spec.size + 1
    reason: Nonsense
  auditAnnotations:
  - key: size
    valueExpression: string(object.spec.siz)
  extra: 1
";
    let folder = folder(&policy("example.com", "things", more));
    let (code, out, err) = lint(&folder, &[]);
    let expected = [
        "30:10: unknown field \"spec.extra\"",
        "25:17: spec.validations[2].expression: Invalid value: \"object.spec.size + 1\": must evaluate to bool but got int",
        "26:13: spec.validations[2].reason: Unsupported value: \"Nonsense\": supported values: \"Forbidden\", \"Invalid\", \"RequestEntityTooLarge\"",
        "14:28: spec.variables[0].expression: undefined field 'host' (example.com/v1 Thing)",
        "19:20: spec.matchConditions[0].expression: undefined field 'sizes' (example.com/v1 Thing)",
        "23:23: spec.validations[0].expression: undefined field 'sise' (example.com/v1 Thing)",
        "29:40: spec.auditAnnotations[0].valueExpression: undefined field 'siz' (example.com/v1 Thing)",
        "24:17: spec.validations[1].expression: may cost up to 329858626354 units, and is ended at 1000000 (example.com/v1 Thing)",
    ];
    let expected = expected.map(|line| format!("policies/policy.yaml:{line}\n"));
    assert_eq!(out, expected.concat());
    assert_eq!((code, err.as_str()), (1, "1 object, 8 findings\n"));
}

#[test]
fn what_is_not_known_is_said_to_be_unchecked() {
    let more = "  paramKind: {apiVersion: example.com/v1, kind: Limit}
  validations:
  - expression: object.spec.core < params.most
";
    let unchecked = |reason: &str| {
        format!(
            "warning: policies/policy.yaml:8:7: spec.matchConstraints.resourceRules[0]: {reason}\n"
        )
    };
    let params = "warning: policies/policy.yaml:12:14: spec.paramKind: the schema of example.com/v1 Limit is not known\n";
    let check = |group: &str, resource: &str, reason: &str| {
        let folder = folder(&policy(group, resource, more));
        let (code, out, err) = lint(&folder, &[]);
        assert_eq!((code, out.as_str()), (0, ""), "{resource}");
        let expected = format!("{params}{}1 object, 0 findings\n", unchecked(reason));
        assert_eq!(err, expected, "{resource}");
    };
    check(
        "apps.example",
        "machines",
        "the schema of machines.apps.example in v1 is not known",
    );
    check(
        "*",
        "things",
        "a wildcard in apiGroups or apiVersions names no kinds",
    );
    check(
        "example.com",
        "things/status",
        "the resource \"things/status\" is a subresource, which names no kind",
    );
    let folder = folder(&policy("apps.example", "machines", more));
    let (code, out, err) = lint(&folder, &["--openapi", "openapi.json"]);
    assert_eq!(
        out,
        "policies/policy.yaml:14:28: spec.validations[0].expression: undefined field 'core' (apps.example/v1 Machine)\n"
    );
    assert_eq!(code, 1);
    assert_eq!(err, format!("{params}1 object, 1 finding\n"));
}

#[test]
fn costs_are_shown_kind_by_kind() {
    let more = "  variables:
  - name: hosts
    expression: object.spec.?hosts.orValue([])
  validations:
  - expression: variables.hosts.all(h, h.endsWith('.example.com'))
  - expression: \"'admins' in request.userInfo.groups\"
  - expression: object.spec.siz < 5
";
    let folder = folder(&policy("example.com", "things", more));
    let (_, out, _) = lint(&folder, &["--cost"]);
    let (_, table) = out.split_once("Thing)\n").unwrap();
    let rows = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            "ValidatingAdmissionPolicy sizes, example.com/v1 Thing:",
            "spec.variables[0].expression 14 of 1000000",
            "spec.validations[0].expression 63 of 1000000",
            "spec.validations[1].expression unbounded of 1000000",
            "spec.validations[2].expression unknown of 1000000",
            "spec.validations unknown of 10000000",
        ]
    );
}

#[test]
fn smaller_objects_cost_less() {
    let more = "  validations:
  - expression: object.spec.notes.all(n, n != 'a')
";
    let folder = folder(&policy("example.com", "things", more));
    assert_eq!(lint(&folder, &[]).0, 1);
    let (_, out, _) = lint(&folder, &["--max-object", "1024", "--cost"]);
    assert!(out.contains(" 2564 of   1000000\n"), "{out}");
}

#[test]
fn mutating_policies_are_checked_and_costed() {
    let more = "  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: \"Object{spec: Object.spec{size: object.spec.sise}}\"}
  - patchType: JSONPatch
    jsonPatch:
      expression: |
        object.spec.notes.map(n, JSONPatch{op: 'add', path: '/spec/hosts/-', value: n.replace('a', 'b')})
  reinvocationPolicy: Never
";
    let policy = policy("example.com", "things", more).replace("Validating", "Mutating");
    let folder = folder(&policy);
    let (code, out, err) = lint(&folder, &["--cost"]);
    let told = [
        "spec.mutations[0].applyConfiguration.expression: undefined field 'sise' (example.com/v1 Thing)\n",
        "spec.mutations[1].jsonPatch.expression: may cost up to ",
        "MutatingAdmissionPolicy sizes, example.com/v1 Thing:\n",
        "  spec.mutations[1]   ",
    ];
    for told in told {
        assert!(out.contains(told), "{told}\n{out}");
    }
    assert_eq!((code, err.as_str()), (1, "1 object, 2 findings\n"));
}

#[test]
fn json_is_an_object_a_line() {
    let more = "  validations:
  - expression: object.spec.siz < 5
";
    let folder = folder(&policy("example.com", "things", more));
    let (code, out, err) = lint(&folder, &["--cost", "--output", "json"]);
    let lines: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let fault = serde_json::json!({
        "file": "policies/policy.yaml", "line": 13, "column": 28,
        "kind": "ValidatingAdmissionPolicy", "name": "sizes", "check": "types",
        "field": "spec.validations[0].expression", "kinds": ["example.com/v1 Thing"],
        "message": "undefined field 'siz'",
    });
    let estimate = serde_json::json!({
        "file": "policies/policy.yaml", "line": 13, "column": 17,
        "kind": "ValidatingAdmissionPolicy", "name": "sizes", "check": "estimate",
        "field": "spec.validations[0].expression", "kinds": ["example.com/v1 Thing"],
        "estimate": "unknown", "min": null, "max": null, "limit": 1_000_000,
    });
    assert_eq!(lines.get(..2).unwrap(), [fault, estimate]);
    assert_eq!((code, err.as_str()), (1, ""));
}

#[test]
fn a_group_that_costs_too_much_is_told_where_no_expression_does() {
    let expression = "  - expression: object.spec.hosts.all(h, object.spec.hosts.all(i, object.spec.hosts.all(j, h.startsWith(j))))\n";
    let more = format!("  validations:\n{}", expression.repeat(100));
    let folder = folder(&policy("example.com", "things", &more));
    let (code, out, _) = lint(&folder, &[]);
    let expected = "policies/policy.yaml:13:5: spec.validations: may cost up to ";
    assert!(out.starts_with(expected), "{out}");
    assert!(
        out.ends_with("units together, and the policy fails at 10000000 (example.com/v1 Thing)\n"),
        "{out}"
    );
    assert_eq!((code, out.lines().count()), (1, 1));
}

#[test]
fn what_cannot_be_used_is_told_and_the_rest_is_looked_at() {
    let more = "  validations:
  - expression: object.spec.siz < 5
";
    let folder = folder(&policy("example.com", "things", more));
    folder.write("policies/inner/broken.yaml", "a: [\n");
    let (code, _, _) = lint(&folder, &[]);
    assert_eq!(code, 1, "folders in folders are not read");
    let (code, out, err) = lint(&folder, &["-R", "--openapi", "crd.yaml"]);
    assert_eq!(code, 2);
    assert!(out.contains("undefined field 'siz'"), "{out}");
    assert!(err.contains("policies/inner/broken.yaml:1:4: "), "{err}");
    assert!(
        err.contains("crd.yaml: must be an OpenAPI v3 document"),
        "{err}"
    );
    let (code, _, err) = lint(&folder, &["--policies", "crd.yaml"]);
    assert_eq!(code, 1, "what is no policy is passed over: {err}");
}

#[test]
fn the_examples_of_the_documentation_are_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let documentation = std::fs::read_to_string(root.join("docs/lint.md")).unwrap();
    let folder = root.join("testdata/lint");
    let run = |more: &[&str]| {
        let about = ["lint", "--policies", "policy.yaml", "--crd", "crd.yaml"];
        gavel(&folder, &[&about, more].concat(), "")
    };
    let shown = |text: &str| assert!(documentation.contains(text), "{text}");
    let command = "$ gavel lint --policies policy.yaml --crd crd.yaml";
    let (_, out, err) = run(&[]);
    shown(&format!("```\n{command}\n{out}{err}```\n"));
    let (_, with_costs, _) = run(&["--cost"]);
    let costs = with_costs.strip_prefix(&out).unwrap();
    shown(&format!("```\n{command} --cost\n…\n{costs}```\n"));
    let (_, lines, _) = run(&["--output", "json"]);
    let types = lines.lines().find(|line| line.contains("\"types\""));
    shown(&format!("```json\n{}\n```\n", types.unwrap()));
}
