use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use serde_json::json;

use gavel_apimachinery::field::Path;
use gavel_engine::error::EvalError;
use gavel_engine::value::Json;

use super::*;
use crate::definition::{Definition, tests};

/// A definition of a namespaced `Thing` of `example.com/v1` with this schema.
fn definition(schema: Json) -> Json {
    tests::definition(json!([tests::version(schema)]))
}

fn compile(definition: &Json) -> CompiledCrd {
    CompiledCrd::compile(&Definition::read(definition).unwrap()).unwrap()
}

fn thing(spec: &Json) -> Json {
    json!({
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "a", "namespace": "default", "resourceVersion": "1"},
        "spec": spec,
    })
}

/// Validates a created or updated `spec` with this schema. The messages are first the errors, then the warnings.
fn verdict(schema: &Json, spec: &Json, old: Option<&Json>, budget: i64) -> (Vec<String>, Outcome) {
    let crd = compile(&definition(
        json!({"type": "object", "properties": {"spec": schema}}),
    ));
    let old = old.map(thing);
    let outcome = crd.validate("v1", &thing(spec), old.as_ref(), budget);
    let outcome = outcome.unwrap();
    let mut messages: Vec<String> = outcome.errors().map(ToString::to_string).collect();
    messages.extend(
        outcome
            .warnings
            .iter()
            .map(|warning| format!("warning: {warning}")),
    );
    (messages, outcome)
}

fn check(schema: Json, spec: Json, expected: &[&str]) {
    let (messages, _) = verdict(&schema, &spec, None, COST_BUDGET);
    assert_eq!(messages, expected, "{spec}");
}

fn check_update(schema: &Json, spec: Json, old: Json, expected: &[&str]) {
    let (messages, _) = verdict(schema, &spec, Some(&old), COST_BUDGET);
    assert_eq!(messages, expected, "{spec} {old}");
}

/// The schema of an object with some properties and rules.
fn object(properties: Json, rules: Json) -> Json {
    json!({"type": "object", "properties": properties, "x-kubernetes-validations": rules})
}

/// The schema of an integer with a rule.
fn integer(rule: Json) -> Json {
    json!({"type": "integer", "x-kubernetes-validations": [rule]})
}

#[test]
fn scalars_are_shown_and_the_rest_is_not() {
    let rule = || json!([{"rule": "false"}]);
    check(
        object(
            json!({
                "i": integer(json!({"rule": "self > 5"})),
                "p": {"x-kubernetes-int-or-string": true, "x-kubernetes-validations": rule()},
                "l": {"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": rule()},
                "s": {"type": "string", "x-kubernetes-validations": rule()},
            }),
            rule(),
        ),
        json!({"i": 1, "p": "x", "l": [], "s": "a\n"}),
        &[
            "spec: Invalid value: failed rule: false",
            "spec.i: Invalid value: 1: failed rule: self > 5",
            "spec.l: Invalid value: failed rule: false",
            r#"spec.p: Invalid value: "x": failed rule: false"#,
            r#"spec.s: Invalid value: "a\n": failed rule: false"#,
        ],
    );
}

#[test]
fn reasons_choose_the_sort_of_error() {
    let check = |reason: &str, expected: &str| {
        let rule = json!({"rule": "self > 5", "message": " low ", "reason": reason});
        check(
            object(json!({"i": integer(rule)}), json!([])),
            json!({"i": 1}),
            &[expected],
        );
    };
    check("FieldValueInvalid", "spec.i: Invalid value: 1: low");
    check("FieldValueForbidden", "spec.i: Forbidden: low");
    check("FieldValueRequired", "spec.i: Required value: low");
    check("FieldValueDuplicate", "spec.i: Duplicate value: 1");
}

#[test]
fn field_paths_lead_to_the_field_at_fault() {
    let properties = json!({"m": {"type": "object", "additionalProperties": {"type": "string"}}});
    check(
        object(
            properties,
            json!([{"rule": "false", "fieldPath": ".m['a.b']"}]),
        ),
        json!({}),
        &["spec.m[a.b]: Invalid value: failed rule: false"],
    );
}

