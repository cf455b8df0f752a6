//! `gavel eval`, run as a user runs it: its output and its exit status.
#![cfg(test)]

#[expect(dead_code, reason = "the tests of this command need no folders")]
mod program;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

struct Ran {
    status: i32,
    out: String,
    err: String,
}

fn gavel_with_input(args: &[&str], input: &str) -> Ran {
    let args = [&["eval"], args].concat();
    let (status, out, err) = program::run(Path::new("."), &args, input);
    Ran { status, out, err }
}

fn gavel(args: &[&str]) -> Ran {
    gavel_with_input(args, "")
}

/// Writes a file for a test, and returns the path.
fn file(name: &str, content: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).unwrap();
    path
}

fn check(args: &[&str], expected: &str) {
    let ran = gavel(args);
    assert_eq!(
        (ran.out.as_str(), ran.err.as_str(), ran.status),
        (expected, "", 0),
        "{args:?}"
    );
}

fn rejects(args: &[&str], expected: &str) {
    let ran = gavel(args);
    assert_eq!(
        (ran.out.as_str(), ran.err.as_str(), ran.status),
        ("", expected, 1),
        "{args:?}"
    );
}

/// Checks that the command fails, and that standard error contains `expected`.
fn refuses(args: &[&str], expected: &str) {
    let ran = gavel(args);
    assert_eq!((ran.out.as_str(), ran.status), ("", 2), "{args:?}");
    assert!(ran.err.contains(expected), "{args:?}: {}", ran.err);
}

#[test]
fn values_print_as_cel_with_their_type() {
    check(&["[1, 2, 3].map(x, x * 2)"], "[2, 4, 6]\ntype: list(int)\n");
    check(&["-1"], "-1\ntype: int\n");
    check(&["'a\"\\n' + 'é'"], "\"a\\\"\\né\"\ntype: string\n");
    check(&["[1u, 2u]"], "[1u, 2u]\ntype: list(uint)\n");
    check(
        &["[1.0, 0.5, 1e30, 1.0 / 0.0]"],
        "[1.0, 0.5, 1e+30, double(\"Infinity\")]\ntype: list(double)\n",
    );
    check(&["b'a\\xff\"'"], "b\"a\\xff\\\"\"\ntype: bytes\n");
    check(
        &["{'b': dyn(null), 'a': dyn(true)}"],
        "{\"a\": true, \"b\": null}\ntype: map(string, dyn)\n",
    );
    check(
        &["duration('90m')"],
        "duration(\"1h30m0s\")\ntype: google.protobuf.Duration\n",
    );
    check(
        &["timestamp('2026-01-01T00:00:00Z')"],
        "timestamp(\"2026-01-01T00:00:00Z\")\ntype: google.protobuf.Timestamp\n",
    );
    check(
        &["optional.of(1)"],
        "optional.of(1)\ntype: optional_type(int)\n",
    );
    check(
        &["optional.none()"],
        "optional.none()\ntype: optional_type(dyn)\n",
    );
    check(&["type(1)"], "int\ntype: type(int)\n");
}

#[test]
fn variables_are_declared_and_bound() {
    check(
        &["x + 1", "--var", "x=int", "--bind", "x=41"],
        "42\ntype: int\n",
    );
    check(
        &["x.y[0]", "--bind", "x={\"y\": [2.5]}"],
        "2.5\ntype: dyn\n",
    );
    check(
        &[
            "t.getFullYear()",
            "--var",
            "t=timestamp",
            "--bind",
            "t=\"2026-01-31T12:00:00Z\"",
        ],
        "2026\ntype: int\n",
    );
    check(
        &[
            "m[2]",
            "--var",
            "m=map(int, string)",
            "--bind",
            "m={\"2\": \"b\"}",
        ],
        "\"b\"\ntype: string\n",
    );
    rejects(
        &["x", "--var", "x=int"],
        "ERROR: <input>:1:1: no such attribute(s): x\n | x\n | ^\n",
    );
}

