//! `gavel cost`, run as a user runs it.
#![cfg(test)]

#[expect(
    dead_code,
    reason = "only the tests of `gavel serve` use all items of this module"
)]
mod program;

use program::{Folder, definition, gavel};
use serde_json::Value as Json;

fn schema(bounds: &str) -> String {
    definition(&format!(
        "        type: object
        properties:
          hosts:
            type: array
            {bounds}
            items: {{type: string}}
            x-kubernetes-validations:
            - rule: self.all(host, !host.contains('..'))
              message: must not contain two dots in a row
"
    ))
}

fn lines(out: &str) -> Vec<Json> {
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn costs_of_rules_come_with_the_bounds_that_reduce_them() {
    let folder = Folder::new().with("crd.yaml", &schema("nullable: true"));
    let (code, out, _) = gavel(folder.path(), &["cost", "crd.yaml", "-o", "json"], "");
    assert_eq!(code, 1, "{out}");
    let rule = &lines(&out)[0];
    assert_eq!(rule["limit"], 10_000_000);
    assert!(rule["cost"].as_u64().unwrap() > 10_000_000);
    let heaviest = rule["heaviest"][0]["text"].as_str().unwrap();
    assert!(heaviest.starts_with("host.contains("), "{heaviest}");
    let help = rule["help"].as_str().unwrap();
    assert!(
        help.contains("`maxItems: ") && help.ends_with("of the limit"),
        "{help}"
    );
    let (_, out, _) = gavel(folder.path(), &["cost", "crd.yaml"], "");
    assert!(
        out.starts_with("CustomResourceDefinition things.example.com, "),
        "{out}"
    );
    assert!(out.contains("  hosts rule 0"), "{out}");
    assert!(out.contains("    help: `maxItems: "), "{out}");
}

#[test]
fn costs_are_compared() {
    let folder = Folder::new()
        .with("old/crd.yaml", &schema("maxItems: 8"))
        .with("crd.yaml", &schema("maxItems: 16"));
    let args = ["cost", "crd.yaml", "--compare", "old"];
    let (code, out, _) = gavel(folder.path(), &args, "");
    assert_eq!(code, 0, "{out}");
    assert_eq!(out.matches(" -> ").count(), 2, "{out}");
    let args = ["cost", "crd.yaml", "--compare", "crd.yaml"];
    let (code, out, _) = gavel(folder.path(), &args, "");
    assert_eq!((code, out.as_str()), (0, ""));
}

#[test]
fn policies_are_costed_for_their_kinds() {
    let policy = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: sizes}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [things]}
  validations:
  - expression: object.hosts.all(host, host != 'a')
  - expression: \"'admins' in request.userInfo.groups\"
";
    let folder = Folder::new()
        .with("crd.yaml", &schema("maxItems: 8"))
        .with("policy.yaml", policy);
    let args = ["cost", "crd.yaml", "policy.yaml", "-o", "json"];
    let (code, out, _) = gavel(folder.path(), &args, "");
    assert_eq!(code, 0, "{out}");
    let of_policy: Vec<Json> = lines(&out)
        .into_iter()
        .filter(|line| line["object"] == "ValidatingAdmissionPolicy sizes")
        .collect();
    assert_eq!(of_policy[0]["about"], "example.com/v1 Thing");
    assert!(of_policy[0]["cost"].as_u64().unwrap() > 8);
    assert_eq!(of_policy[1]["estimate"], "unbounded");
    assert_eq!(of_policy[2]["field"], "spec.validations");
    assert_eq!(of_policy[2]["budget"], 10_000_000);
}

#[test]
fn nothing_to_cost_is_no_success() {
    let folder = Folder::new().with("pod.yaml", "apiVersion: v1\nkind: Pod\n");
    let (code, _, err) = gavel(folder.path(), &["cost", "pod.yaml"], "");
    assert_eq!(code, 2);
    assert!(err.contains("nothing to cost"), "{err}");
}

/// Runs the commands of `docs/cost.md` and compares their output with the output on the page.
#[test]
fn the_examples_of_the_documentation_are_what_is_printed() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (page, folder) = (root.join("docs/cost.md"), root.join("testdata/cost"));
    let before = std::fs::read_to_string(&page).unwrap();
    let mut parts = before.split("```\n$ gavel ");
    let mut now = parts.next().unwrap().to_owned();
    for part in parts {
        let (block, rest) = part.split_once("```\n").unwrap();
        let command = block.lines().next().unwrap();
        let args: Vec<&str> = command.split(' ').collect();
        let (_, out, stderr) = gavel(&folder, &args, "");
        now.push_str(&format!("```\n$ gavel {command}\n{out}{stderr}```\n{rest}"));
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&page, &now).unwrap();
    }
    assert_eq!(before.matches("```\n$ gavel ").count(), 3);
    let written = std::fs::read_to_string(&page).unwrap();
    assert_eq!(now, written, "UPDATE_GOLDEN=1 writes the page anew");
}

#[test]
fn a_rule_without_a_cost_is_no_success() {
    let broken = schema("").replace("host.contains", "host.contain");
    let folder = Folder::new().with("crd.yaml", &broken);
    let (code, out, err) = gavel(folder.path(), &["cost", "crd.yaml"], "");
    assert_eq!(code, 2, "{out}{err}");
    assert!(out.contains("unknown of 10000000"), "{out}");
    assert!(err.contains("undeclared reference to 'contain'"), "{err}");
}
