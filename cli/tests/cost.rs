//! `gavel cost`, run as a user runs it.
#![cfg(test)]

#[expect(dead_code, reason = "other tests use the rest of this module")]
mod program;

use program::{Folder, definition, gavel, root};
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
    let (code, out, _) = folder.gavel("cost crd.yaml -o json");
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
    let (_, out, _) = folder.gavel("cost crd.yaml");
    assert!(
        out.starts_with("CustomResourceDefinition things.example.com, "),
        "{out}"
    );
    assert!(out.contains("  hosts rule 0"), "{out}");
    assert!(out.contains("    help: `maxItems: "), "{out}");
}

#[test]
fn a_rule_may_need_more_than_three_bounds() {
    let list = "{type: array, maxItems: 10000, items: {type: integer}}";
    let crd = definition(&format!(
        "        type: object
        required: [a, b, c, d]
        properties: {{a: {list}, b: {list}, c: {list}, d: {list}}}
        x-kubernetes-validations:
        - rule: self.a.all(a, self.b.all(b, self.c.all(c, self.d.all(d, a + b + c + d != 0))))
"
    ));
    let folder = Folder::new().with("crd.yaml", &crd);
    let (_, out, _) = folder.gavel("cost crd.yaml -o json");
    let help = lines(&out)[0]["help"].as_str().unwrap().to_owned();
    assert_eq!(help.matches("`maxItems: ").count(), 4, "{help}");
}

#[test]
fn message_expressions_are_costed_as_an_api_server_costs_them() {
    let rules = |bounds: &str, message: &str| {
        definition(&format!(
            "        type: object
        properties:
          hosts:
            type: array
            {bounds}
            items:
              type: string
              maxLength: 63
              x-kubernetes-validations:
              - rule: self != 'a'
                message: must not be a
                messageExpression: \"'must not be ' + self\"
            x-kubernetes-validations:
            - rule: self.size() > 1
              message: must have two hosts
              messageExpression: {message}
"
        ))
    };
    let folder = Folder::new().with("crd.yaml", &rules("maxItems: 8", "self.join(', ')"));
    let (code, out, err) = folder.gavel("cost crd.yaml -o json");
    assert_eq!(code, 0, "{out}{err}");
    let lines_of = lines(&out);
    let (total, rules_of) = lines_of.split_last().unwrap();
    let fields: Vec<&str> = rules_of
        .iter()
        .map(|rule| {
            rule["field"]
                .as_str()
                .unwrap()
                .rsplit(".x-")
                .next()
                .unwrap()
        })
        .collect();
    let [rule, message] =
        ["rule", "messageExpression"].map(|key| format!("kubernetes-validations[0].{key}"));
    assert_eq!(fields, [&rule, &message, &rule, &message]);
    let cost = |line: &Json| line["cost"].as_u64().unwrap();
    assert_eq!(rules_of.iter().map(cost).sum::<u64>(), cost(total));
    // The cost of a rule is multiplied by the number of items, the cost of a messageExpression is not.
    assert_eq!(
        (&rules_of[2]["cardinality"], &rules_of[3]["cardinality"]),
        (&8.into(), &1.into())
    );
    assert_eq!(
        cost(&rules_of[2]),
        8 * rules_of[2]["once"].as_u64().unwrap()
    );
    assert_eq!(rules_of[3]["cost"], rules_of[3]["once"]);
    let (_, out, _) = folder.gavel("cost crd.yaml");
    let expected = format!(
        "  hosts rule 0 message                                         {} of 10000000 (< 1 %)\n    29:34: self.join(', ')\n",
        rules_of[1]["cost"]
    );
    assert!(out.contains(&expected), "{out}");

    // A messageExpression that exceeds the limit, with bounds that reduce its cost.
    folder.write(
        "crd.yaml",
        &rules(
            "nullable: true",
            "string(self.filter(a, self.exists(b, a < b)).size())",
        ),
    );
    let (code, out, _) = folder.gavel("cost crd.yaml");
    let message = out.split("hosts rule 0 message").nth(1).unwrap();
    let message = message.split("\n  hosts").next().unwrap();
    assert!(message.contains("    help: `maxItems: "), "{out}");
    assert_eq!(code, 1, "{out}");
    let (code, out, _) = folder.gavel("lint crd.yaml");
    let help = "   = help: `maxItems: ";
    assert_eq!((code, out.matches(help).count()), (1, 1), "{out}");
    folder.write("crd.yaml", &rules("maxItems: 8", "self.joined()"));
    let (code, out, err) = folder.gavel("cost crd.yaml");
    assert_eq!(code, 2, "{out}");
    assert!(
        out.contains(
            "hosts rule 0 message                                         unknown of 10000000"
        ),
        "{out}"
    );
    assert!(
        err.contains("messageExpression compilation failed"),
        "{err}"
    );
}

