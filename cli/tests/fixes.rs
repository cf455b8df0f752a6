//! `gavel lint --fix`, run as a user runs it.
#![cfg(test)]

#[expect(dead_code, reason = "other tests use the rest of this module")]
mod program;

use program::Folder;

#[test]
fn unused_parts_are_removed_and_old_versions_are_replaced() {
    let policy = "apiVersion: admissionregistration.k8s.io/v1beta1
kind: ValidatingAdmissionPolicy
metadata:
  name: jobs
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [batch]
      apiVersions: [v1beta1]
      operations: [CREATE]
      resources: [cronjobs, cronjobs/status]
  variables:
  - name: unused
    expression: |
      object.spec.schedule

      != ''
  - name: used
    expression: object.spec.schedule
  validations:
  - expression: variables.used != ''
    message: a schedule must be set

  # Again.
  - expression: variables.used != ''
    message: a schedule must be set
  - expression: variables.used != ''
    message: another message
";
    let folder = Folder::new().with("policies/policy.yaml", policy);
    let (_, _, err) = folder.gavel("lint policies --fix");
    assert!(err.starts_with("fixed 5 findings in 1 file\n"), "{err}");
    let text = std::fs::read_to_string(folder.path().join("policies/policy.yaml")).unwrap();
    let unused = "  - name: unused
    expression: |
      object.spec.schedule

      != ''
";
    let copy = "  # Again.
  - expression: variables.used != ''
    message: a schedule must be set
";
    let expected = policy
        .replace("io/v1beta1", "io/v1")
        .replace("[v1beta1]", "[v1]")
        .replace(unused, "")
        .replace(copy, "  # Again.\n");
    assert_eq!(text, expected);
}

#[test]
fn a_list_is_removed_with_its_last_variable() {
    let before = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: jobs
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [batch], apiVersions: [v1], operations: [CREATE], resources: [cronjobs]}
";
    let after = "  validations:
  - expression: object.spec.schedule != ''
    message: a schedule must be set
";
    for (variables, rest, count) in [
        ("  variables:\n  - name: a\n    expression: '1'\n", "", 1),
        (
            "  variables:\n  - {name: a, expression: '1'}\n  - {name: b, expression: '2'}\n  - {name: c, expression: '3'}\n",
            "",
            3,
        ),
        (
            "  # Variables.\n  variables: # none\n\n  # First.\n  - name: a\n    # One.\n    expression: '1'\n  # End.\n",
            "  # Variables.\n  # none\n  # First.\n  # End.\n",
            1,
        ),
        (
            "  variables: &all\n  - name: a\n    expression: '1'\n",
            "  variables: &all\n  - name: a\n    expression: '1'\n",
            0,
        ),
        (
            "  variables:\n  - name: a\n    expression: &one '1'\n",
            "  variables:\n  - name: a\n    expression: &one '1'\n",
            0,
        ),
        (
            "  \"variables\" :\r\n    - name: a\r\n      expression: '1'\r\n",
            "",
            1,
        ),
        (
            "  variables:\n  # gavel: ignore unused-variable\n  - {name: a, expression: '1'}\n  - {name: b, expression: '2'}\n",
            "  variables:\n  # gavel: ignore unused-variable\n  - {name: a, expression: '1'}\n",
            1,
        ),
    ] {
        for at_the_end in [false, true] {
            let text = |variables: &str| match at_the_end {
                true => format!("{before}{after}{variables}"),
                false => format!("{before}{variables}{after}"),
            };
            let folder = Folder::new().with("policy.yaml", text(variables).trim_end());
            let args = "lint policy.yaml --fix --select unused-variable";
            let (_, out, err) = folder.gavel(args);
            let fixed = std::fs::read_to_string(folder.path().join("policy.yaml")).unwrap();
            assert_eq!(fixed.trim_end(), text(rest).trim_end(), "{out}{err}");
            let expected = format!("fixed {count} finding");
            assert!(err.starts_with(&expected), "{err}");
        }
    }
}

#[test]
fn a_byte_order_mark_moves_no_fix() {
    let policy = "\
apiVersion: admissionregistration.k8s.io/v1beta1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: a}
spec: {policyName: a, validationActions: [Deny]}
";
    let json = r#"{"apiVersion": "admissionregistration.k8s.io/v1beta1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "b"}, "spec": {"policyName": "b", "validationActions": ["Deny"]}}"#;
    let folder = Folder::new();
    for (name, text) in [("a.yaml", policy), ("b.json", json)] {
        folder.write(name, &format!("\u{feff}{text}"));
        let (_, out, err) = folder.gavel(&format!("lint {name} --fix"));
        let fixed = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(fixed, text.replace("v1beta1", "v1"), "{out}{err}");
    }
}