#[test]
fn files_hold_bindings_and_expressions() {
    let yaml = file("eval-ok.yaml", "spec:\n  replicas: 3\n  paused: off\n");
    let json = file("eval-ok.json", "{\"n\": 1.0}");
    let expr = file("eval.cel", "object.spec.replicas <= 5\n");
    let (yaml, json) = (
        format!("object=@{}", yaml.display()),
        format!("object=@{}", json.display()),
    );
    check(
        &["object.spec.paused", "--bind", &yaml],
        "false\ntype: dyn\n",
    );
    check(&["object", "--bind", &json], "{\"n\": 1}\ntype: dyn\n");
    let inline = "object={\"n\": 1.0}";
    check(&["object", "--bind", inline], "{\"n\": 1.0}\ntype: dyn\n");
    check(
        &["--file", &expr.display().to_string(), "--bind", &yaml],
        "true\ntype: bool\n",
    );
    for text in ["1 +\n 1", "\u{feff}1 + 1\r\n"] {
        let ran = gavel_with_input(&["-"], text);
        assert_eq!((ran.out.as_str(), ran.status), ("2\ntype: int\n", 0));
    }
    let ran = gavel_with_input(&["x.a", "--bind", "x=@-"], "a: yes");
    assert_eq!((ran.out.as_str(), ran.status), ("true\ntype: dyn\n", 0));
}

#[test]
fn costs_are_shown() {
    check(
        &[
            "x.size()",
            "--var",
            "x=string",
            "--bind",
            "x=\"abc\"",
            "--cost",
        ],
        "3\ntype: int\ncost: 2\nestimated cost: 2 to 2\n",
    );
    rejects(
        &["[1, 2].all(x, x > 0)", "--cost-limit", "2"],
        "error: operation cancelled: actual cost limit exceeded\n",
    );
}

#[test]
fn problems_are_shown_where_they_are() {
    rejects(
        &["1 +\n  foo"],
        "ERROR: <input>:2:3: undeclared reference to 'foo' (in container '')\n |   foo\n | ..^\n\
         note: --bind foo=JSON or foo=@FILE sets a variable, --var foo=TYPE declares its type\n",
    );
    rejects(
        &["[1].all(x,\n  0 < 1 / 0)"],
        "ERROR: <input>:2:9: division by zero\n |   0 < 1 / 0)\n | ........^\n",
    );
    rejects(
        &["true && [1, 0].exists_one(x, 1 / x > 1)"],
        "ERROR: <input>:1:32: division by zero\n | true && [1, 0].exists_one(x, 1 / x > 1)\n | ...............................^\n",
    );
    rejects(
        &["true || 1 == int('x')"],
        "ERROR: <input>:1:17: type conversion error from 'string' to 'int'\n | true || 1 == int('x')\n | ................^\n",
    );
    let ran = gavel(&["(1"]);
    assert!(
        ran.err.starts_with("ERROR: <input>:1:3: Syntax error: "),
        "{}",
        ran.err
    );
    assert_eq!(ran.status, 1);
}

#[test]
fn json_output_is_an_answer_of_the_protocol() {
    check(
        &["duration('1s')", "--output", "json"],
        "{\"ok\":true,\"type\":\"google.protobuf.Duration\",\"typeFormatted\":\"duration\",\"estimate\":{\"min\":1,\"max\":1},\
         \"value\":{\"duration\":\"1s\"},\"cost\":0}\n",
    );
    let ran = gavel(&["1 / 0", "-o", "json"]);
    let expected = "{\"ok\":false,\"type\":\"int\",\"estimate\":{\"min\":1,\"max\":1},\"cost\":1,\
                    \"error\":{\"phase\":\"eval\",\"message\":\"division by zero\"}}\n";
    assert_eq!(
        (ran.out.as_str(), ran.err.as_str(), ran.status),
        (expected, "", 1)
    );
}

#[test]
fn the_environment_is_chosen() {
    check(&["math.abs(-1)", "--env", "cel"], "1\ntype: int\n");
    assert_eq!(gavel(&["math.abs(-1)"]).status, 1);
    assert_eq!(
        gavel(&["optional.of(1)", "--kubernetes-version", "1.27"]).status,
        1
    );
    check(
        &["optional.of(1)", "--kubernetes-version", "1.27", "--stored"],
        "optional.of(1)\ntype: optional_type(int)\n",
    );
    check(
        &["b", "--env", "cel", "--container", "a", "--bind", "a.b=1"],
        "1\ntype: dyn\n",
    );
}