#[test]
fn costs_are_compared() {
    let folder = Folder::new()
        .with("old/crd.yaml", &schema("maxItems: 8"))
        .with("crd.yaml", &schema("maxItems: 16"));
    let args = "cost crd.yaml --compare old";
    let (code, out, _) = folder.gavel(args);
    assert_eq!(code, 0, "{out}");
    assert_eq!(out.matches(" -> ").count(), 2, "{out}");
    let args = "cost crd.yaml --compare crd.yaml";
    let (code, out, err) = folder.gavel(args);
    let expected = (0, "", "no cost has changed\n");
    assert_eq!((code, out.as_str(), err.as_str()), expected);
}

#[test]
fn costs_over_their_limits_are_shown_even_if_they_have_not_changed() {
    let folder = Folder::new().with("crd.yaml", &schema("maxItems: 1000000"));
    let (code, out, err) = folder.gavel("cost crd.yaml --compare crd.yaml");
    assert!(out.contains(" unchanged: "), "{out}");
    assert_eq!((code, err.as_str()), (1, ""));
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
    let args = "cost crd.yaml policy.yaml -o json";
    let (code, out, _) = folder.gavel(args);
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
    let (code, _, err) = folder.gavel("cost pod.yaml");
    assert_eq!(code, 2);
    assert!(err.contains("nothing to cost"), "{err}");
}

/// Runs the commands of `docs/cost.md` and compares their output with the output on the page.
#[test]
fn the_examples_of_the_documentation_are_what_is_printed() {
    let (page, folder) = (root().join("docs/cost.md"), root().join("testdata/cost"));
    let before = std::fs::read_to_string(&page).unwrap();
    let mut parts = before.split("```\n$ gavel ");
    let mut now = parts.next().unwrap().to_owned();
    for part in parts {
        let (block, rest) = part.split_once("```\n").unwrap();
        let command = block.lines().next().unwrap();
        let (_, out, stderr) = gavel(&folder, command, "");
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
    let (code, out, err) = folder.gavel("cost crd.yaml");
    assert_eq!(code, 2, "{out}{err}");
    assert!(out.contains("unknown of 10000000"), "{out}");
    assert!(err.contains("undeclared reference to 'contain'"), "{err}");
}

#[test]
fn an_unknown_cost_of_a_policy_is_explained() {
    let policy = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: a}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  variables: [{name: unused, expression: '1'}]
  validations: [{expression: object.spek.replicas < 5}]
";
    let folder = Folder::new().with("policy.yaml", policy);
    let (code, out, err) = folder.gavel("cost policy.yaml");
    assert!(out.contains("unknown of 1000000\n"), "{out}");
    let expected = "warning: policy.yaml:9:36: spec.validations[0].expression: undefined field 'spek' (apps/v1 Deployment)\n";
    assert_eq!((code, err.as_str()), (0, expected));
}

#[test]
fn long_parts_keep_the_end_of_their_receiver() {
    let expression = "authorizer.group('apps').resource('deployments').namespace(object.metadata.namespace).check('deploy').allowed() \
        && object.metadata.name.matches('^(a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v|w|x|y|z)+$')";
    let policy = format!(
        "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: deployers}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}}
  validations: [{{expression: {expression:?}}}]
"
    );
    let folder = Folder::new().with("policy.yaml", &policy);
    let (_, out, err) = folder.gavel("cost policy.yaml -o json");
    let rules = lines(&out);
    let heaviest = rules[0]["heaviest"].as_array().expect(&err);
    let texts: Vec<&str> = heaviest
        .iter()
        .map(|part| part["text"].as_str().unwrap())
        .collect();
    let expected = [
        "….matches(\"^(a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|…",
        "…space(object.metadata.namespace).check(\"deploy\")",
        "object.metadata.name",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn unknown_fields_and_duplicate_keys_are_reported_beside_the_costs() {
    let crd =
        schema("maxItem: 10").replace("    served: true\n", "    served: true\n    served: true\n");
    let folder = Folder::new().with("crd.yaml", &crd).with(
        "other.yaml",
        &crd.replace("apiextensions.k8s.io", "apiextensions"),
    );
    let (code, out, err) = folder.gavel("cost crd.yaml");
    let expected = "\
error: crd.yaml:11:5: the key `served` is already set at 10:5
error: crd.yaml:19:13: unknown field \"spec.versions[0].schema.openAPIV3Schema.properties.hosts.maxItem\"
note: did you mean `maxItems`?\n";
    assert_eq!((code, err.as_str()), (2, expected));
    assert!(out.contains("  hosts rule 0"), "{out}");
    let (code, _, err) = folder.gavel("cost other.yaml");
    let expected = "error: other.yaml:11:5: the key `served` is already set at 10:5
error: other.yaml:1:13: apiVersion: must name the group apiextensions.k8s.io, as apiextensions.k8s.io/v1 does\n";
    assert_eq!((code, err.as_str()), (2, expected));
}
