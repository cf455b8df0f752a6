//! `gavel lint`, run as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::path::PathBuf;
use std::process::Command;

const DEFINITION: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.example.com
spec:
  group: example.com
  names: {plural: things, kind: Thing}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
              hosts: {type: array, maxItems: 10, items: {type: string, maxLength: 253}}
              notes: {type: array, items: {type: string}}
"#;

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

/// A folder of files, which goes away with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, policy: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("lint-{name}"));
        std::fs::create_dir_all(folder.join("policies/inner")).unwrap();
        std::fs::write(folder.join("crd.yaml"), DEFINITION).unwrap();
        std::fs::write(folder.join("openapi.json"), OPENAPI).unwrap();
        std::fs::write(folder.join("policies/policy.yaml"), policy).unwrap();
        Folder(folder)
    }

    /// The exit status, standard output and standard error of a run about the policies.
    fn lint(&self, args: &[&str]) -> (Option<i32>, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_gavel"))
            .args(["lint", "--policies", "policies", "--crd", "crd.yaml"])
            .args(args)
            .current_dir(&self.0)
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

#[test]
fn a_good_policy_has_no_findings() {
    let more = "  validations:
  - expression: object.spec.size < 5 && object.metadata.labels.size() > 0
    messageExpression: \"'too large: ' + string(object.spec.size)\"
";
    let folder = Folder::new("good", &policy("example.com", "things", more));
    let expected = (Some(0), String::new(), "1 object, 0 findings\n".to_owned());
    assert_eq!(folder.lint(&[]), expected);
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
    let folder = Folder::new("lines", &policy("example.com", "things", more));
    let (code, out, err) = folder.lint(&[]);
    let expected = [
        "30:10: spec.extra: unknown field \"spec.extra\"",
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
    assert_eq!((code, err.as_str()), (Some(1), "1 object, 8 findings\n"));
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
        let folder = Folder::new("unchecked", &policy(group, resource, more));
        let (code, out, err) = folder.lint(&[]);
        assert_eq!((code, out.as_str()), (Some(0), ""), "{resource}");
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
    let folder = Folder::new("unchecked", &policy("apps.example", "machines", more));
    let (code, out, err) = folder.lint(&["--openapi", "openapi.json"]);
    assert_eq!(
        out,
        "policies/policy.yaml:14:28: spec.validations[0].expression: undefined field 'core' (apps.example/v1 Machine)\n"
    );
    assert_eq!(code, Some(1));
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
    let folder = Folder::new("costs", &policy("example.com", "things", more));
    let (_, out, _) = folder.lint(&["--cost"]);
    let (_, table) = out.split_once("Thing)\n").unwrap();
    let rows = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            "ValidatingAdmissionPolicy sizes, example.com/v1 Thing:",
            "spec.variables[0].expression 14 of 1000000",
            "spec.validations[0].expression 1063 of 1000000",
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
    let folder = Folder::new("smaller", &policy("example.com", "things", more));
    assert_eq!(folder.lint(&[]).0, Some(1));
    let (_, out, _) = folder.lint(&["--max-object", "1024", "--cost"]);
    assert!(out.contains(" 2564 of   1000000\n"), "{out}");
}

#[test]
fn json_is_an_object_a_line() {
    let more = "  validations:
  - expression: object.spec.siz < 5
";
    let folder = Folder::new("json", &policy("example.com", "things", more));
    let (code, out, err) = folder.lint(&["--cost", "--output", "json"]);
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
    assert_eq!((code, err.as_str()), (Some(1), ""));
}

#[test]
fn a_group_that_costs_too_much_is_told_where_no_expression_does() {
    let expression = "  - expression: object.spec.hosts.all(h, object.spec.hosts.all(i, object.spec.hosts.all(j, h.startsWith(j))))\n";
    let more = format!("  validations:\n{}", expression.repeat(100));
    let folder = Folder::new("group", &policy("example.com", "things", &more));
    let (code, out, _) = folder.lint(&[]);
    let expected = "policies/policy.yaml:13:5: spec.validations: may cost up to ";
    assert!(out.starts_with(expected), "{out}");
    assert!(
        out.ends_with("units together, and the policy fails at 10000000 (example.com/v1 Thing)\n"),
        "{out}"
    );
    assert_eq!((code, out.lines().count()), (Some(1), 1));
}

#[test]
fn what_cannot_be_used_is_told_and_the_rest_is_looked_at() {
    let more = "  validations:
  - expression: object.spec.siz < 5
";
    let folder = Folder::new("unusable", &policy("example.com", "things", more));
    std::fs::write(folder.0.join("policies/inner/broken.yaml"), "a: [\n").unwrap();
    let (code, _, _) = folder.lint(&[]);
    assert_eq!(code, Some(1), "folders in folders are not read");
    let (code, out, err) = folder.lint(&["-R", "--openapi", "crd.yaml"]);
    assert_eq!(code, Some(2));
    assert!(out.contains("undefined field 'siz'"), "{out}");
    assert!(err.contains("policies/inner/broken.yaml:1:4: "), "{err}");
    assert!(
        err.contains("crd.yaml: must be an OpenAPI v3 document"),
        "{err}"
    );
    let (code, _, err) = folder.lint(&["--policies", "crd.yaml"]);
    assert_eq!(code, Some(1), "what is no policy is passed over: {err}");
}