#[test]
fn wrong_command_lines_are_answered_with_usage() {
    refuses(&[], "required arguments were not provided");
    refuses(
        &["1", "--kubernetes-version", "1.99"],
        "Kubernetes 1.99 is unknown; the version must be from 1.0 to 1.37",
    );
    refuses(
        &["1", "--kubernetes-version", "new"],
        "write for example 1.37",
    );
    refuses(&["1", "--var", "x"], "must be NAME=…");
    refuses(
        &["1", "--var", "x=list(strng)"],
        "\"list(strng)\" is not a type; write for example",
    );
    refuses(
        &["1", "--var", "x=int", "--var", "x=uint"],
        "--var x must be given once",
    );
    refuses(
        &["1", "--bind", "x=abc"],
        "a string is written 'x=\"text\"'",
    );
    refuses(
        &["1", "--bind", "x={\"a\": 1, \"a\": 2}"],
        "the value has a duplicate key: 1:10: the key `a` is already set at 1:2",
    );
    refuses(
        &["1", "--bind", "x=1", "--bind", "x=2"],
        "--bind x must be given once",
    );
    refuses(
        &["1", "--var", "x=list(int)", "--bind", "x=[1, 1.5]"],
        "--bind x[1]: must be a whole number",
    );
    refuses(
        &["1", "--container", "a"],
        "--container must not be given without --env cel",
    );
    refuses(
        &["1", "--timeout", "5"],
        "must be a duration above 0 such as 500ms",
    );
    refuses(&["-", "--bind", "x=@-"], "standard input must be read once");
}

#[test]
fn wrong_files_are_named_with_line_and_column() {
    let yaml = file("wrong.yaml", "a: 1\nb: [1, 2\nc: 3\n");
    let json = file("wrong.json", "{\"a\": 1,\n \"b\": }");
    let latin1 = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("latin1.yaml");
    std::fs::write(&latin1, b"a: \xe9").unwrap();
    let refuses_file = |path: &PathBuf, expected: &str| {
        refuses(
            &["1", "--bind", &format!("x=@{}", path.display())],
            &format!("{}{expected}", path.display()),
        );
    };
    refuses_file(&yaml, ":2:4: this [ is not closed");
    refuses_file(&json, ":2:7: expected value");
    refuses_file(&latin1, ":1:4: must be UTF-8");
    refuses_file(
        &PathBuf::from("nowhere.yaml"),
        ": No such file or directory",
    );
}