#[test]
fn messages_may_be_expressions() {
    let check = |rule: Json, expected: &str| {
        check(
            object(json!({"i": integer(rule)}), json!([])),
            json!({"i": 1}),
            &[expected],
        );
    };
    let of = |expression: &str| json!({"rule": "self > 5", "message": "plain", "messageExpression": expression});
    check(
        of("'got ' + string(self) + ' '"),
        "spec.i: Invalid value: 1: got 1",
    );
    check(of("''"), "spec.i: Invalid value: 1: plain");
    check(of("'a\\nb'"), "spec.i: Invalid value: 1: plain");
    check(of("'a\\rb'"), "spec.i: Invalid value: 1: a\rb");
    check(
        of("string(1 / (self - 1))"),
        "spec.i: Invalid value: 1: plain",
    );
}

#[test]
fn failures_name_the_rule_or_its_message() {
    let check = |rule: Json, expected: &str| {
        let properties =
            json!({"a": {"type": "string"}, "p": {"x-kubernetes-int-or-string": true}});
        check(
            object(properties, json!([rule])),
            json!({"p": 1}),
            &[expected],
        );
    };
    check(
        json!({"rule": " self.a == 'x' "}),
        r#"spec: Invalid value: "object": no such key: a evaluating rule: self.a == 'x'"#,
    );
    check(
        json!({"rule": "self.a == 'x'", "message": "custom"}),
        r#"spec: Invalid value: "object": no such key: a evaluating rule: custom"#,
    );
    check(
        json!({"rule": "self.p > 'a'"}),
        r#"spec: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.p > 'a'"#,
    );
}

#[test]
fn transition_rules_need_an_old_value() {
    let schema = object(
        json!({
            "i": integer(json!({"rule": "self >= oldSelf"})),
            "o": integer(json!({"rule": "oldSelf.hasValue() && oldSelf.value() == self", "optionalOldSelf": true})),
        }),
        json!([]),
    );
    check_update(
        &schema,
        json!({"i": 1}),
        json!({"i": 2}),
        &["spec.i: Invalid value: 1: failed rule: self >= oldSelf"],
    );
    check_update(&schema, json!({"i": 1}), json!({}), &[]);
    check_update(&schema, json!({"i": 1}), json!({"i": null}), &[]);
    let expected =
        "spec.o: Invalid value: 1: failed rule: oldSelf.hasValue() && oldSelf.value() == self";
    check_update(&schema, json!({"o": 1}), json!({}), &[expected]);
    check_update(&schema, json!({"o": 1}), json!({"o": 1}), &[]);
    check(schema, json!({"i": 1, "o": 1}), &[expected]);
}

#[test]
fn elements_of_keyed_lists_have_old_values() {
    let list = |kind: &str| {
        object(
            json!({"l": {
                "type": "array",
                "x-kubernetes-list-type": kind,
                "x-kubernetes-list-map-keys": ["k"],
                "items": object(json!({"k": {"type": "string"}, "v": integer(json!({"rule": "self == oldSelf"}))}), json!([])),
            }}),
            json!([]),
        )
    };
    let new = || json!({"l": [{"k": "b", "v": 1}, {"k": "a", "v": 1}]});
    let old = || json!({"l": [{"k": "a", "v": 1}, {"k": "b", "v": 2}]});
    check_update(
        &list("map"),
        new(),
        old(),
        &["spec.l[0].v: Invalid value: 1: failed rule: self == oldSelf"],
    );
    check_update(&list("atomic"), new(), old(), &[]);
}

#[test]
fn values_that_were_invalid_before_are_warnings() {
    let properties = json!({"a": integer(json!({"rule": "self > 5"})), "b": {"type": "integer"}});
    let schema = object(properties, json!([{"rule": "self.a > 6"}]));
    let (spec, a) = (
        "spec: Invalid value: failed rule: self.a > 6",
        "spec.a: Invalid value: 1: failed rule: self > 5",
    );
    let (was_spec, was_a) = (format!("warning: {spec}"), format!("warning: {a}"));
    check_update(
        &schema,
        json!({"a": 1}),
        json!({"a": 1}),
        &[&was_spec, &was_a],
    );
    check_update(
        &schema,
        json!({"a": 1, "b": 1}),
        json!({"a": 1}),
        &[spec, &was_a],
    );
    check_update(&schema, json!({"a": 1}), json!({"a": 2}), &[spec, a]);
    // Evaluation errors and transition rules are not ratcheted.
    let schema = object(
        json!({"a": integer(json!({"rule": "1 / (self - 1) > 0"}))}),
        json!([{"rule": "self != oldSelf"}]),
    );
    check_update(
        &schema,
        json!({"a": 1}),
        json!({"a": 1}),
        &[
            "spec: Invalid value: failed rule: self != oldSelf",
            r#"spec.a: Invalid value: "integer": division by zero evaluating rule: 1 / (self - 1) > 0"#,
        ],
    );
}

