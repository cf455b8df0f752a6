//! Tests type-checking of policies with schemas.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test"
)]

use gavel_policy::GroupVersionKind;
use gavel_policy::api::{MutatingAdmissionPolicy, Registration, ValidatingAdmissionPolicy};
use gavel_policy::typecheck::{Estimate, TypeChecker};
use gavel_schema::JsonSchema;
use serde_json::{Value as Json, json};

/// A checker that knows the kind `Thing` in these API versions. The `spec.size` of a Thing is an integer.
fn checker(api_versions: &[&str]) -> TypeChecker {
    let schema: JsonSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
    }))
    .expect("a schema");
    let mut checker = TypeChecker::new("1.36".parse().expect("a version")).expect("a checker");
    for api_version in api_versions {
        checker.add_kind(GroupVersionKind::new(api_version, "Thing"), &schema);
    }
    checker
}

fn policy(
    groups: &[&str],
    versions: &[&str],
    resources: &[&str],
    spec: Json,
) -> ValidatingAdmissionPolicy {
    let mut policy = json!({"spec": spec});
    policy["spec"]["matchConstraints"] = json!({"resourceRules": [{
        "apiGroups": groups, "apiVersions": versions, "resources": resources, "operations": ["*"],
    }]});
    ValidatingAdmissionPolicy::from_json(&policy).expect("a policy")
}

/// The fields for which upstream reports a warning, each with the number of kinds in the warning.
fn upstream(checker: &TypeChecker, policy: &ValidatingAdmissionPolicy) -> Vec<(String, usize)> {
    let kinds = |warning: &str| warning.matches(", Kind=").count();
    let warnings = checker.check(policy).into_iter();
    warnings
        .map(|each| (each.field_ref, kinds(&each.warning)))
        .collect()
}

/// The fields for which Gavel reports type errors, each with the number of kinds.
fn everything(checker: &TypeChecker, policy: &ValidatingAdmissionPolicy) -> Vec<(String, usize)> {
    let mut fields: Vec<(String, usize)> = Vec::new();
    for fault in checker.analyze(policy).faults {
        match fields.last_mut() {
            Some((field, kinds)) if *field == fault.field => *kinds += 1,
            _ => fields.push((fault.field, 1)),
        }
    }
    fields
}

#[test]
fn upstream_checks_validations_only() {
    let checker = checker(&["a.com/v1"]);
    let spec = json!({
        "variables": [{"name": "wrong", "expression": "object.spec.a"}],
        "matchConditions": [{"name": "a", "expression": "object.spec.b == 1"}],
        "validations": [{"expression": "object.spec.size > variables.wrong", "messageExpression": "object.spec.c"}],
        "auditAnnotations": [{"key": "a", "valueExpression": "object.spec.d"}],
    });
    let policy = policy(&["a.com"], &["v1"], &["things"], spec);
    let field = |field: &str| (format!("spec.{field}"), 1);
    // The variable has type errors and therefore type `dyn`, so the validation that reads it has no errors.
    assert_eq!(
        upstream(&checker, &policy),
        [field("validations[0].messageExpression")]
    );
    assert_eq!(
        everything(&checker, &policy),
        [
            field("variables[0].expression"),
            field("matchConditions[0].expression"),
            field("validations[0].messageExpression"),
            field("auditAnnotations[0].valueExpression"),
        ]
    );
}

#[test]
fn upstream_checks_ten_kinds() {
    let groups: Vec<_> = (10..22).map(|n| format!("g{n}.com/v1")).collect();
    let groups: Vec<_> = groups.iter().map(String::as_str).collect();
    let names: Vec<_> = groups
        .iter()
        .map(|group| group.trim_end_matches("/v1"))
        .collect();
    let policy = policy(
        &names,
        &["v1"],
        &["things"],
        json!({"validations": [{"expression": "object.x"}]}),
    );
    let checker = checker(&groups);
    let field = "spec.validations[0].expression".to_owned();
    assert_eq!(upstream(&checker, &policy), [(field.clone(), 10)]);
    assert_eq!(everything(&checker, &policy), [(field, 12)]);
}