#[test]
fn a_reader_that_has_gone_away_is_no_error() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gavel"));
    command.args(["eval", "x", "--bind", "x=@-"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Closes the output of the command while the command waits for its input.
    drop(child.stdout.take());
    drop(child.stdin.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn functions_of_later_versions_are_named() {
    let ran = gavel(&["[[]].flatten()", "--kubernetes-version", "1.33"]);
    let note = "note: flatten needs Kubernetes 1.34 or later; this is 1.33\n";
    assert!(ran.err.ends_with(note), "{}", ran.err);
    let ran = gavel(&["1 < 1.5", "--kubernetes-version", "1.27"]);
    let note = "note: Kubernetes 1.28 is the first that accepts the expression; this is 1.27\n";
    assert!(ran.err.ends_with(note), "{}", ran.err);
    // There is no note for a function that no version has, and none in JSON output.
    assert!(!gavel(&["nosuch(1)"]).err.contains("note:"));
    let json = gavel(&[
        "[[]].flatten()",
        "--kubernetes-version",
        "1.33",
        "-o",
        "json",
    ]);
    assert!(!json.out.contains("1.34") && json.err.is_empty());
}

#[test]
fn the_authorizer_answers_from_manifests() {
    let manifests = file(
        "rbac.yaml",
        "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: [{verbs: [get], apiGroups: [''], resources: [pods]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: robots, namespace: shop}
roleRef: {kind: ClusterRole, name: reader}
subjects: [{kind: Group, name: 'system:serviceaccounts:shop'}, {kind: User, name: alice}]
",
    );
    let rbac = manifests.to_str().unwrap();
    let allowed = |user: &str, namespace: &str, expected: &str| {
        let expression = format!(
            "authorizer.group('').resource('pods').namespace('{namespace}').check('get').allowed()"
        );
        let expected = format!("{expected}\ntype: bool\n");
        check(&[&expression, "--rbac", rbac, "--as", user], &expected);
    };
    allowed("alice", "shop", "true");
    allowed("alice", "lab", "false");
    allowed("bob", "shop", "false");
    allowed("system:serviceaccount:shop:robot", "shop", "true");
    refuses(&["1", "--rbac", rbac], "--as <USER>");
    refuses(&["1", "--as", "alice"], "--rbac <FILE|FOLDER>");
    refuses(
        &["1", "--rbac", rbac, "--as", "a", "--bind", "authorizer={}"],
        "--bind authorizer must not be given with --rbac",
    );
    let other = file(
        "other.yaml",
        "apiVersion: rbac/v1\nkind: Role\nmetadata: {name: a}\n",
    );
    refuses(
        &["1", "--rbac", other.to_str().unwrap(), "--as", "a"],
        "--rbac must name roles or bindings of rbac.authorization.k8s.io, but there is none",
    );
}

#[test]
fn exit_status_follows_the_value_on_request() {
    for (expression, status) in [("1 < 2", 0), ("2 < 1", 1), ("null", 1), ("0", 0)] {
        let ran = gavel(&["--exit-status", expression]);
        assert_eq!(ran.status, status, "{expression}: {}", ran.err);
    }
    assert_eq!(gavel(&["2 < 1"]).status, 0);
}

#[test]
fn explanations_show_the_values_that_were_evaluated() {
    let object = r#"object={"replicas": 3, "images": ["a/b", "c"]}"#;
    for (expression, expected) in [
        (
            "object.images.all(i, i.startsWith('a/') || i.size() < 2) && object.replicas + 1 > 5",
            "false
type: bool
  object.images.all(i, i.startsWith(\"a/\") || i.size() < 2) = true
    object.images.map(i, i.startsWith(\"a/\") || i.size() < 2) = [true, true]
      object.images.map(i, i.startsWith(\"a/\")) = [true, false]
      object.images.map(i, i.size() < 2) = [false, true]
        object.images.map(i, i.size()) = [3, 1]
  object.replicas + 1 > 5 = false
    object.replicas + 1 = 4
      object.replicas = 3
",
        ),
        ("false && object.replicas > 1", "false\ntype: bool\n"),
        (
            "object.other > 1",
            "  object.other = error: no such key: other\n",
        ),
    ] {
        let ran = gavel(&[expression, "--bind", object, "--explain"]);
        assert_eq!(ran.out, expected, "{expression}");
    }
    assert_eq!(gavel(&["1 +", "--explain"]).out, "");
}

#[test]
fn notes_say_what_was_meant() {
    for (expression, expected) in [
        ("'abc'.startWith('a')", "note: did you mean `startsWith`?\n"),
        ("lists.rang(3)", "note: did you mean `lists.range`?\n"),
        ("list.range(3)", "note: did you mean `lists.range`?\n"),
        (
            "1 in [1] && sets.contain([1], [1])",
            "note: did you mean `sets.contains`?\n",
        ),
        ("math.abs(1)", "| ........^\n"),
        ("[1].mapp(x, x)", "note: did you mean `map`?\n"),
        ("range(3)", "note: did you mean `lists.range`?\n"),
        // `map` needs a receiver.
        ("cap(1)", "| ...^\n"),
        ("[1].map()", "| .......^\n"),
        ("bol('true')", "note: did you mean `bool`?\n"),
        ("(1 + [2, 3)", "note: the [ at 1:6 is not closed\n"),
        ("size('a) == 1", "note: the ' at 1:6 is not closed\n"),
        ("1 === 1", "note: did you mean `==`?\n"),
        ("None == 1", "note: did you mean `null`?\n"),
        ("[1].len() > 0", "note: did you mean `size`?\n"),
    ] {
        let stderr = gavel(&[expression]).err;
        assert!(stderr.ends_with(expected), "{stderr}");
    }
    let stderr = gavel(&["math.great(1, 2)", "--env", "cel"]).err;
    let expected = "note: did you mean `math.greatest`?\n";
    assert!(stderr.ends_with(expected), "{stderr}");
}

#[test]
fn a_missing_key_suggests_a_similar_one() {
    let object = r#"object={"spec": {"replicas": 1, "ports": [{"number": 1}]}}"#;
    for (expression, note) in [
        (
            "object.spec.replica > 1",
            "note: did you mean `replicas`?\n",
        ),
        (
            "object.spec.ports.all(p, p.numbr > 1)",
            "note: did you mean `number`?\n",
        ),
        ("object.spec.other > 1", ""),
    ] {
        let ran = gavel(&[expression, "--bind", object]);
        assert_eq!(ran.status, 1);
        assert!(ran.err.contains("no such key: "), "{}", ran.err);
        assert_eq!(ran.err.contains("note: "), !note.is_empty(), "{}", ran.err);
        assert!(ran.err.ends_with(note), "{}", ran.err);
    }
}
