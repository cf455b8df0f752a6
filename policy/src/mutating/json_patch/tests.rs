use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::*;

fn operation(json: &Json) -> Operation<'_> {
    let text = |key: &str| json[key].as_str().unwrap_or_default();
    Operation {
        op: text("op"),
        path: text("path"),
        from: text("from"),
        value: json.get("value").cloned(),
    }
}

fn parsed(json: &str) -> Json {
    serde_json::from_str(json).unwrap()
}

fn patched(document: Json, operations: &Json) -> Result<Json, PatchFailure> {
    patched_with(document, operations, &Work::unbounded())
}

fn patched_with(document: Json, operations: &Json, work: &Work<'_>) -> Result<Json, PatchFailure> {
    let operations = operations.as_array().unwrap().iter();
    apply(document, operations.map(operation).collect(), work)
}

#[test]
fn operations_are_applied_in_order() {
    let document = || json!({"a": {"b": 1}, "l": ["x", "y", "z"], "n": null});
    let cases = r#"
[] => {"a": {"b": 1}, "l": ["x", "y", "z"], "n": null}
[{"op": "add", "path": "/a/c", "value": 2}] => {"a": {"b": 1, "c": 2}, "l": ["x", "y", "z"], "n": null}
[{"op": "add", "path": "/a/~0~1", "value": 2}] => {"a": {"b": 1, "~/": 2}, "l": ["x", "y", "z"], "n": null}
[{"op": "add", "path": "/a/~2", "value": 2}] => {"a": {"b": 1, "~2": 2}, "l": ["x", "y", "z"], "n": null}
[{"op": "add", "path": "/a/~01", "value": 2}] => {"a": {"b": 1, "~1": 2}, "l": ["x", "y", "z"], "n": null}
[{"op": "replace", "path": "/a/new", "value": 2}] => {"a": {"b": 1, "new": 2}, "l": ["x", "y", "z"], "n": null}
[{"op": "add", "path": "/l/-", "value": "e"}, {"op": "remove", "path": "/l/0"}] => {"a": {"b": 1}, "l": ["y", "z", "e"], "n": null}
[{"op": "add", "path": "/l/-1", "value": "e"}] => {"a": {"b": 1}, "l": ["x", "y", "z", "e"], "n": null}
[{"op": "add", "path": "/l/-4", "value": "e"}] => {"a": {"b": 1}, "l": ["e", "x", "y", "z"], "n": null}
[{"op": "replace", "path": "/l/-1", "value": "e"}] => {"a": {"b": 1}, "l": ["x", "y", "e"], "n": null}
[{"op": "move", "from": "/l/0", "path": "/l/2"}] => {"a": {"b": 1}, "l": ["y", "z", "x"], "n": null}
[{"op": "copy", "from": "/a", "path": "/l/01"}] => {"a": {"b": 1}, "l": ["x", {"b": 1}, "y", "z"], "n": null}
[{"op": "copy", "from": "/none", "path": "/c"}] => {"a": {"b": 1}, "l": ["x", "y", "z"], "n": null, "c": null}
[{"op": "test", "path": "/none"}, {"op": "test", "path": "/n"}] => {"a": {"b": 1}, "l": ["x", "y", "z"], "n": null}
[{"op": "test", "path": "/a", "value": {"b": 1.0}}] => {"a": {"b": 1}, "l": ["x", "y", "z"], "n": null}
[{"op": "add", "path": "/m", "value": null}, {"op": "test", "path": "/m", "value": null}] => {"a": {"b": 1}, "l": ["x", "y", "z"], "n": null, "m": null}
[{"op": "replace", "path": "", "value": {"k": 1}}] => {"k": 1}
[{"op": "add", "path": "/", "value": 1}] => {"a": {"b": 1}, "l": ["x", "y", "z"], "n": null, "": 1}
"#;
    for case in cases.trim().lines() {
        let (operations, expected) = case.split_once(" => ").unwrap();
        let (operations, expected) = (parsed(operations), parsed(expected));
        assert_eq!(
            patched(document(), &operations),
            Ok(expected),
            "{operations}"
        );
    }
}

#[test]
fn null_equals_empty_objects_and_lists() {
    let put = json!({"op": "add", "path": "/a", "value": null});
    for value in [json!({}), json!([])] {
        let test = json!({"op": "test", "path": "/a", "value": null});
        assert_eq!(
            patched(json!({"a": value}), &json!([test])),
            Ok(json!({"a": value}))
        );
    }
    let test = json!({"op": "test", "path": "/a", "value": {}});
    assert_eq!(
        patched(json!({}), &json!([put, test])),
        Ok(json!({"a": null}))
    );
}

