use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use gavel_apimachinery::version::KubeVersion;

use super::*;
use crate::correlate::Correlation;

fn schema(of: &Json) -> JsonSchema {
    JsonSchema::read(&json!({"type": "object", "properties": {"f": of}})).unwrap()
}

fn validator(of: &Json) -> Validator {
    Validator::new(&schema(of), Server::default())
}

/// Checks the errors of a field `f` with the schema `of`.
fn check(of: &Json, value: Json, expected: &[&str]) {
    let object = json!({"f": value});
    let errors = validator(of).validate(&Path::root(), &object);
    let found: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected, "{of} {object}");
}

/// Checks values of the field `f`. Each case is a line with the schema of the field and the value; the expected errors are indented lines
/// after it.
#[track_caller]
fn check_all(cases: &str) {
    let mut lines = cases.trim().lines().peekable();
    while let Some(case) = lines.next() {
        let errors = std::iter::from_fn(|| lines.next_if(|line| line.starts_with("    ")));
        let expected: Vec<_> = errors.map(str::trim_start).collect();
        let (of, value) = case.split_once(" | ").unwrap();
        let [of, value] = [of, value].map(|json| serde_json::from_str(json).unwrap());
        check(&of, value, &expected);
    }
}

/// Checks the errors of an update that changes the field `f` from `old` to `value`.
fn check_update(of: &Json, value: Json, old: Json, expected: &[&str]) {
    let (object, old) = (json!({"f": value}), json!({"f": old}));
    let schema = schema(of);
    let correlation = Correlation::new(&object, &old, &schema);
    let errors = validator(of)
        .validate_update(&Path::root(), correlation.root(), &Work::unbounded())
        .unwrap();
    let found: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected, "{of} {old} {object}");
}

#[test]
fn values_have_the_types_that_the_schema_wants() {
    check_all(
        r#"
{"type": "integer"} | 1
{"type": "integer"} | 2.0
{"type": "integer"} | 1.5
    f: Invalid value: "number": f in body must be of type integer: "number"
    <nil>: Invalid value: "": Checked value must be of type integer (default format) in f
{"type": "integer"} | null
    f: Invalid value: "null": f in body must be of type integer: "null"
{"type": "integer", "nullable": true} | null
{"type": "number"} | 1
{"x-kubernetes-int-or-string": true} | "x"
{"x-kubernetes-int-or-string": true} | 1.5
    f: Invalid value: "number": f in body must be of type integer,string: "number"
{"type": "integer", "format": "int32"} | true
    f: Invalid value: "": f in body must be of type int32: ""
{"type": "integer", "format": "int32"} | 3000000000
    <nil>: Invalid value: "": Checked value must be of type integer with format int32 in f
"#,
    );
}

#[test]
fn formats_are_known_by_type_and_version() {
    // Upstream accepts every list as a date.
    check_all(
        r#"
{"type": "string", "format": "date"} | "x"
    f: Invalid value: "x": f in body must be of type date: "x"
{"type": "string", "format": "date"} | 1
    f: Invalid value: "int64": f in body must be of type date: "int64"
{"type": "string", "format": "date"} | []
{"type": "string", "format": "other"} | "x"
"#,
    );
    let name = schema(&json!({"type": "string", "format": "k8s-short-name"}));
    // The format is new in version 1.34, whose servers do not apply it to objects yet.
    for (version, errors) in [(34, 0), (35, 1)] {
        let validator = Validator::new(&name, KubeVersion::v1(version).into());
        let found = validator.validate(&Path::root(), &json!({"f": "-"}));
        assert_eq!(found.len(), errors, "{version}");
    }
}

#[test]
fn doubles_near_integers_count_as_integers() {
    let integer = json!({"type": "integer"});
    let cents = json!({"type": "number", "multipleOf": 0.01});
    for (of, value, before, errors) in [
        (&integer, 1.5, 2, 2),
        (&integer, 123_456_789.125, 1, 2),
        (&integer, 3.999_999_999_9, 2, 1),
        (&integer, -3.999_999_999_9, 2, 1),
        (&integer, 1e-10, 2, 2),
        (&cents, 1.15, 1, 0),
        (&cents, 1.155, 1, 1),
        (&cents, 1.1, 0, 0),
        (&cents, 1e15, 1, 1),
    ] {
        for (version, errors) in [(36, before), (37, errors)] {
            let validator = Validator::new(&schema(of), KubeVersion::v1(version).into());
            let found = validator.validate(&Path::root(), &json!({"f": value}));
            assert_eq!(found.len(), errors, "{value} in {version}");
        }
    }
}

