//! Checks that every rule reports the problem in its example, and nothing in the corrected example; and that `docs/rules.md` agrees with
//! the table of rules.
#![cfg(test)]

mod configuration;
mod resources;
mod updates;

use gavel_lint::rules::{self, Example, RULES};
use gavel_lint::{Linter, Options, Selection, Suppressions};
use gavel_manifest::{Format, Problem, Severity, read};
use gavel_policy::api::OWN_GROUP;

/// The older schema, for the rule `breaks-stored-objects`.
const OLDER: &str = "type: object\nproperties:\n  size: {type: integer, maximum: 10}\n";

/// Lints the text of an example, with all rules, including those that are off by default.
fn lint(example: &Example, text: &str) -> Vec<Problem> {
    let manifest = example.frame.manifest(text);
    let reading = read(&manifest, Format::Yaml);
    let mut problems = reading.problems;
    let documents = reading.documents;
    let linter = Linter::new(&Options::default(), &documents).unwrap();
    let older = read(&example.frame.manifest(OLDER), Format::Yaml);
    for document in &documents {
        problems.extend(linter.document(document));
        let is_definition = document.value()["kind"] == "CustomResourceDefinition";
        if let Some(older) = older.documents.first().filter(|_| is_definition) {
            let found = linter.update(document, older);
            let is_about_size = |problem: &Problem| problem.message.contains("maximum");
            problems.extend(found.into_iter().filter(is_about_size));
        }
    }
    problems.extend(linter.references(&documents));
    let suppressions = Suppressions::read(&manifest, &documents);
    problems.extend(suppressions.problems());
    problems.retain(|problem| !suppressions.cover(problem));
    problems
}

