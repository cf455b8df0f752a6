//! Errors of the command line and of inputs: programs that read JSON get them as JSON.
#![cfg(test)]

use serde_json::Value as Json;

#[expect(dead_code, reason = "other tests use the rest of this module")]
mod program;

use program::{Folder, definition, gavel, mutating_policy};

/// Runs a command with JSON output. Returns the exit status and the values that it prints.
fn json(folder: &Folder, args: &str) -> (i32, Vec<Json>) {
    let (command, rest) = args.split_once(' ').unwrap_or((args, ""));
    let (status, out, err) = folder.gavel(&format!("{command} -o json {rest}"));
    let values = serde_json::Deserializer::from_str(&out).into_iter();
    let values = values.map(|value| value.unwrap_or_else(|_| panic!("{args}: {out}{err}")));
    (status, values.collect())
}

/// The text of an error, in any of the three forms: of findings, of errors beside other results, and of answers.
fn message(value: &Json) -> Option<&str> {
    let messages = [
        &value["error"],
        &value["error"]["message"],
        &value["message"],
    ];
    messages.into_iter().find_map(Json::as_str)
}

#[test]
fn inputs_that_cannot_be_used_are_errors_in_json() {
    let mutating = mutating_policy("size", "configmaps", "Object{size: 1}");
    let folder = Folder::new()
        .with_copies(&["check/policy.yaml", "check/deployments.yaml"])
        .with("bad.yaml", "kind: Pod\nmetadata: {name: a\n")
        .with("empty.yaml", "")
        .with("mutating.yaml", &mutating)
        .with(
            "rule.yaml",
            &definition(
                "        type: object\n        x-kubernetes-validations: [{rule: self.a}]\n",
            ),
        );
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    for command in [
        "audit deployments.yaml --policies",
        "audit --policies policy.yaml --",
        "check policy.yaml",
        "check deployments.yaml --policies",
        "cost",
        "cost policy.yaml -f",
        "cost policy.yaml --compare",
        "eval true --as a --rbac",
        "eval -f",
        "lint",
        "lint policy.yaml --config",
        "lint policy.yaml --write-baseline known --old",
        "mutate deployments.yaml --policies",
        "mutate --policies mutating.yaml",
        "test",
        "upgrade-check --from 1.36",
        "upgrade-check --from 1.36 policy.yaml --sample",
        "validate deployments.yaml --crd",
    ] {
        for (file, expected) in [
            ("none.yaml", "No such file or directory"),
            ("bad.yaml", "this { is not closed"),
            ("folder", "no files that end in .yaml, .yml or .json"),
        ] {
            let (status, values) = json(&folder, &format!("{command} {file}"));
            // A file of an expression can contain anything, and has no folder.
            let expected = match (command, file) {
                ("eval -f", "bad.yaml") => "Syntax error",
                ("eval -f" | "lint policy.yaml --config", "folder") => "Is a directory",
                _ => expected,
            };
            let messages: Vec<&str> = values.iter().filter_map(message).collect();
            let is_found = messages.iter().any(|message| message.contains(expected));
            assert!(is_found, "{command} {file}: {messages:?}");
            assert_ne!(status, 0, "{command} {file}");
        }
    }
    let cases = r#"
cost empty.yaml => nothing to cost: there must be a definition, or a policy that matches a known kind
cost rule.yaml => undefined field 'a'
upgrade-check --from 1.36 empty.yaml => PATH must name a definition,
mutate deployments.yaml --policies rule.yaml => undefined field 'a'
eval x --bind x={ => --bind x: the value is not valid JSON:
eval x --var x=int --bind x=1.5 => --bind x: must be a whole number
eval x --bind x=@none.yaml => none.yaml: No such file or directory
explain optional-fielt => there is no rule "optional-fielt"; did you mean optional-field?
check --explian policy.yaml => unexpected argument '--explian' found
lint => the following required arguments were not provided: <PATH>...
eval true --cost-limit x => invalid value 'x' for '--cost-limit <UNITS>': must be a whole number
"#;
    for case in cases.trim().lines() {
        let (args, expected) = case.split_once(" => ").unwrap();
        let (status, values) = json(&folder, args);
        let messages: Vec<&str> = values.iter().filter_map(message).collect();
        let is_found = messages.iter().any(|message| message.contains(expected));
        assert!(is_found, "{args}: {messages:?}");
        assert_eq!(status, 2, "{args}");
    }
    let args = "check --explian policy.yaml --output=sarif";
    let (_, log, _) = folder.gavel(args);
    let log: Json = serde_json::from_str(&log).unwrap();
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
}

#[test]
fn denials_of_mutate_are_errors_in_json() {
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let mutating = mutating_policy("size", "configmaps", "Object{size: 1}");
    let folder = Folder::new()
        .with("a.yaml", object)
        .with("policy.yaml", &mutating);
    let (status, values) = json(&folder, "mutate a.yaml --policies policy.yaml");
    let [denied] = values.as_slice() else {
        panic!("{values:?}");
    };
    assert_eq!(
        (status, &denied["file"], &denied["line"]),
        (1, &"a.yaml".into(), &1.into())
    );
    let message = message(denied).unwrap();
    assert!(
        message.starts_with("policy 'size' with binding 'size' denied request: "),
        "{message}"
    );
}

#[test]
fn numbers_must_be_whole_and_in_their_range() {
    let folder = Folder::new();
    let cases = "\
eval 1 --cost-limit abc => invalid value 'abc' for '--cost-limit <UNITS>': must be a whole number from 0 to 18446744073709551615
audit --chunk-size 10001 => '--chunk-size <COUNT>': must be a whole number from 1 to 10000
serve --demo --max-connections x => '--max-connections <COUNT>': must be a whole number from 1 to 18446744073709551615
serve --demo --max-waiting 1.5 => '--max-waiting <COUNT>': must be a whole number from 1 to
serve --demo --max-evaluations 0 => '--max-evaluations <COUNT>': must be a whole number from 1 to
test . --coverage --coverage-threshold 101 => '--coverage-threshold <PERCENT>': must be a whole number from 0 to 100
audit --shard 3/3 => '--shard <K/N>': must be K/N, with K from 0 to N-1
";
    for case in cases.lines() {
        let (args, expected) = case.split_once(" => ").unwrap();
        let (status, _, err) = folder.gavel(args);
        assert_eq!(status, 2, "{args}: {err}");
        assert!(err.contains(expected), "{args}: {err}");
    }
}

#[cfg(unix)]
#[test]
fn devices_that_do_not_end_are_refused() {
    let folder = Folder::new();
    let expected =
        "error: /dev/zero: must be a file, a folder, or - for standard input, but is a device\n";
    for args in ["lint /dev/zero", "eval -f /dev/zero"] {
        let (status, _, err) = folder.gavel(args);
        assert_eq!((status, err.as_str()), (2, expected), "{args}");
    }
    let policy = "apiVersion: v1\nkind: Pod\n";
    for (args, input) in [
        ("eval -f /dev/stdin", "1"),
        ("lint /dev/null /dev/stdin --config /dev/null", policy),
    ] {
        let (_, _, err) = gavel(folder.path(), args, input);
        assert!(!err.contains("device"), "{args}: {err}");
    }
}
