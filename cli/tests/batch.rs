//! `gavel batch`, run as other programs run it. Each request gets an answer, in order, even if the request is invalid.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use serde_json::{Value as Json, json};

fn spawn() -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gavel"));
    command
        .arg("batch")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Runs `gavel batch` with this input and returns its answers. The process must succeed and print nothing to standard error.
fn answers(input: &[u8]) -> Vec<Json> {
    let mut child = spawn();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), b"".as_slice())
    );
    output
        .stdout
        .split(|b| *b == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

fn answer(request: &Json) -> Json {
    let mut answers = answers(format!("{request}\n").as_bytes());
    assert_eq!(answers.len(), 1);
    answers.remove(0)
}

/// Checks that the expression `x` evaluates to `expected`. The variable `x` has the type `ty` and the value `binding`.
fn check(ty: Json, binding: Json, expected: Json) {
    let request = json!({"op": "eval", "expr": "x", "vars": {"x": ty}, "bindings": {"x": binding}});
    assert_eq!(answer(&request)["value"], expected, "{request}");
}

/// Checks that a request is rejected with a message that contains `expected`.
fn refuses(request: Json, expected: &str) {
    let answer = answer(&request);
    assert_eq!(answer["ok"], json!(false), "{request}");
    assert_eq!(
        answer["error"]["phase"],
        json!("request"),
        "{request}: {answer}"
    );
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains(expected), "{request}: {message}");
}

fn eval(mut more: Json) -> Json {
    let request = more.as_object_mut().unwrap();
    request.insert("op".to_owned(), json!("eval"));
    request.entry("expr").or_insert(json!("1"));
    more
}

#[test]
fn answers_say_what_is_known() {
    let request = json!({"id": "a", "op": "eval", "expr": "x + 1", "vars": {"x": "int"}, "bindings": {"x": 1}});
    let expected = json!({"id": "a", "ok": true, "type": "int", "estimate": {"min": 2, "max": 2}, "value": {"int": "2"}, "cost": 2});
    assert_eq!(answer(&request), expected);
    let request = json!({"id": 7, "op": "eval", "expr": "x"});
    let message = "ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^";
    assert_eq!(
        answer(&request),
        json!({"id": 7, "ok": false, "error": {"phase": "check", "message": message}})
    );
    let request = json!({"op": "eval", "expr": "[1].all(i, i > 0)", "costLimit": 1});
    let failed = answer(&request);
    assert_eq!(
        (&failed["id"], &failed["error"]["phase"]),
        (&json!(null), &json!("cost"))
    );
    let request = json!({"op": "eval", "expr": "1 + 1", "checkOnly": true});
    assert_eq!(
        answer(&request),
        json!({"id": null, "ok": true, "type": "int", "estimate": {"min": 1, "max": 1}})
    );
    let request = json!({"op": "eval", "expr": "xs.size()", "vars": {"xs": "list(int)"}, "sizes": {"xs": {"max": 7}}, "checkOnly": true});
    assert_eq!(answer(&request)["estimate"], json!({"min": 2, "max": 2}));
}

#[test]
fn the_environment_of_the_specification_can_be_selected() {
    let request = |more: Json| {
        let mut request = json!({"op": "eval", "env": "cel"});
        request
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        answer(&request)
    };
    assert_eq!(
        request(json!({"expr": "math.sign(-2)"}))["value"],
        json!({"int": "-1"})
    );
    let typed = request(json!({"expr": "1 + 1", "checkOnly": true}));
    assert_eq!(typed, json!({"id": null, "ok": true, "type": "int"}));
    let unchecked = request(json!({"expr": "1 + 1", "disableCheck": true}));
    assert_eq!(
        (unchecked.get("type"), &unchecked["value"]),
        (None, &json!({"int": "2"}))
    );
    let declared =
        json!({"f": [{"id": "f_t", "member": true, "params": ["T", "int"], "result": "list(T)"}]});
    let typed = request(json!({"expr": "'a'.f(1)", "functions": declared, "checkOnly": true}));
    assert_eq!(typed["type"], json!("list(string)"));
    assert_eq!(
        request(json!({"expr": "[1].all(x, true)", "disableMacros": true}))["error"]["phase"],
        json!("check")
    );
    let named =
        json!({"expr": "b", "container": "a", "vars": {"a.b": "int"}, "bindings": {"a.b": 1}});
    assert_eq!(request(named)["value"], json!({"int": "1"}));
}