#[test]
fn each_rule_finds_its_example_and_nothing_in_the_other() {
    let mut faults = Vec::new();
    for rule in RULES {
        let found = lint(&rule.example, rule.example.before);
        if !found.iter().any(|problem| problem.rule == rule.id) {
            faults.push(format!("{}: not found in `before`: {found:?}", rule.id));
        }
        let mut found = lint(&rule.example, rule.example.after);
        Selection::default().apply(&mut found);
        if !found.is_empty() {
            faults.push(format!("{}: `after` has {found:?}", rule.id));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn findings_have_the_severity_of_their_rule() {
    for rule in RULES {
        for problem in lint(&rule.example, rule.example.before) {
            if problem.rule == rule.id {
                assert_eq!(problem.severity, rule.severity, "{problem}");
                assert!(problem.range.is_some(), "{problem} has no place");
            }
        }
    }
}

#[test]
fn every_row_is_in_the_table() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
    let table = std::fs::read_to_string(folder.join("mod.rs")).unwrap();
    for file in std::fs::read_dir(&folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for row in text.split("pub static ").skip(1) {
            let (name, _) = row.split_once(": Rule =").unwrap_or_default();
            assert!(
                name.is_empty() || table.contains(&format!("    &{name},\n")),
                "RULES in lint/src/rules/mod.rs lacks {name}"
            );
        }
    }
}

#[test]
fn rules_have_different_names_and_short_titles() {
    for (n, rule) in RULES.iter().enumerate() {
        assert!(
            RULES.iter().take(n).all(|other| other.id != rule.id),
            "{}",
            rule.id
        );
        assert!(
            rule.title.len() <= 100 && !rule.title.ends_with('.'),
            "{}",
            rule.id
        );
        assert!(
            rule.id
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        );
    }
}

#[test]
fn denied_rules_are_errors_and_ignored_rules_are_gone() {
    let rule = gavel_lint::rules::find("undefined-field").unwrap();
    let found = lint(&rule.example, rule.example.before);
    let apply = |selection: Selection| {
        let mut found = found.clone();
        selection.apply(&mut found);
        let found = found.iter().filter(|problem| problem.rule == rule.id);
        found.map(|problem| problem.severity).collect::<Vec<_>>()
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(apply(Selection::default()), [Severity::Warning]);
    let denied = Selection {
        deny: names(&["warnings"]),
        ..Selection::default()
    };
    assert_eq!(apply(denied), [Severity::Error]);
    let ignored = Selection {
        ignore: names(&["undefined-field"]),
        ..Selection::default()
    };
    assert_eq!(apply(ignored), []);
    let other = Selection {
        select: names(&["unused-variable"]),
        ..Selection::default()
    };
    assert_eq!(apply(other), []);
    let misspelled = Selection {
        ignore: names(&["undefined-fields"]),
        ..Selection::default()
    };
    assert_eq!(
        misspelled.unknown(),
        [("undefined-fields", Some("undefined-field"))]
    );
}

#[test]
fn the_page_of_rules_is_what_the_table_says() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = root.join("docs/rules.md");
    let page = gavel_lint::rules_document();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/rules.md differs: UPDATE_GOLDEN=1 cargo test -p gavel-lint --test rules"
    );
}

#[test]
fn maps_of_quantities_are_known_in_builtin_kinds() {
    let text = "validations:\n- expression: >-\n    object.spec.template.spec.containers.all(c, has(c.resources.limits) && 'cpu' in c.resources.limits)\n";
    let rule = gavel_lint::rules::find("undefined-field").unwrap();
    let mut found = lint(&rule.example, text);
    Selection::default().apply(&mut found);
    assert_eq!(found, []);
}

#[test]
fn deliberate_patterns_are_not_reported() {
    let policy = |resource: &str, expression: &str| {
        let api = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}";
        let parts: Vec<&str> = resource.split('/').collect();
        let [group, version, resource]: [&str; 3] = parts.try_into().unwrap();
        let rule = format!(
            "{{apiGroups: [\"{group}\"], apiVersions: [{version}], operations: [CREATE], resources: [{resource}]}}"
        );
        let constraints = format!("matchConstraints: {{resourceRules: [{rule}]}}");
        let validation = format!("validations: [{{expression: \"{expression}\"}}]");
        format!("{api}\nspec:\n  {constraints}\n  {validation}\n")
    };
    let schema = |text: &str| rules::Frame::Schema.manifest(text);
    let rule = |rule: &str| {
        schema(&format!(
            "type: object\nproperties:\n  a:\n    type: string\n    maxLength: 9\n    x-kubernetes-validations: [{{rule: \"{rule}\", message: a}}]\n"
        ))
    };
    let two = "type: object\nproperties: {name: {type: string, maxLength: 9}}\nx-kubernetes-validations:\n- {rule: has(self.name), message: a}\n";
    let check = |manifest: String, expected: &[&str]| {
        let documents = read(&manifest, Format::Yaml).all().unwrap();
        let linter = Linter::new(&Options::default(), &documents).unwrap();
        let found = linter.document(&documents[0]);
        let found: Vec<_> = found.iter().map(|problem| problem.rule).collect();
        assert_eq!(found, expected, "{manifest}");
    };
    // A negated pattern is meant to match anywhere.
    check(
        rule("self.matches('[a-z]x') && size(self) > self.indexOf('a')"),
        &["unanchored-regex"],
    );
    check(
        rule("!self.matches('[a-z]x') && size(self) > self.indexOf('a')"),
        &[],
    );
    check(
        rule("!(!self.matches('[a-z]x') && size(self) > self.indexOf('a'))"),
        &["unanchored-regex"],
    );
    // At run time, both values have the type `dyn`.
    let literal = "size({'name': object.metadata.name, 'containers': object.spec.containers}) == 2";
    check(policy("/v1/pods", literal), &[]);
    for literal in [
        "size({'a': object.spec.hostNetwork, 'b': object.metadata.name}) == 2",
        "size([object.spec.hostNetwork, object.metadata.name]) == 2",
        "size({object.spec.hostNetwork: 1, object.metadata.name: 2}) == 2",
    ] {
        check(policy("/v1/pods", literal), &[]);
    }
    check(
        policy(
            "/v1/pods",
            "[object.spec.hostNetwork && object.metadata.name] == [true]",
        ),
        &["type-mismatch"],
    );
    check(
        policy(
            "/v1/pods",
            "object.spec.containers.exists(c, c.name == 'a' && c.name)",
        ),
        &["type-mismatch"],
    );
    // Labels of namespaces are always set.
    check(
        policy("/v1/namespaces", "'a' in object.metadata.labels"),
        &[],
    );
    check(
        policy("/v1/configmaps", "'a' in object.metadata.labels"),
        &["optional-field"],
    );
    // API servers set defaults in pods and probes, but not in containers.
    for (expression, expected) in [
        ("has(object.spec.securityContext.runAsUser)", &[][..]),
        (
            "!has(FIRST.livenessProbe) || FIRST.livenessProbe.periodSeconds > 5",
            &[],
        ),
        ("has(FIRST.securityContext.privileged)", &["optional-field"]),
        ("FIRST.restartPolicy != 'Always'", &["optional-field"]),
        ("FIRST.image != FIRST.imagePullPolicy", &[]),
        ("FIRST.terminationMessagePath != ''", &[]),
        (
            "FIRST.ports[0].name != 'a'",
            &["optional-field", "optional-field"],
        ),
        ("object.spec.serviceAccountName != 'default'", &[]),
        (
            "object.spec.volumes[0].image.reference != ''",
            &["optional-field", "optional-field", "optional-field"],
        ),
    ] {
        let expression = expression.replace("FIRST", "object.spec.containers[0]");
        check(policy("/v1/pods", &expression), expected);
    }
    // The service account of a pod is set, but not the one of a template.
    check(
        policy(
            "/v1/replicationcontrollers",
            "object.spec.template.spec.serviceAccountName != 'default'",
        ),
        &["optional-field"],
    );
    // Only the namespace of the object itself is always set, unless the kind is cluster-scoped.
    for (resource, expression, expected) in [
        ("/v1/pods", "FIELD == object.metadata.name", &[][..]),
        (
            "/v1/nodes",
            "FIELD == object.metadata.name",
            &["optional-field"],
        ),
        (
            "/v1/persistentvolumes",
            "object.spec.claimRef.namespace == FIELD",
            &["optional-field", "optional-field", "optional-field"],
        ),
        (
            "apiextensions.k8s.io/v1/customresourcedefinitions",
            "object.spec.conversion.strategy == object.spec.names.singular",
            &[],
        ),
        (
            "resource.k8s.io/v1/resourceclaims",
            "has(FIRST.exactly) && FIRST.exactly.allocationMode == 'All'",
            &["optional-field"],
        ),
        (
            "autoscaling/v2/horizontalpodautoscalers",
            "has(object.spec.behavior) && object.spec.behavior.scaleUp.stabilizationWindowSeconds > object.spec.behavior.scaleDown.stabilizationWindowSeconds",
            &["optional-field"],
        ),
    ] {
        let expression = expression.replace("FIELD", "object.metadata.namespace");
        let expression = expression.replace("FIRST", "object.spec.devices.requests[0]");
        check(policy(resource, &expression), expected);
    }
    // Calls and selections of literals are evaluated.
    for (expression, expected) in [
        ("request.name != '' || 1 / 0 == 1", &["failing-call"][..]),
        ("request.name != [['a'], ['b']][2][0]", &["failing-call"]),
        ("request.name != {'a': 'b'}['c']", &["failing-call"]),
        ("request.name != {'a': 'b'}.c", &["failing-call"]),
        ("request.name != {'a': 'b'}.a", &[]),
        ("has({'a': 'b'}.c) || request.name != ''", &[]),
        ("request.name.size() / 0 == 1", &["failing-call"]),
        ("request.name.size() % 0 == 1", &["failing-call"]),
        ("double(request.name) / 0.0 > 1.0", &[]),
        ("request.name != 'abc'.substring(4)", &["failing-call"]),
        ("quantity('1GiB').isInteger()", &["failing-call"]),
        ("request.name != ['a', 'b'][1] + 'abc'.substring(3)", &[]),
        ("request.name != [request.name][1]", &[]),
    ] {
        check(policy("/v1/pods", expression), expected);
    }
    // Another validation rejects objects without the name.
    check(
        schema(&format!("{two}- {{rule: self.name != 'a', message: a}}\n")),
        &["schema-can-say"],
    );
    check(
        schema(&two.replace("has(self.name)", "self.name != 'a'")),
        &["optional-field"],
    );
}