#[test]
fn a_test_that_fails_is_no_error() {
    for operation in [
        json!({"op": "test", "path": "/a", "value": 2}),
        json!({"op": "test", "path": "/a", "value": "1"}),
        json!({"op": "test", "path": "/a"}),
        json!({"op": "test", "path": "/n", "value": null}),
        json!({"op": "test", "path": "/none", "value": null}),
        json!({"op": "test", "path": "", "value": {"a": 1}}),
    ] {
        let found = patched(json!({"a": 1, "n": null}), &json!([operation]));
        assert_eq!(found, Err(PatchFailure::Test), "{operation}");
    }
}

fn failed(message: &str) -> Result<Json, PatchFailure> {
    Err(PatchFailure::Error(message.to_owned()))
}

/// Kubernetes 1.36 returns the same results.
#[test]
fn a_null_set_by_the_patch_is_an_empty_object() {
    let put = json!({"op": "replace", "path": "/a", "value": null});
    let apply =
        |operation: Json| patched(json!({"a": {"b": 1}, "n": null}), &json!([put, operation]));
    let test = |value: Json| json!({"op": "test", "path": "/a/b", "value": value});
    assert_eq!(apply(test(json!(1))), Err(PatchFailure::Test));
    assert_eq!(
        apply(json!({"op": "test", "path": "/a/b"})),
        Ok(json!({"a": null, "n": null}))
    );
    let copied = Ok(json!({"a": null, "n": null, "z": null}));
    assert_eq!(
        apply(json!({"op": "copy", "from": "/a/b", "path": "/z"})),
        copied
    );
    // kube-apiserver panics.
    let unset = "error in add for path: '/a/b': assignment to entry in nil map";
    assert_eq!(
        apply(json!({"op": "add", "path": "/a/b", "value": 1})),
        failed(unset)
    );
    let missing =
        "error in remove for path: '/a/b': Unable to remove nonexistent key: b: missing value";
    assert_eq!(
        apply(json!({"op": "remove", "path": "/a/b"})),
        failed(missing)
    );
    let below = "test operation does not apply: is missing path: /a/b/c: missing value";
    assert_eq!(
        apply(json!({"op": "test", "path": "/a/b/c", "value": 1})),
        failed(below)
    );
    let before = "test operation does not apply: is missing path: /n/b: missing value";
    assert_eq!(
        apply(json!({"op": "test", "path": "/n/b", "value": 1})),
        failed(before)
    );
}

#[test]
fn errors_are_upstreams() {
    let cases = r#"
{"op": "add", "path": "/x/y", "value": 1} => add operation does not apply: doc is missing path: "/x/y": missing value
{"op": "add", "path": "/a/y", "value": 1} => add operation does not apply: doc is missing path: "/a/y": missing value
{"op": "add", "path": "", "value": 1} => add operation does not apply: doc is missing path: "": missing value
{"op": "add", "path": "/l/9", "value": 1} => error in add for path: '/l/9': Unable to access invalid index: 9: invalid index referenced
{"op": "add", "path": "/l/x", "value": 1} => error in add for path: '/l/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax
{"op": "add", "path": "/l/99999999999999999999", "value": 1} => error in add for path: '/l/99999999999999999999': value was not a proper array index: '99999999999999999999': strconv.Atoi: parsing "99999999999999999999": value out of range
{"op": "add", "path": "/l/9223372036854775807", "value": 1} => error in add for path: '/l/9223372036854775807': Unable to access invalid index: 9223372036854775807: invalid index referenced
{"op": "remove", "path": "/l/-9223372036854775808"} => error in remove for path: '/l/-9223372036854775808': Unable to access invalid index: -9223372036854775808: invalid index referenced
{"op": "remove", "path": "/l/-"} => error in remove for path: '/l/-': strconv.Atoi: parsing "-": invalid syntax
{"op": "remove", "path": "/b"} => error in remove for path: '/b': Unable to remove nonexistent key: b: missing value
{"op": "replace", "path": "/l/5", "value": 1} => replace operation does not apply: doc is missing key: /l/5: missing value
{"op": "replace", "path": "/b/c", "value": 1} => replace operation does not apply: doc is missing path: /b/c: missing value
{"op": "move", "from": "/none", "path": "/b"} => error in move for path: 'none': Unable to remove nonexistent key: none: missing value
{"op": "copy", "path": "/b"} => copy operation failed to decode from: operation, missing from field: missing value
{"op": "copy", "from": "/a", "path": "b"} => copy operation does not apply: doc is missing destination path: b: missing value
{"op": "test", "path": "/x/y", "value": 1} => test operation does not apply: is missing path: /x/y: missing value
{"op": "merge", "path": "/a"} => Unexpected kind: merge
{"op": "add", "path": "/\u007f"} => add operation failed to decode path: missing value
{"op": "remove", "path": "/\u007f"} => remove operation failed to decode path: missing value
{"op": "replace", "path": "/\u007f"} => replace operation failed to decode path: invalid character 'x' in string escape code
{"op": "test", "path": "/\u007f"} => test operation failed to decode path: invalid character 'x' in string escape code
{"op": "move", "from": "/a", "path": "/\u007f"} => move operation failed to decode path: invalid character 'x' in string escape code
{"op": "copy", "from": "/a", "path": "/\u007f"} => copy operation failed to decode path: missing value
{"op": "copy", "from": "/\u007f", "path": "/b"} => copy operation failed to decode from: invalid character 'x' in string escape code
{"op": "\u007f"} => Unexpected kind: unknown
{"op": "move", "from": "/x/y", "path": "/b"} => move operation does not apply: doc is missing from path: /x/y: missing value
{"op": "move", "from": "/a", "path": "/l/9"} => error in move for path: '/l/9': Unable to access invalid index: 9: invalid index referenced
{"op": "copy", "from": "/x/y", "path": "/b"} => copy operation does not apply: doc is missing from path: /x/y: missing value
{"op": "copy", "from": "/l/x", "path": "/b"} => error in copy for from: '/l/x': strconv.Atoi: parsing "x": invalid syntax
{"op": "copy", "from": "/a", "path": "/l/9"} => error while adding value during copy: Unable to access invalid index: 9: invalid index referenced
"#;
    for case in cases.trim().lines() {
        let (operation, expected) = case.split_once(" => ").unwrap();
        let found = patched(json!({"a": 1, "l": ["x"]}), &json!([parsed(operation)]));
        assert_eq!(found, failed(expected), "{operation}");
    }
    let found = patched(json!({}), &json!([{"path": "/a"}]));
    assert_eq!(found, failed("Unexpected kind: "));
}