#[test]
fn resources_are_found_as_kubernetes_finds_them() {
    let checker = checker(&["a.com/v1", "a.com/v2", "b.com/v1"]);
    let check = |groups: &[&str], versions: &[&str], resources: &[&str], kinds: usize| {
        let policy = policy(
            groups,
            versions,
            resources,
            json!({"validations": [{"expression": "object.x"}]}),
        );
        let found = upstream(&checker, &policy);
        let found = found.first().map_or(0, |(_, kinds)| *kinds);
        assert_eq!(found, kinds, "{groups:?} {versions:?} {resources:?}");
    };
    check(&["a.com"], &["v1"], &["things"], 1);
    check(&["a.com"], &["v1", "v2"], &["THINGS", "thing"], 2);
    // An empty group matches any group.
    check(&[""], &["v1"], &["things"], 2);
    check(&["a.com"], &["v3"], &["things"], 0);
    check(&["a.com"], &["*"], &["things"], 0);
    check(&["a.com", "*"], &["v1"], &["things"], 0);
    check(&["a.com"], &["v1"], &["things/status", "*"], 0);
}

#[test]
fn variables_keep_the_types_of_objects() {
    let checker = checker(&["a.com/v1"]);
    let spec = json!({
        "variables": [{"name": "spec", "expression": "object.spec"}],
        "validations": [
            {"expression": "variables.spec.sise > 1"},
            {"expression": "authorizer.requestResource.check('get').allowed()"},
        ],
    });
    let policy = policy(&["a.com"], &["v1"], &["things"], spec);
    let field = |n: usize| (format!("spec.validations[{n}].expression"), 1);
    assert_eq!(upstream(&checker, &policy), [field(1)]);
    assert_eq!(everything(&checker, &policy), [field(0)]);
}

#[test]
fn rules_that_name_no_known_kind_are_unchecked() {
    let checker = checker(&["a.com/v1"]);
    let check = |group: &str, resource: &str, expected: &[&str]| {
        let spec = json!({"validations": [{"expression": "object.x"}]});
        let policy = policy(&[group], &["v1"], &[resource], spec);
        let unchecked = checker.analyze(&policy).unchecked;
        let reasons: Vec<_> = unchecked.iter().map(|each| each.reason.as_str()).collect();
        assert_eq!(reasons, expected, "{group} {resource}");
    };
    check("a.com", "things", &[]);
    let unknown = "the schema of others.a.com in v1 is not known";
    check("a.com", "others", &[unknown]);
    let wildcard = "a wildcard in apiGroups or apiVersions names no kinds";
    check("*", "things", &[wildcard]);
    let all = "the resource \"*\" is a wildcard, which names no kind";
    check("a.com", "*", &[all]);
}

#[test]
fn a_group_has_each_variable_once_and_messages_have_them_again() {
    let checker = checker(&["a.com/v1"]);
    let total = |messages: bool| {
        let message = if messages {
            "string(variables.twice)"
        } else {
            ""
        };
        let spec = json!({
            "variables": [
                {"name": "unread", "expression": "object.spec.size * 5"},
                {"name": "sum", "expression": "object.spec.size + 1"},
                {"name": "twice", "expression": "variables.sum + variables.sum"},
            ],
            "validations": [
                {"expression": "variables.twice > 1", "messageExpression": message},
                {"expression": "variables.twice > 2"},
            ],
        });
        let policy = policy(&["a.com"], &["v1"], &["things"], spec);
        let costs = checker.analyze(&policy).costs.remove(0);
        let field = |field: &str| {
            let cost = costs.expressions.iter().find(|each| each.field == field);
            max(cost.map(|each| each.cost))
        };
        let (sum, twice) = (
            field("spec.variables[1].expression"),
            field("spec.variables[2].expression"),
        );
        assert_eq!((sum, twice), (4, 5));
        let own = field("spec.validations[0].expression") + field("spec.validations[1].expression");
        let variables = sum + twice;
        let message = field("spec.validations[0].messageExpression");
        let group = &costs.groups[0];
        assert_eq!(group.field, "spec.validations");
        (max(Some(group.cost)) - own, variables, message)
    };
    assert_eq!(total(false), (9, 9, 0));
    assert_eq!(total(true), (9 + 9 + 3, 9, 3));
}