#[test]
fn faults_are_reported_at_their_place() {
    let check = |manifest: &str, expected: (&str, u32, u32)| {
        let documents = read(manifest, Format::Yaml).all().unwrap();
        let linter = Linter::new(&Options::default(), &documents).unwrap();
        let found = linter.document(&documents[0]);
        let place = |problem: &Problem| problem.range.map(|range| range.start);
        let found: Vec<_> = found
            .iter()
            .filter_map(|problem| {
                let place = place(problem)?;
                Some((problem.rule, place.line, place.column))
            })
            .collect();
        assert!(found.contains(&expected), "{found:?}");
    };
    let webhook = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: a}
webhooks:
- name: a.example.com
  clientConfig: {caBundle: YWJj, url: 'https://a'}
- name: b.example.com
  clientConfig: {url: 'https://a', caBundle: '<ca>'}
";
    check(webhook, ("invalid-object", 8, 46));
    let policy = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: a}
spec:
  (validations[?message == 'a.b']):
  - expression: 'true'
";
    check(policy, ("unknown-field", 5, 3));
    let own = policy.replace("admissionregistration.k8s.io", OWN_GROUP);
    check(&own, ("unknown-field", 5, 3));
    // Only the built-in kinds have this version.
    check(&own.replace("/v1", "/v1beta1"), ("invalid-object", 1, 13));
}

