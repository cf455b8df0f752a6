//! Texts in manifests must not reach a terminal as terminal commands.
#![cfg(test)]

#[expect(dead_code, reason = "other tests use the rest of this module")]
mod program;

use program::{Folder, definition};

/// A policy that an API server accepts, and its binding.
const VALID_POLICY: &str = r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: a}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
  validations: [{expression: "object.metadata.name == '\e[31mred'", message: "not \e[31m\a"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: a, validationActions: [Deny]}
"#;

#[test]
fn commands_show_control_characters() {
    let policy = r#"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: "a\e[31mred"}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [pods]}]}
  validations: [{expression: "'\e]0;title\a' +", message: "a"}]
"#;
    let object =
        "apiVersion: example.com/v1\nkind: \"Thing\\e[2J\"\nmetadata: {name: \"a\\e[31mred\"}\n";
    let folder = Folder::new()
        .with("policy.yaml", policy)
        .with(
            "crd.yaml",
            &definition(
                "        type: object\n        properties: {spec: {type: object, additionalProperties: {type: string, maxLength: 1}}}\n",
            ),
        )
        .with("object.yaml", object)
        .with("valid.yaml", VALID_POLICY)
        .with(
            "map.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"a\\e[31mred\"}\n",
        );
    for arguments in [
        "lint policy.yaml",
        "cost valid.yaml",
        "check valid.yaml map.yaml --explain",
        "check policy.yaml map.yaml",
        "audit --policies valid.yaml -- map.yaml",
        "validate --crd crd.yaml object.yaml",
    ] {
        let (_, out, stderr) = folder.gavel(arguments);
        let shown = format!("{out}{stderr}");
        // The escape as Gavel writes it, or as Go writes it.
        let is_escaped = shown.contains("\\u{1b}") || shown.contains("\\x1b");
        assert!(is_escaped, "{arguments}: {shown}");
        assert!(!shown.contains('\u{1b}'), "{arguments}: {shown:?}");
        assert!(!shown.contains('\u{7}'), "{arguments}: {shown:?}");
    }
}