/// A mutating policy that matches Things.
fn mutating(spec: Json) -> MutatingAdmissionPolicy {
    let mut policy = json!({"spec": spec});
    policy["spec"]["matchConstraints"] = json!({"resourceRules": [{
        "apiGroups": ["a.com"], "apiVersions": ["v1"], "resources": ["things"], "operations": ["CREATE"],
    }]});
    MutatingAdmissionPolicy::from_json(&policy).expect("a policy")
}

#[test]
fn all_expressions_of_mutating_policies_are_checked() {
    let policy = mutating(json!({
        "paramKind": {"apiVersion": "b.com/v1", "kind": "Param"},
        "variables": [{"name": "wrong", "expression": "object.spec.a"}],
        "matchConditions": [{"name": "a", "expression": "object.spec.b == 1 && params.any"}],
        "mutations": [
            {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{spec: Object.spec{size: object.spec.c}}"}},
            {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'add', path: '/a', value: object.spec.d}]"}},
        ],
    }));
    let checker = checker(&["a.com/v1"]);
    let analysis = checker.analyze(&policy);
    let faults = analysis.faults.iter().map(|fault| fault.field.as_str());
    assert_eq!(
        faults.collect::<Vec<_>>(),
        [
            "spec.variables[0].expression",
            "spec.matchConditions[0].expression",
            "spec.mutations[0].applyConfiguration.expression",
            "spec.mutations[1].jsonPatch.expression",
        ]
    );
    let unchecked = analysis.unchecked.iter().map(|each| each.field.as_str());
    assert_eq!(unchecked.collect::<Vec<_>>(), ["spec.paramKind"]);
}

#[test]
fn each_mutation_has_a_budget_of_its_own_and_reads_variables_anew() {
    let mutation = json!({"patchType": "ApplyConfiguration", "applyConfiguration": {
        "expression": "Object{spec: Object.spec{size: variables.size}}",
    }});
    let policy = mutating(json!({
        "variables": [{"name": "size", "expression": "object.spec.size + 1"}],
        "matchConditions": [{"name": "a", "expression": "object.spec.size == 1"}],
        "mutations": [mutation, mutation],
    }));
    let costs = checker(&["a.com/v1"]).analyze(&policy).costs.remove(0);
    let groups = costs.groups.iter();
    let groups = groups.map(|group| (group.field.as_str(), max(Some(group.cost)), group.budget));
    let own = max(costs.expressions.last().map(|each| each.cost));
    let variable = max(costs.expressions.first().map(|each| each.cost));
    let condition = max(costs.expressions.get(1).map(|each| each.cost));
    assert!(variable > 0 && own > 0);
    assert_eq!(
        groups.collect::<Vec<_>>(),
        [
            ("spec.matchConditions", condition, 2_500_000),
            ("spec.mutations[0]", own + variable, 10_000_000),
            ("spec.mutations[1]", own + variable, 10_000_000),
        ]
    );
}

/// The maximum of an estimate; 0 if there is no maximum.
fn max(estimate: Option<Estimate>) -> u64 {
    match estimate {
        Some(Estimate::Bounded(cost)) => cost.max,
        _ => 0,
    }
}

#[test]
fn custom_resources_have_the_metadata_of_all_objects() {
    let schema: JsonSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {
            "metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 10}}},
            "template": {"type": "object", "x-kubernetes-embedded-resource": true},
        },
    }))
    .expect("a schema");
    let check = |schema: Option<&JsonSchema>, text: &str, faults: usize| {
        let mut checker = TypeChecker::new("1.36".parse().expect("a version")).expect("a checker");
        checker.add_custom_kind(GroupVersionKind::new("a.com/v1", "Thing"), schema);
        let spec = json!({"validations": [{"expression": text}]});
        let policy = policy(&["a.com"], &["v1"], &["things"], spec);
        assert_eq!(everything(&checker, &policy).len(), faults, "{text}");
    };
    check(
        Some(&schema),
        "object.metadata.labels['a'] == object.kind",
        0,
    );
    check(
        Some(&schema),
        "object.template.metadata.ownerReferences[0].uid == ''",
        0,
    );
    check(Some(&schema), "object.metadata.label == ''", 1);
    check(None, "object.metadata.name == ''", 0);
    check(None, "object.metadata.labels.size() > 0", 1);
}