#[test]
fn bindings_are_read_by_their_type() {
    check(
        json!("int"),
        json!("-9223372036854775808"),
        json!({"int": "-9223372036854775808"}),
    );
    check(
        json!("uint"),
        json!(18_446_744_073_709_551_615_u64),
        json!({"uint": "18446744073709551615"}),
    );
    check(json!("double"), json!(1), json!({"double": "1"}));
    check(
        json!("double"),
        json!("-Infinity"),
        json!({"double": "-Infinity"}),
    );
    check(json!("bytes"), json!("aGk="), json!({"bytes": "aGk="}));
    check(
        json!("timestamp"),
        json!("2026-01-31T12:00:00.50+02:00"),
        json!({"timestamp": "2026-01-31T10:00:00.5Z"}),
    );
    check(
        json!("duration"),
        json!("90m"),
        json!({"duration": "1h30m0s"}),
    );
    check(json!("null"), json!(null), json!({"null": true}));
    check(
        json!("list(uint)"),
        json!([1]),
        json!({"list": [{"uint": "1"}]}),
    );
    check(
        json!({"list": {"optional": "int"}}),
        json!([null, 2]),
        json!({"list": [{"optional": null}, {"optional": {"int": "2"}}]}),
    );
    check(
        json!("optional(int)"),
        json!({"$some": 1}),
        json!({"optional": {"int": "1"}}),
    );
    check(
        json!("map(int, bool)"),
        json!({"10": true, "9": false}),
        json!({"map": [[{"int": "10"}, {"bool": true}], [{"int": "9"}, {"bool": false}]]}),
    );
    check(
        json!({"map": ["bool", "dyn"]}),
        json!([[true, 1]]),
        json!({"map": [[{"bool": true}, {"int": "1"}]]}),
    );
}

#[test]
fn json_is_read_as_kubernetes_reads_it() {
    check(json!("dyn"), json!(1.0), json!({"double": "1"}));
    check(
        json!("dyn"),
        json!(u64::MAX),
        json!({"double": "1.8446744073709552e+19"}),
    );
    check(
        json!("dyn"),
        json!({"b": [null, true], "a": "x"}),
        json!({"map": [[{"string": "a"}, {"string": "x"}], [{"string": "b"}, {"list": [{"null": true}, {"bool": true}]}]]}),
    );
    let zeros = answers(b"{\"op\": \"eval\", \"expr\": \"x\", \"vars\": {\"x\": \"dyn\"}, \"bindings\": {\"x\": [-0, -0.0]}}");
    assert_eq!(
        zeros[0]["value"],
        json!({"list": [{"int": "0"}, {"double": "-0"}]})
    );
    let twice = answers(b"{\"op\": \"eval\", \"expr\": \"1\", \"expr\": \"x\", \"vars\": {\"x\": \"dyn\"}, \"bindings\": {\"x\": {\"a\": 1, \"a\": 2}}}");
    assert_eq!(
        twice[0]["value"],
        json!({"map": [[{"string": "a"}, {"int": "2"}]]})
    );
}

#[test]
fn malformed_requests_are_answered_with_the_reason() {
    refuses(json!([1]), "a request must be a JSON object, not a list");
    refuses(
        json!({}),
        "op must be set; this version of gavel knows \"eval\"",
    );
    refuses(json!({"op": "evil"}), ", not \"evil\"");
    refuses(json!({"op": "eval"}), "expr must be set");
    refuses(json!({"op": "typecheck"}), "policy must be set");
    refuses(eval(json!({"expr": 5})), "expr must be a string, not 5");
    refuses(
        eval(json!({"mode": "old"})),
        "mode must be \"new\" or \"stored\", not \"old\"",
    );
    refuses(
        eval(json!({"env": "go"})),
        "env must be \"kubernetes\" or \"cel\", not \"go\"",
    );
    refuses(
        eval(json!({"k8sVersion": "1.99"})),
        "k8sVersion: Kubernetes 1.99 is unknown; the version must be from 1.0 to 1.37",
    );
    refuses(
        eval(json!({"costLimit": -1})),
        "costLimit must be a whole number of at least 0, not -1",
    );
    refuses(
        eval(json!({"checkOnly": "yes"})),
        "checkOnly must be true or false, not \"yes\"",
    );
    refuses(
        eval(json!({"container": "a"})),
        "container must not be set unless env is \"cel\"",
    );
    refuses(
        eval(json!({"vars": {"x": "list(strng)"}})),
        "vars[\"x\"]: \"list(strng)\" is not a type",
    );
    refuses(
        eval(json!({"vars": {"x": {"schema": {"x-kubernetes-preserve-unknown-fields": true}}}})),
        "vars[\"x\"]: schema: must have a type that expressions can know",
    );
    let authorizer =
        |binding: Json| eval(json!({"vars": {"x": "authorizer"}, "bindings": {"x": binding}}));
    refuses(
        authorizer(json!({"user": {"groups": "a"}})),
        "bindings[\"x\"]: user: groups must be a list, not \"a\"",
    );
    refuses(
        authorizer(json!({"decisions": [{"decision": "maybe"}]})),
        "bindings[\"x\"]: decisions[0]: decision must be \"allow\" or \"deny\" or \"noOpinion\", not \"maybe\"",
    );
    refuses(
        authorizer(json!({"decisions": [{"match": {"verbs": "get"}}]})),
        "bindings[\"x\"]: decisions[0]: match: must be one of verb, apiGroup",
    );
    refuses(
        eval(json!({"bindings": {"x": 1}})),
        "bindings[\"x\"]: no such variable; declare it in vars",
    );
    refuses(
        eval(json!({"vars": {"x": "list(int)"}, "bindings": {"x": [1, "b"]}})),
        "bindings[\"x\"][1]: must be a whole number",
    );
    refuses(
        eval(json!({"vars": {"x": "map(int, int)"}, "bindings": {"x": [[1]]}})),
        "bindings[\"x\"][0]: must be a pair [key, value]",
    );
    refuses(
        eval(json!({"sizes": {"x": {"max": "a"}}})),
        "sizes[\"x\"]: max must be a whole number",
    );
}