#[test]
fn each_optional_field_of_a_path_is_reported_once() {
    let manifest = rules::Frame::Schema.manifest(
        "type: object
properties:
  a: {type: object, properties: {b: {type: object, properties: {c: {type: integer}}}}}
x-kubernetes-validations: [{rule: self.a.b.c > 1 && self.a.b.c < 5, message: a}]
",
    );
    let documents = read(&manifest, Format::Yaml).all().unwrap();
    let linter = Linter::new(&Options::default(), &documents).unwrap();
    let found = linter.document(&documents[0]);
    let found = found.iter().filter(|each| each.rule == "optional-field");
    let found: Vec<&str> = found.map(Problem::help).collect();
    assert_eq!(
        found,
        [
            "test with `has(self.a)` first",
            "test with `has(self.a.b)` first",
            "test with `has(self.a.b.c)` first",
        ]
    );
}

/// API servers remove the namespace.
#[test]
fn objects_without_namespaces_may_name_one() {
    let manifest = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com, namespace: shop}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b, namespace: shop}
spec: {policyName: p, validationActions: [Deny]}
";
    let without = manifest.replace(", namespace: shop", "");
    let old = read(&without, Format::Yaml).all().unwrap();
    let documents = read(manifest, Format::Yaml).all().unwrap();
    let linter = Linter::new(&Options::default(), &documents).unwrap();
    for (document, old) in documents.iter().zip(&old) {
        assert_eq!(linter.document(document), []);
        assert_eq!(linter.update(document, old), []);
    }
}

#[test]
fn copies_of_an_expression_name_the_first_one() {
    let manifest = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: a}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: [pods]}]
  validations:
  - {expression: request.name != 'a', message: a}
  - {expression: request.name != 'b', message: b}
  - {expression: (request.name != 'a'), message: c}
  - {expression: request.name  != 'a', message: d}
";
    let documents = read(manifest, Format::Yaml).all().unwrap();
    let linter = Linter::new(&Options::default(), &documents).unwrap();
    let found = linter.document(&documents[0]);
    let found = found
        .iter()
        .filter(|each| each.rule == "duplicate-validation");
    let found: Vec<_> = found.map(|each| (&*each.field, &*each.message)).collect();
    let message = "the expression is the same as spec.validations[0].expression";
    assert_eq!(
        found,
        [
            ("spec.validations[2].expression", message),
            ("spec.validations[3].expression", message),
        ]
    );
}

#[test]
fn a_test_for_a_field_guards_its_own_validation_only() {
    let lint = |guard: &str| {
        let manifest = format!(
            "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: a}}
spec:
  matchConstraints:
    resourceRules:
    - {{apiGroups: [apps, ''], apiVersions: [v1], operations: [CREATE], resources: [deployments, pods]}}
{guard}
  validations:
  - {{expression: has(object.metadata.labels)}}
  - {{expression: object.spec.replicas == 3}}
  - {{expression: has(object.spec.replicas) && object.spec.replicas == 3}}
"
        );
        let documents = read(&manifest, Format::Yaml).all().unwrap();
        let linter = Linter::new(&Options::default(), &documents).unwrap();
        let problems = linter.document(documents.first().unwrap()).into_iter();
        let undefined = problems.filter(|problem| problem.rule == "undefined-field");
        Vec::from_iter(undefined.map(|problem| problem.field.to_string()))
    };
    assert_eq!(lint(""), ["spec.validations[1].expression"]);
    let guard = "  matchConditions: [{name: scaled, expression: has(object.spec.replicas)}]";
    assert_eq!(lint(guard), [""; 0]);
}