#[test]
fn copies_are_bounded() {
    let mut operations = vec![json!({"op": "add", "path": "/a", "value": "x".repeat(1000)})];
    for _ in 0..40 {
        operations.push(json!({"op": "copy", "from": "", "path": "/b"}));
        operations.push(json!({"op": "add", "path": "/list", "value": []}));
        operations.push(json!({"op": "copy", "from": "/a", "path": "/list/-"}));
        operations.push(json!({"op": "move", "from": "/list", "path": "/a"}));
    }
    assert!(matches!(
        patched(json!({}), &Json::Array(operations)),
        Err(PatchFailure::Error(_))
    ));
    let doubling = (0..64).flat_map(|_| {
        [
            json!({"op": "copy", "from": "/a", "path": "/b/x"}),
            json!({"op": "copy", "from": "/a", "path": "/b/y"}),
            json!({"op": "move", "from": "/b", "path": "/a"}),
            json!({"op": "add", "path": "/b", "value": {}}),
        ]
    });
    let failed = patched(json!({"a": "1", "b": {}}), &doubling.collect());
    let Err(PatchFailure::Error(message)) = failed else {
        panic!("too large");
    };
    assert!(
        message.starts_with("Unable to complete the copy"),
        "{message}"
    );
}

#[test]
fn moving_the_elements_of_long_lists_is_interrupted() {
    for operation in [
        json!({"op": "add", "path": "/l/0", "value": 1}),
        json!({"op": "remove", "path": "/l/0"}),
        json!({"op": "move", "from": "/l/0", "path": "/l/0"}),
        json!({"op": "copy", "from": "/l/0", "path": "/l/0"}),
    ] {
        let questions = AtomicUsize::new(0);
        let interrupt = || questions.fetch_add(1, Ordering::Relaxed) >= 3;
        let work = Work::new(Some(&interrupt));
        let document = json!({"l": vec![0; 100_000]});
        let found = patched_with(document, &vec![operation; 10].into(), &work);
        assert_eq!(found, Err(PatchFailure::Interrupted(Interrupted)));
    }
}

#[test]
fn reading_long_paths_is_interrupted() {
    let interrupt = || true;
    let work = Work::new(Some(&interrupt));
    let path = format!("/{}", "k".repeat(100_000));
    let test = json!({"op": "test", "path": path});
    let found = patched_with(json!({}), &vec![test; 2].into(), &work);
    assert_eq!(found, Err(PatchFailure::Interrupted(Interrupted)));
}

#[test]
fn documents_are_limited_in_depth() {
    let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"k": inner}));
    let document = || json!({"a": nested(100), "b": nested(350)});
    let path = |levels: usize| format!("/a{}", "/k".repeat(levels));
    let copy = |levels: usize| json!([{"op": "copy", "from": "/b", "path": path(levels)}]);
    assert!(patched(document(), &copy(49)).is_ok());
    let error = PatchFailure::Error("values may be nested at most 400 deep".to_owned());
    let doubled = json!({"op": "copy", "from": "/a", "path": path(100)});
    for operations in [
        copy(50),
        json!([{"op": "move", "from": "/b", "path": path(50)}]),
        json!([{"op": "add", "path": path(50), "value": nested(350)}]),
        json!([{"op": "replace", "path": path(50), "value": nested(350)}]),
        json!([doubled, {"op": "copy", "from": "/a", "path": path(200)}]),
    ] {
        assert_eq!(patched(document(), &operations), Err(error.clone()));
    }
}
