//! The types of policies, checked against schemas.
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a test")]

use gavel_policy::GroupVersionKind;
use gavel_policy::api::{Registration, ValidatingAdmissionPolicy};
use gavel_policy::typecheck::{Extent, TypeChecker};
use gavel_schema::JsonSchema;
use serde_json::{Value as Json, json};

/// A checker that knows Things of some groups, whose `spec.size` is an int.
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

/// The fields with warnings, each with the kinds that it is about.
fn fields(
    checker: &TypeChecker,
    policy: &ValidatingAdmissionPolicy,
    extent: Extent,
) -> Vec<(String, usize)> {
    let warnings = checker.check(policy, extent);
    let kinds = |warning: &str| warning.matches(", Kind=").count();
    warnings
        .into_iter()
        .map(|each| (each.field_ref, kinds(&each.warning)))
        .collect()
}

#[test]
fn upstream_looks_at_validations_alone() {
    let checker = checker(&["a.com/v1"]);
    let spec = json!({
        "variables": [{"name": "wrong", "expression": "object.spec.a"}],
        "matchConditions": [{"name": "a", "expression": "object.spec.b == 1"}],
        "validations": [{"expression": "object.spec.size > variables.wrong", "messageExpression": "object.spec.c"}],
        "auditAnnotations": [{"key": "a", "valueExpression": "object.spec.d"}],
    });
    let policy = policy(&["a.com"], &["v1"], &["things"], spec);
    let field = |field: &str| (format!("spec.{field}"), 1);
    // The variable is dyn where its own types are wrong, and the validation has no fault.
    assert_eq!(
        fields(&checker, &policy, Extent::Upstream),
        [field("validations[0].messageExpression")]
    );
    assert_eq!(
        fields(&checker, &policy, Extent::Everything),
        [
            field("variables[0].expression"),
            field("matchConditions[0].expression"),
            field("validations[0].messageExpression"),
            field("auditAnnotations[0].valueExpression"),
        ]
    );
}

#[test]
fn upstream_looks_at_ten_kinds() {
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
    assert_eq!(
        fields(&checker, &policy, Extent::Upstream),
        [(field.clone(), 10)]
    );
    assert_eq!(fields(&checker, &policy, Extent::Everything), [(field, 12)]);
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
        let found = fields(&checker, &policy, Extent::Upstream);
        let found = found.first().map_or(0, |(_, kinds)| *kinds);
        assert_eq!(found, kinds, "{groups:?} {versions:?} {resources:?}");
    };
    check(&["a.com"], &["v1"], &["things"], 1);
    check(&["a.com"], &["v1", "v2"], &["THINGS", "thing"], 2);
    // No group stands for any.
    check(&[""], &["v1"], &["things"], 2);
    check(&["a.com"], &["v3"], &["things"], 0);
    check(&["a.com"], &["*"], &["things"], 0);
    check(&["a.com", "*"], &["v1"], &["things"], 0);
    check(&["a.com"], &["v1"], &["things/status", "*"], 0);
}
