//! Mistakes that have help, and files that are left out because they are no manifests.
#![cfg(test)]

use std::path::Path;

use serde_json::Value as Json;

#[expect(dead_code, reason = "other tests use the rest of this module")]
mod program;

use program::{Folder, definition, gavel};

#[test]
fn unknown_names_in_expressions_have_help() {
    let policy = |expression: &str| {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: a}}
spec:
  matchConstraints: {{resourceRules: [{{apiGroups: [apps], apiVersions: [v1], operations: [UPDATE], resources: [deployments]}}]}}
  variables: [{{name: containers, expression: object.spec.template.spec.containers}}]
  validations: [{{message: a, expression: {expression:?}}}]
"
        )
    };
    let definition = |rule: &str| {
        definition(&format!(
            "        type: object
        x-kubernetes-validations: [{{rule: {rule:?}, message: a}}]
        properties: {{weight: {{type: integer, default: 1}}}}
"
        ))
    };
    for (text, expected) in [
        (
            policy("objects.spec.replicas > 1"),
            "did you mean `object`?",
        ),
        (policy("self.spec.replicas > 1"), "did you mean `object`?"),
        (
            policy("request.object.spec.replicas > 1"),
            "did you mean `object`?",
        ),
        (
            policy("request.userInfo.userName == 'a'"),
            "did you mean `username`?",
        ),
        (
            policy("variables.container.size() > 1"),
            "did you mean `containers`?",
        ),
        (
            policy("containers.size() > 1"),
            "did you mean `variables.containers`?",
        ),
        (policy("object.spec.replicas = 1"), "did you mean `==`?"),
        (
            policy("object.metadata.name.length() > 1"),
            "did you mean `size`?",
        ),
        (
            policy("object.metadata.name.matches('[')"),
            "error parsing regexp: missing closing ]: `[`",
        ),
        (
            policy("object.spec.paused"),
            "compare the value, such as `… == true`",
        ),
        (policy("other"), ""),
        (
            policy("x").replace("\"x\"", "!has(object.x)"),
            "the value is empty; a text that begins with ! must be quoted",
        ),
        (
            policy("true").replace("operations: [UPDATE]", "operations: UPDATE"),
            "the value must be a list",
        ),
        (
            policy("true").replace("name: containers", "name: 1"),
            "the value must be in quotes",
        ),
        (
            definition("true").replace("served: true", "served: 'true'"),
            "the value must not be in quotes",
        ),
        (definition("object.weight > 1"), "did you mean `self`?"),
        (definition("oldself.weight > 1"), "did you mean `oldSelf`?"),
        (definition("self.wieght > 1"), "did you mean `weight`?"),
        (
            definition("self.weight > '1'"),
            "`int(…)` converts a string",
        ),
        (definition("self.weight > 0 and true"), "did you mean `&&`?"),
        (
            definition("true").replace("rule:", "expression:"),
            "did you mean `rule`?",
        ),
    ] {
        let (code, out, err) = gavel(Path::new("."), "lint - -o json", &text);
        assert_eq!(code, 1, "{text}: {out}{err}");
        let found = out
            .lines()
            .map(|line| serde_json::from_str::<Json>(line).unwrap());
        let errors = found.filter(|found| found["severity"] == "error");
        let help = errors.filter_map(|error| Some(error["help"].as_str()?.to_owned()));
        let help: String = help.collect();
        assert_eq!(help, expected, "{text}: {out}");
    }
}

#[test]
fn joined_documents_are_reported() {
    let binding =
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n";
    let text = format!("{binding}apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n");
    let (code, out, err) = gavel(Path::new("."), "lint - -o github", &text);
    let expected = "::error file=stdin,line=4,col=1,endLine=4,endColumn=1,title=duplicate-key::the key `kind` is already set at 2:1%0A\
        two documents must be separated by a line `---`\n";
    assert_eq!((code, out.as_str(), err.as_str()), (1, expected, ""));
}

#[test]
fn excluded_files_are_not_read() {
    let folder = Folder::new()
        .with("charts/a/templates/b.yaml", "a: {{ .Values.a }}\n")
        .with_copies(&[
            "check/policy.yaml",
            "check/deployments.yaml",
            "check/replicas-test.yaml",
        ]);
    for (command, expected) in [
        ("lint .", 0),
        ("check .", 1),
        ("cost .", 1),
        ("test .", 0),
        ("mutate deployments.yaml --policies .", 2),
        ("audit . --policies policy.yaml", 1),
        ("upgrade-check . --from 1.36", 1),
    ] {
        let (_, out, err) = folder.gavel(&format!("{command} -R"));
        let all = out + &err;
        assert!(all.contains("b.yaml:1:"), "{command}: {all}");
        let (status, out, err) =
            folder.gavel(&format!("{command} -R --exclude charts/*/templates"));
        let all = out + &err;
        assert_eq!(status, expected, "{command}: {all}");
        assert!(!all.contains("b.yaml"), "{command}: {all}");
    }
    let folder = folder.with("gavel.yaml", "lint: {exclude: [templates]}\n");
    let (status, out, err) = folder.gavel("lint -R .");
    assert_eq!(status, 0, "{out}{err}");
}