#[test]
fn numbers_have_bounds() {
    check_all(
        r#"
{"type": "number", "maximum": 2.5} | 3
    f: Invalid value: 3: f in body should be less than or equal to 2
{"type": "number", "minimum": 2.5} | 2.25
    f: Invalid value: 2.25: f in body should be greater than or equal to 2.5
{"type": "number", "minimum": 1e21, "exclusiveMinimum": true} | 1e21
    f: Invalid value: 1e+21: f in body should be greater than 1e+21
{"type": "integer", "maximum": 2.5} | 3
    <nil>: Invalid value: "": Maximum boundary value must be of type integer (default format) in f
    f: Invalid value: 3: f in body should be less than or equal to 2.5
{"type": "number", "multipleOf": 0.5} | 1
    f: Invalid value: 0: factor MultipleOf declared for f must be positive: 0
{"type": "number", "multipleOf": 0.5} | 1.25
    f: Invalid value: 1.25: f in body should be a multiple of 0.5
{"type": "number", "multipleOf": 0.1} | 0.3
"#,
    );
}

#[test]
fn the_first_fault_of_a_text_is_reported() {
    check_all(
        r#"
{"type": "string", "maxLength": 1, "minLength": 1, "pattern": "^a"} | "é"
    f: Invalid value: "é": f in body should match '^a'
{"type": "string", "maxLength": 1, "minLength": 1, "pattern": "^a"} | "bb"
    f: Too long: may not be more than 1 byte
{"type": "string", "maxLength": 1, "minLength": 1, "pattern": "^a"} | ""
    f: Invalid value: "": f in body should be at least 1 chars long
{"type": "string", "pattern": "["} | "x"
    f: Invalid value: "x": f in body should match '[, but pattern is invalid: error parsing regexp: missing closing ]: `[`'
"#,
    );
}

#[test]
fn listed_values_are_compared_as_go_converts_them() {
    let of =
        json!({"x-kubernetes-preserve-unknown-fields": true, "enum": [1, "a", 2.0, {"k": [1]}]});
    for value in [json!(1.9), json!(97), json!(2), json!({"k": [1]})] {
        check(&of, value, &[]);
    }
    let listed = r#"supported values: "1", "a", "2", "{\"k\":[1]}""#;
    for (value, shown) in [
        (json!("1"), "\"1\""),
        (json!(2.5), "2.5"),
        (json!({"k": [1.0]}), "{\"k\":[1]}"),
        (json!(u64::MAX), "1.8446744073709552e+19"),
    ] {
        check(
            &of,
            value,
            &[&format!("f: Unsupported value: {shown}: {listed}")],
        );
    }
    check(
        &json!({"type": "string", "nullable": true, "enum": [null]}),
        json!(null),
        &["f: Unsupported value: null: supported values: \"null\""],
    );
}

#[test]
fn objects_and_lists_are_walked() {
    let of = json!({
        "type": "object",
        "required": ["r"],
        "maxProperties": 1,
        "minProperties": 3,
        "properties": {"l": {"type": "array", "maxItems": 1, "minItems": 3, "uniqueItems": true, "items": {"type": "boolean"}}},
        "additionalProperties": {"type": "string"},
    });
    check(
        &of,
        json!({"l": [true, 1, true], "a.b": 1}),
        &[
            "f: Invalid value: 2: f in body should have at least 3 properties",
            "f: Too many: 2: must have at most 1 item",
            "f.a.b: Invalid value: \"integer\": f.a.b in body must be of type string: \"integer\"",
            "f.l[1]: Invalid value: \"integer\": f.l[1] in body must be of type boolean: \"integer\"",
            "f.l: Too many: 3: must have at most 1 item",
            "f.l: Invalid value: \"\": f.l in body shouldn't contain duplicates",
            "f.r: Required value",
        ],
    );
    check(
        &json!({"type": "object", "additionalProperties": false}),
        json!({"k": 1}),
        &["f: Invalid value: \"k\": f.k in body is a forbidden property"],
    );
}

#[test]
fn the_closest_alternative_is_reported() {
    check_all(
        r#"
{"type": "object", "properties": {"k": {}}, "anyOf": [{"required": ["a", "b"]}, {"properties": {"k": {"type": "object", "maxProperties": 0}}}]} | {"k": {"x": 1}}
    <nil>: Invalid value: "": "f" must validate at least one schema (anyOf)
    f.k: Too many: 1: must have at most 0 items
{"type": "object", "properties": {"k": {}}, "anyOf": [{"required": ["a", "b"]}, {"properties": {"k": {"type": "object", "maxProperties": 0}}}]} | {}
{"type": "integer", "oneOf": [{"minimum": 1}, {"minimum": 2}]} | 1
{"type": "integer", "oneOf": [{"minimum": 1}, {"minimum": 2}]} | 2
    <nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found 2 valid alternatives
{"type": "integer", "oneOf": [{"minimum": 1}, {"minimum": 2}]} | 0
    <nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found none valid
    f: Invalid value: 0: f in body should be greater than or equal to 1
{"type": "string", "allOf": [{"maxLength": 1}, {"maxLength": 1}, {"pattern": "b"}]} | "ab"
    f: Too long: may not be more than 1 byte
    <nil>: Invalid value: "": "f" must validate all the schemas (allOf)
{"type": "string", "not": {"maxLength": 1}} | "a"
    <nil>: Invalid value: "": "f" must not validate the schema (not)
"#,
    );
}