#[test]
fn elements_of_other_lists_were_wrong_before_if_nothing_in_the_list_changed() {
    let items = json!({"type": "array", "items": integer(json!({"rule": "self > 5"}))});
    let schema = object(json!({"l": items}), json!([]));
    let wrong = "spec.l[0]: Invalid value: 1: failed rule: self > 5";
    check_update(
        &schema,
        json!({"l": [1]}),
        json!({"l": [1]}),
        &[&format!("warning: {wrong}")],
    );
    check_update(&schema, json!({"l": [1, 7]}), json!({"l": [1]}), &[wrong]);
}

#[test]
fn rules_end_with_the_budget() {
    let schema = object(
        json!({"a": integer(json!({"rule": "self > 0"})), "b": {"type": "integer"}}),
        json!([{"rule": "self.b > 0"}, {"rule": "self.b > 1"}]),
    );
    let check = |budget, expected: &[&str], remaining| {
        let (messages, outcome) = verdict(&schema, &json!({"a": 1, "b": 0}), None, budget);
        assert_eq!(messages, expected);
        assert_eq!(outcome.remaining_budget, remaining);
    };
    let out = |at: &str| {
        format!(
            "{at}: validation failed due to running out of cost budget, no further validation rules will be run"
        )
    };
    let spec = out(r#"spec: Invalid value: "object""#);
    let a = out(r#"spec.a: Invalid value: "integer""#);
    let (first, second) = (
        "spec: Invalid value: failed rule: self.b > 0",
        "spec: Invalid value: failed rule: self.b > 1",
    );
    check(0, &[&spec], -1);
    check(5, &[first, &spec], -1);
    check(6, &[first, second, &a], -1);
    check(8, &[first, second], 0);
    check(COST_BUDGET, &[first, second], COST_BUDGET - 8);
}

#[test]
fn rules_are_not_evaluated_on_values_of_wrong_types() {
    let schema = || {
        object(
            json!({"i": {"type": "integer"}}),
            json!([{"rule": "self.i > 5"}]),
        )
    };
    check(
        schema(),
        json!({"i": "x"}),
        &[
            r#"spec.i: Invalid value: "string": spec.i in body must be of type integer: "string""#,
            "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
        ],
    );
    check(
        schema(),
        json!({"i": 1}),
        &["spec: Invalid value: failed rule: self.i > 5"],
    );
}

#[test]
fn null_is_no_subject_of_rules() {
    let mut nullable = integer(json!({"rule": "false"}));
    nullable["nullable"] = json!(true);
    check(
        object(json!({"i": nullable}), json!([])),
        json!({"i": null}),
        &[],
    );
}

#[test]
fn metadata_is_validated_by_default() {
    let crd = compile(&definition(json!({"type": "object"})));
    let mut object = thing(&json!({}));
    object["metadata"] = json!({"name": "A"});
    let errors = |options: &ValidateOptions<'_>| {
        let outcome = crd.validate_with("v1", &object, None, options).unwrap();
        outcome
            .errors()
            .map(|error| error.field.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        errors(&ValidateOptions::default()),
        ["metadata.name", "metadata.namespace"]
    );
    let options = ValidateOptions {
        metadata: false,
        ..ValidateOptions::default()
    };
    assert!(errors(&options).is_empty());
}

#[test]
fn an_interrupted_validation_says_so() {
    let rule = json!({"rule": "self.all(x, self.all(y, x != y || x == y))"});
    let list =
        json!({"type": "array", "items": {"type": "integer"}, "x-kubernetes-validations": [rule]});
    let crd = compile(&definition(json!({
        "type": "object", "properties": {"spec": {"type": "object", "properties": {"l": list}}},
    })));
    let object = thing(&json!({"l": Vec::from_iter(0..300)}));
    // The callback is first asked before the values are validated, and last while the rule runs.
    for asked in [0, 1, 2, 5, u32::MAX] {
        let left = AtomicU32::new(asked);
        let interrupt = || {
            let before = left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
            before.is_err()
        };
        let options = ValidateOptions {
            interrupt: Some(&interrupt),
            ..ValidateOptions::default()
        };
        let outcome = crd.validate_with("v1", &object, None, &options).unwrap();
        assert_eq!(outcome.interrupted, asked < u32::MAX, "{asked}");
        assert_eq!(outcome.is_valid(), !outcome.interrupted, "{asked}");
    }
}

#[test]
fn rules_that_are_evaluated_are_observed() {
    let rules =
        json!([{"rule": "self > 0"}, {"rule": "self == oldSelf"}, {"rule": "1 / self > 0"}]);
    let item = json!({"type": "integer", "x-kubernetes-validations": rules});
    let crd = compile(&definition(json!({
        "type": "object", "properties": {"spec": {"type": "array", "items": item}},
    })));
    let seen = RefCell::new(Vec::new());
    let observe = |path: &Path<'_>, index: usize, result: Result<bool, &EvalError>| {
        let result = result.map_or_else(ToString::to_string, |holds| holds.to_string());
        seen.borrow_mut()
            .push(format!("{path} rule {index}: {result}"));
    };
    let options = ValidateOptions {
        observer: Some(&observe),
        ..ValidateOptions::default()
    };
    let _ = crd
        .validate_with("v1", &thing(&json!([1, 0])), None, &options)
        .unwrap();
    let expected = "\
spec[0] rule 0: true
spec[0] rule 2: true
spec[1] rule 0: false
spec[1] rule 2: division by zero";
    assert_eq!(seen.into_inner().join("\n"), expected);
}

/// The number 1 within `depth` lists.
fn nested(depth: usize) -> Json {
    (0..depth).fold(json!(1), |inner, _| json!([inner]))
}

#[test]
fn deep_values_are_named_by_their_path() {
    let spec = json!({"s": nested(1_000)});
    let wrong = r#"spec.s: Invalid value: "array": spec.s in body must be of type string: "array""#;
    check(
        object(json!({"s": {"type": "string"}}), json!([])),
        spec.clone(),
        &[wrong],
    );
    let crd = compile(&definition(json!({
        "type": "object",
        "properties": {"spec": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"n": integer(json!({"rule": "self > 5"}))},
        }},
    })));
    let object = thing(&json!({"n": 1, "deep": nested(1_000)}));
    let object = crd.decode(object, DecodeOptions::default()).unwrap().object;
    let outcome = crd
        .validate("v1", &object, Some(&object), COST_BUDGET)
        .unwrap();
    assert_eq!(
        outcome.warnings,
        ["spec.n: Invalid value: 1: failed rule: self > 5"]
    );
    assert!(outcome.is_valid());
}

#[test]
fn errors_are_limited() {
    let rule = json!({"rule": "false", "message": "x".repeat(1 << 20)});
    let list = json!({"l": {"type": "array", "items": integer(rule)}});
    let spec = json!({"l": vec![1; 100]});
    let (_, outcome) = verdict(&object(list, json!([])), &spec, None, COST_BUDGET);
    assert_eq!(outcome.errors().count(), 16);
}

#[test]
fn versions_must_exist() {
    let crd = compile(&definition(json!({"type": "object"})));
    let error = crd
        .validate("v2", &json!({}), None, COST_BUDGET)
        .unwrap_err();
    assert_eq!(error.to_string(), r#"the CRD has no version "v2", only v1"#);
    let crd = compile(&json!({"spec": {"versions": []}}));
    let error = crd
        .validate("v2", &json!({}), None, COST_BUDGET)
        .unwrap_err();
    assert_eq!(error.to_string(), r#"the CRD has no version "v2""#);
}

#[test]
fn a_definition_is_shared_by_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<CompiledCrd>();
}