#[test]
fn unknown_keys_are_ignored() {
    let request = json!({"op": "eval", "expr": "1 + 1"});
    let mut noted = request.clone();
    noted["note"] = json!({"from": "a"});
    assert_eq!(answer(&noted), answer(&request));
}

#[test]
fn bad_lines_do_not_end_the_stream() {
    let deep = |n: usize| {
        format!(
            "{{\"id\": \"deep\", \"op\": \"eval\", \"expr\": \"1\", \"bindings\": {}{}}}",
            "[".repeat(n),
            "]".repeat(n)
        )
    };
    let (deep, deeper) = (deep(1000), deep(1_000_000));
    let long = format!(
        "{{\"id\": \"long\", \"op\": \"eval\", \"expr\": \"'{}'.size()\"}}",
        "x".repeat(10_000_000)
    );
    let binding = format!(
        "{{\"id\": \"big\", \"op\": \"eval\", \"expr\": \"x.size()\", \"vars\": {{\"x\": \"dyn\"}}, \"bindings\": {{\"x\": \"{}\"}}}}",
        "x".repeat(10_000_000)
    );
    let parentheses = format!(
        "{{\"id\": \"nested\", \"op\": \"eval\", \"expr\": \"{}\"}}",
        "(".repeat(100_000)
    );
    let lines: [(&[u8], Json, &str); 11] = [
        (b"\xff\xfe", json!(null), "request"),
        (
            b"{\"id\": 1, \"op\": \"eval\", \"expr\": \"\xff\"}",
            json!(1),
            "request",
        ),
        (b"not JSON", json!(null), "request"),
        (
            b"{\"id\": 2, \"op\": \"eval\", \"expr\": \"1\", \"bindings\": 1e999}",
            json!(2),
            "request",
        ),
        (b"null", json!(null), "request"),
        (b"{", json!(null), "request"),
        (deep.as_bytes(), json!("deep"), "request"),
        (deeper.as_bytes(), json!("deep"), "request"),
        (long.as_bytes(), json!("long"), "parse"),
        (binding.as_bytes(), json!("big"), "ok"),
        (parentheses.as_bytes(), json!("nested"), "parse"),
    ];
    let mut input = b"\n \t\r\n".to_vec();
    for (line, _, _) in &lines {
        input.extend_from_slice(line);
        input.extend_from_slice(b"\r\n\n");
    }
    // The last line has no line break.
    input.extend_from_slice(b"{\"id\": {\"any\": [\"JSON\"]}, \"op\": \"eval\", \"expr\": \"1\"}");
    let answers = answers(&input);
    assert_eq!(answers.len(), lines.len() + 1);
    for ((line, id, phase), answer) in lines.iter().zip(&answers) {
        let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        let found = answer["error"]["phase"].as_str().unwrap_or("ok");
        assert_eq!((&answer["id"], found), (id, *phase), "{shown}");
    }
    assert_eq!(answers.last().unwrap()["id"], json!({"any": ["JSON"]}));
}

#[test]
fn each_answer_is_written_before_the_next_request_is_read() {
    let mut child = spawn();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for n in 0..3 {
        writeln!(
            stdin,
            "{{\"id\": {n}, \"op\": \"eval\", \"expr\": \"{n}\"}}"
        )
        .unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let answer: Json = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["value"], json!({"int": n.to_string()}));
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_reader_that_has_gone_away_ends_the_stream_quietly() {
    let mut child = spawn();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    for _ in 0..1000 {
        // After the command has ended, writing fails.
        if writeln!(stdin, "{{\"op\": \"eval\", \"expr\": \"1\"}}").is_err() {
            break;
        }
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(0), b"".as_slice())
    );
}

#[test]
fn a_request_must_be_unicode() {
    let text: [&[u8]; 2] = [
        b"{\"op\": \"eval\", \"expr\": \"'\\ud800'\"}",
        b"{\"op\": \"eval\", \"expr\": \"'\xff'\"}",
    ];
    for line in text {
        let mut answer = Vec::new();
        gavel_protocol::Session::new().answer(line, &mut answer);
        let answer: Json = serde_json::from_slice(&answer).unwrap();
        assert_eq!(answer["error"]["phase"], "request", "{answer}");
    }
}