#[test]
fn unchanged_values_may_be_invalid() {
    let of = json!({"type": "object", "properties": {
        "a": {"type": "string", "maxLength": 1},
        "m": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "properties": {"k": {"type": "string"}, "v": {"type": "integer", "maximum": 1}}},
        },
        "l": {"type": "array", "items": {"type": "integer", "maximum": 1}},
    }, "anyOf": [{"properties": {"l": {"maxItems": 1}}}]});
    check_update(&of, json!({"a": "xx"}), json!({"a": "xx", "l": []}), &[]);
    check_update(
        &of,
        json!({"a": "xx"}),
        json!({"a": "yy"}),
        &["f.a: Too long: may not be more than 1 byte"],
    );
    let old = json!({"m": [{"k": "a", "v": 2}, {"k": "b", "v": 2}]});
    check_update(
        &of,
        json!({"m": [{"k": "b", "v": 2}, {"k": "a", "v": 3}, {"k": "c", "v": 2}]}),
        old,
        &[
            "f.m[1].v: Invalid value: 3: f.m[1].v in body should be less than or equal to 1",
            "f.m[2].v: Invalid value: 2: f.m[2].v in body should be less than or equal to 1",
        ],
    );
    check_update(&of, json!({"l": [2]}), json!({"l": [2], "a": "x"}), &[]);
    check_update(
        &of,
        json!({"l": [2, 0]}),
        json!({"l": [2]}),
        &[
            "<nil>: Invalid value: \"\": \"f\" must validate at least one schema (anyOf)",
            "f.l: Too many: 2: must have at most 1 item",
            "f.l[0]: Invalid value: 2: f.l[0] in body should be less than or equal to 1",
        ],
    );
}

#[test]
fn the_type_of_an_object_is_not_compared_with_its_old_type() {
    let schema =
        JsonSchema::read(&json!({"type": "object", "properties": {"kind": {"maxLength": 1}}}))
            .unwrap();
    let object = json!({"kind": "Thing"});
    let correlation = Correlation::new(&object, &object, &schema);
    let validator = Validator::new(&schema, Server::default());
    // This object is unchanged as a whole. Below, a field that the schema does not know makes the object count as changed.
    assert_eq!(
        validator
            .validate_update(&Path::root(), correlation.root(), &Work::unbounded())
            .unwrap(),
        []
    );
    let object = json!({"kind": "Thing", "metadata": {}});
    let correlation = Correlation::new(&object, &object, &schema);
    let errors = validator
        .validate_update(&Path::root(), correlation.root(), &Work::unbounded())
        .unwrap();
    assert_eq!(errors.len(), 1);
}

#[test]
fn errors_may_have_a_base() {
    let errors =
        validator(&json!({"type": "string"})).validate(&Path::new("status"), &json!({"f": 1}));
    let expected =
        "status.f: Invalid value: \"integer\": f in body must be of type string: \"integer\"";
    assert_eq!(errors[0].to_string(), expected);
}

fn check_list_types(of: &Json, value: Json, expected: &[&str]) {
    let object = json!({"f": value});
    let errors = validator(of)
        .validate_list_types(&Path::root(), &object, &Work::unbounded())
        .unwrap();
    let found: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(found, expected, "{of} {object}");
}

#[test]
fn elements_of_sets_are_unique() {
    let set = json!({"type": "array", "x-kubernetes-list-type": "set", "items": {}});
    check_list_types(&set, json!([1, 1.0, "1", null, true]), &[]);
    check_list_types(
        &set,
        json!([1, 1, 1, null, null, [1], [1.0]]),
        &[
            "f[1]: Duplicate value: 1",
            "f[4]: Duplicate value: null",
            "f[6]: Duplicate value: [1]",
        ],
    );
}

#[test]
fn keys_of_lists_of_type_map_are_unique() {
    let list = |keys: &[&str]| {
        json!({
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": keys,
                "items": {"type": "object"},
            },
        })
    };
    check_list_types(
        &list(&["k"]),
        json!({"m": [{"k": 1}, {"k": 1}, {}, null, {"k": null}]}),
        &[
            "f[m][1]: Duplicate value: {\"k\":1}",
            "f[m][3]: Duplicate value: {}",
        ],
    );
    check_list_types(
        &list(&["k", "l"]),
        json!({"m": [{"k": 1, "l": 2}, {"k": 1}, {"k": 1.0, "x": 3}]}),
        &["f[m][2]: Duplicate value: {\"k\":1}"],
    );
    check_list_types(
        &list(&["k"]),
        json!({"m": [null, 1, 1]}),
        &["f[m][1]: Invalid value: 1: must be an object for an array of list-type map"],
    );
}

#[test]
fn some_errors_prevent_the_evaluation_of_rules() {
    let path = Path::new("f");
    let invalid = Error::invalid(&path, 1, "");
    assert_eq!(blocked(std::slice::from_ref(&invalid)), None);
    let error = blocked(&[invalid, Error::required(&path, "")]).unwrap();
    assert_eq!(
        error.to_string(),
        "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
    );
}

#[test]
fn the_deepest_schema_is_walked() {
    let mut of = json!({"type": "string", "maxLength": 0});
    let mut value = json!("x");
    for level in 0..crate::MAX_DEPTH - 2 {
        (of, value) = match level % 3 {
            0 => (json!({"items": of}), json!([value])),
            1 => (json!({"properties": {"k": of}}), json!({"k": value})),
            _ => (json!({"allOf": [of]}), value),
        };
    }
    let object = json!({"f": value});
    let errors = validator(&of).validate(&Path::root(), &object);
    assert_eq!(errors[0].kind, ErrorType::TooLong);
}

#[test]
fn values_may_be_nested_more_than_schemas() {
    let deep = |inner: Json| (0..1_000).fold(inner, |value, _| json!([value]));
    let of = json!({
        "type": "array",
        "x-kubernetes-preserve-unknown-fields": true,
        "uniqueItems": true,
        "enum": [[deep(json!(1)), deep(json!(2))]],
    });
    check(&of, json!([deep(json!(1)), deep(json!(2))]), &[]);
    let set = json!({"type": "array", "x-kubernetes-list-type": "set"});
    let object = json!({"f": [deep(json!(1)), 2]});
    assert_eq!(
        validator(&set)
            .validate_list_types(&Path::root(), &object, &Work::unbounded())
            .unwrap(),
        []
    );
}

#[test]
fn errors_are_limited() {
    let key = "k".repeat(1 << 20);
    let of = json!({"type": "object", "additionalProperties": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}});
    let items: Vec<Json> = (0..100).flat_map(|n| [json!(n), json!(n)]).collect();
    let object = json!({"f": {key: items}});
    let validator = validator(&of);
    assert_eq!(validator.validate(&Path::root(), &object).len(), 8);
    let lists = validator
        .validate_list_types(&Path::root(), &object, &Work::unbounded())
        .unwrap();
    assert_eq!(lists.len(), 16);
}

#[test]
fn faults_are_limited_in_number() {
    let required: Vec<_> = (0..1_000).map(|n| format!("r{n}")).collect();
    let of = json!({"type": "array", "items": {"type": "object", "required": required}});
    let object = json!({"f": vec![json!({}); 600]});
    let validator = validator(&of);
    let work = Work::unbounded();
    let places = Places::new(&work);
    let outcome = validator.root.outcome(&object, &places.root());
    assert_eq!(outcome.faults.len(), 1 << 19);
}

#[test]
fn a_deadline_ends_the_walk() {
    let interrupted = |of: Json, value: Json| {
        let validator = validator(&of);
        let checks = AtomicUsize::new(0);
        let interrupt = || checks.fetch_add(1, Ordering::Relaxed) >= 2;
        let work = Work::new(Some(&interrupt));
        let object = json!({"f": value});
        let found = validator.validate_within(&Path::root(), &object, &work);
        assert_eq!(found, Err(Interrupted), "{of}");
        assert_eq!(checks.load(Ordering::Relaxed), 3, "{of}");
    };
    let text = json!("é".repeat(200_000));
    interrupted(
        json!({"type": "string", "pattern": r"[\p{L}\p{N}]{1,253}!$"}),
        text.clone(),
    );
    interrupted(json!({"type": "string", "pattern": r"\pL{900}\pN"}), text);
    let numbers = Json::from_iter(0..20_000);
    interrupted(
        json!({"type": "array", "items": {"type": "integer"}}),
        numbers.clone(),
    );
    interrupted(json!({"type": "array", "uniqueItems": true}), numbers);
}

#[test]
fn a_deadline_ends_the_search_for_duplicates() {
    let set =
        json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}});
    let object = json!({"f": Json::from_iter(0..20_000)});
    let interrupt = || true;
    let work = Work::new(Some(&interrupt));
    let found = validator(&set).validate_list_types(&Path::root(), &object, &work);
    assert_eq!(found, Err(Interrupted));
}
