use gavel_apimachinery::field::{ExpressionPlace, Path};
use gavel_apimachinery::json;

use super::*;

fn yaml(text: &str) -> Result<Vec<Document>, Problem> {
    read(text, Format::Yaml).all()
}

fn written(documents: &[Document]) -> String {
    let texts: Vec<String> = documents
        .iter()
        .map(|document| json::to_string(document.value()))
        .collect();
    texts.join(" ")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let found = match yaml(text) {
        Ok(documents) => written(&documents),
        Err(problem) => problem.to_string(),
    };
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn plain_texts_mean_what_they_mean_to_kubernetes() {
    for (texts, expected) in [
        ("y Y yes Yes YES true True TRUE on On ON", "true"),
        ("n N no No NO false False FALSE off Off OFF", "false"),
        ("~ null Null NULL", "null"),
        (
            "8 010 0o10 0O10 0x8 0X8 0b1000 0B1000 +8 8. 8.0 08 0_8 80e-1",
            "8",
        ),
        ("-8 -010 -0o10 -0x8 -0b1000 -8.0", "-8"),
        ("0 -0 00 0.0e0 1e-400", "0"),
        (".5 +.5 0.5 0_0.5 5e-1", "0.5"),
        ("9223372036854775807", "9223372036854775807"),
        ("18446744073709551615", "18446744073709552000"),
        ("1e20 100000000000000000000.0", "100000000000000000000"),
        ("1e21", "1e+21"),
    ] {
        for text in texts.split(' ') {
            check(&format!("k: {text}"), &format!("{{\"k\":{expected}}}"));
        }
    }
}

#[test]
fn texts_that_look_like_something_else_stay_texts() {
    for text in [
        "yEs",
        "1e",
        "1e+",
        "0x",
        "0b",
        "0o",
        "0b2",
        "0xg",
        "1e400",
        "2001-01-01",
        "12:30:45",
        "2001-01-01T00:00:00.5+01:00",
        "1.2.3",
        "v1",
        "_1",
        ".",
        "-.",
        "--",
        "=",
        "1,000",
    ] {
        check(&format!("k: {text}"), &format!("{{\"k\":\"{text}\"}}"));
    }
    check("k: 'yes'", r#"{"k":"yes"}"#);
    check("k: \"1\"", r#"{"k":"1"}"#);
    check("k: !!str 1", r#"{"k":"1"}"#);
    check("k: !custom 1", r#"{"k":"1"}"#);
}

#[test]
fn tags_convert() {
    check("k: !!float 3", r#"{"k":3}"#);
    check("k: !!int '3'", r#"{"k":3}"#);
    check("k: !!bool 'yes'", r#"{"k":true}"#);
    check("k: !!int 3.5", "1:10: cannot decode `3.5` as a !!int");
}

#[test]
fn keys_are_texts() {
    check(
        "1: a\n1.5: b\nyes: c\n.inf: d\n",
        r#"{".inf":"d","1":"a","1.5":"b","true":"c"}"#,
    );
    check("null: x", "1:1: `null` cannot be a key");
    check("? [a]\n: 1", "1:3: a list or map cannot be a key");
}

#[test]
fn maps_are_merged_in_the_order_of_the_text() {
    check(
        "a: &x {b: 1, c: 2}\nd:\n  b: 9\n  <<: *x\n  c: 7\n",
        r#"{"a":{"b":1,"c":2},"d":{"b":1,"c":7}}"#,
    );
    check(
        "u: &m {p: 1}\nv: &n {p: 2, q: 3}\nw:\n  <<: [*m, *n]\n",
        r#"{"u":{"p":1},"v":{"p":2,"q":3},"w":{"p":1,"q":3}}"#,
    );
    check("<<: 1", "1:5: `<<` needs a map or a list of maps");
    check("'<<': 1", r#"{"\u003c\u003c":1}"#);
}

#[test]
fn documents_are_separated_and_empty_ones_left_out() {
    check(
        "---\n# nothing\n---\na: 1\n---\n\n---\nb: 2\n",
        r#"{"a":1} {"b":2}"#,
    );
    let found = read("{\"a\": 1}\n[2] null", Format::Json)
        .all()
        .map(|found| written(&found));
    assert_eq!(found.as_deref(), Ok(r#"{"a":1} [2]"#));
    let found = read("# JSON?\na: 1\n---\nb: 2\n", Format::Json)
        .all()
        .map(|found| written(&found));
    assert_eq!(found.as_deref(), Ok(r#"{"a":1} {"b":2}"#));
}

#[test]
fn duplicate_keys_are_reported() {
    for (format, text, expected) in [
        (
            Format::Yaml,
            "a:\n  b: 1\n  'b': 2\n",
            "3:3: the key `b` is already set at 2:3",
        ),
        (
            Format::Json,
            "{\"b\": 1,\n \"\\u0062\": 2}",
            "2:2: the key `b` is already set at 1:2",
        ),
    ] {
        let documents = read(text, format).all().unwrap();
        let [document] = documents.as_slice() else {
            panic!("{documents:?}");
        };
        let [problem] = document.duplicate_keys() else {
            panic!("{document:?}");
        };
        assert_eq!(problem.to_string(), expected);
    }
}

#[test]
fn non_json_values_are_reported_with_their_place() {
    check("a: 1\nb: .nan\n", "2:4: the number `.nan` is not finite");
    check(
        "a:\n  - b\n - c\n",
        "3:2: while parsing a block mapping, did not find expected key",
    );
    check("a: &x\n  b: *x\n", "2:6: the anchor contains itself");
    let deep = format!("{}{}", "[".repeat(128), "]".repeat(128));
    check(&deep, "1:128: nested deeper than 127");
    assert!(read(&deep, Format::Json).all().is_err());
    let found = read("{\"é\":\n {\"é\" 1}}", Format::Json)
        .all()
        .map(|found| written(&found));
    assert_eq!(found.unwrap_err().to_string(), "2:7: expected `:`");
}

#[test]
fn tabs_in_the_indentation_are_named() {
    for (text, expected) in [
        (
            "a: {b: 1}\n\tc: 2\n",
            "line 2 is indented with a tab: use spaces",
        ),
        (
            "a:\n  b: x\n  \tc: y\n",
            "line 3 is indented with a tab: use spaces",
        ),
        ("a:\n\tb: x\n", "line 2 is indented with a tab: use spaces"),
        ("a: [\n\tb\n", "line 2 is indented with a tab: use spaces"),
        ("a: [\nb\tc\n", ""),
    ] {
        check_help(text, expected);
    }
}

fn check_help(text: &str, expected: &str) {
    let problems = read(text, Format::Yaml).problems;
    assert_eq!(problems[0].help(), expected, "{text:?}");
}

#[test]
fn errors_of_quoting_and_indentation_have_help() {
    for text in ["a: 'b' in c\n", "a: \"b\" == c\n", "- a: 'it's'\n"] {
        check_help(
            text,
            "quote the whole value, or write it into the next line, after `|-`",
        );
    }
    let mapping = "a value with `: ` must be quoted, and a key must be indented like the other keys of its object";
    let key = "a key must be indented like the other keys of its object, and a text that begins with [ or { must be quoted";
    for (text, expected) in [
        ("a: b ? c : d\n", mapping),
        ("- a: b\n   c: d\n", mapping),
        ("a:\n  b: c\n d: e\n", key),
        ("a: [1].all(x, x > 0)\n", key),
        (
            "a:\n- b: c\n- - d: e\n  f: g\n",
            "an item must be indented like the other items of its list",
        ),
        (
            "a:\n- b: |\n  c\n",
            "a text over several lines must be indented further than its key",
        ),
        (
            "a: > 5\n",
            "a text after | or > begins in the next line; an expression that begins with > must be quoted",
        ),
        ("a: ? b\n", "a text that begins with ? must be quoted"),
        (
            "a: `b`\n",
            "a text that begins with this character must be quoted",
        ),
        ("a: *b\n", "a text that begins with * must be quoted"),
        (
            "a: \"b.matches('\\d')\"\n",
            "in double quotes, a backslash is written `\\\\`; single quotes need no escapes",
        ),
    ] {
        check_help(text, expected);
    }
}

#[test]
fn aliases_do_not_fill_the_memory() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..10 {
        let items = vec![format!("*a{}", n - 1); 10].join(", ");
        text.push_str(&format!("a{n}: &a{n} [{items}]\n"));
    }
    let problem = yaml(&text).unwrap_err();
    assert_eq!(problem.message, "the aliases expand to too many values");
}

const POLICY: &str = "\
kind: Policy
metadata:
  labels: {example.com/app: web}
spec:
  validations:
  - expression: object.x
    message: 'no'
  - expression: |

      a &&
        b
    message: \"tab\\t\"
";

#[test]
fn fields_have_places() {
    let documents = yaml(POLICY).unwrap();
    let [document] = documents.as_slice() else {
        panic!("{documents:?}");
    };
    for (field, expected) in [
        ("", "1:1"),
        ("kind", "1:7"),
        ("metadata.labels[example.com/app]", "3:29"),
        ("spec.validations", "6:5"),
        ("spec.validations[1].expression", "10:7"),
        ("spec.validations[1].messageExpression", "8:5"),
        ("spec.validations[2]", "6:5"),
        ("status.x", "1:1"),
    ] {
        assert_eq!(document.place_of(field).to_string(), expected, "{field}");
    }
    for (field, line, column, expected) in [
        ("spec.validations[0].expression", 1, 8, "6:24"),
        ("spec.validations[0].message", 1, 2, "7:16"),
        ("spec.validations[1].expression", 2, 1, "10:7"),
        ("spec.validations[1].expression", 3, 3, "11:9"),
        ("spec.validations[1].message", 1, 4, "12:18"),
        ("spec.validations[1].message", 7, 1, "12:14"),
    ] {
        let place = ExpressionPlace { line, column };
        let path = Path::new(field);
        let error = Error::invalid(&path, "", "compilation failed").in_expression(place);
        let problem = document.field_problem(&error, field);
        let place = problem.range.unwrap().start;
        assert_eq!(place.to_string(), expected, "{field} {line}:{column}");
    }
}

#[test]
fn json_has_places_too() {
    let text = "{\"spec\": {\"items\": [1, {\"a\": \"é\"},\n  {\"b\": -1.5e3}]}}";
    let documents = read(text, Format::Json).all().unwrap();
    let place = |field| {
        documents
            .first()
            .map(|found| found.place_of(field).to_string())
    };
    for (field, expected) in [
        ("spec.items", "1:20"),
        ("spec.items[1].a", "1:30"),
        ("spec.items[2].b", "2:9"),
    ] {
        assert_eq!(place(field).as_deref(), Some(expected), "{field}");
    }
}

#[test]
fn lists_are_taken_apart() {
    let text =
        "kind: List\nitems:\n- kind: A\n- kind: BList\n  items:\n  - {kind: C}\n- items: []\n";
    let objects: Vec<Document> = yaml(text)
        .unwrap()
        .into_iter()
        .flat_map(Document::into_objects)
        .collect();
    assert_eq!(
        written(&objects),
        r#"{"kind":"A"} {"kind":"C"} {"items":[]}"#
    );
    let places: Vec<String> = objects
        .iter()
        .map(|object| object.place_of("kind").to_string())
        .collect();
    assert_eq!(places, ["3:9", "6:12", "7:3"]);
}

#[test]
fn documents_after_a_fault_are_read() {
    let text =
        "a: 1\n---\nb: [\n--- # next\nc: .inf\nd: !!int x\n---\ne: {f: 2}\n---\ng: &x\n- *x\n---\n";
    let Reading {
        documents,
        problems,
    } = read(text, Format::Yaml);
    assert_eq!(written(&documents), r#"{"a":1} {"e":{"f":2}}"#);
    let last = documents.last().unwrap();
    assert_eq!(last.place_of("e.f").to_string(), "8:8");
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let [unclosed, infinite, tagged, anchor] = problems.as_slice() else {
        panic!("{problems:?}");
    };
    assert!(unclosed.starts_with("3:4: "), "{unclosed}");
    assert_eq!(infinite, "5:4: the number `.inf` is not finite");
    assert_eq!(tagged, "6:10: cannot decode `x` as a !!int");
    assert_eq!(anchor, "11:3: the anchor contains itself");
}

#[test]
fn problems_have_ranges() {
    let check = |text: &str, format: Format, field: &str, expected: &str| {
        let documents = read(text, format).all().unwrap();
        let problem = documents[0].problem("r", field, "m").range.unwrap();
        let found = format!("{} {}", problem.start, problem.end);
        assert_eq!(found, expected, "{field} in {text}");
    };
    let text = "spec:\n  name: abc\n  list: [1, 2]\n  more:\n  - x: 'y'\n";
    check(text, Format::Yaml, "spec.name", "2:9 2:12");
    check(text, Format::Yaml, "spec.list", "3:9 3:15");
    check(text, Format::Yaml, "spec.more[0].x", "5:8 5:11");
    check(text, Format::Yaml, "spec.more", "5:5 5:11");
    let text = "{\"a\": {\"b\": [true,\n 1]}}";
    check(text, Format::Json, "a", "1:7 2:5");
    check(text, Format::Json, "a.b[0]", "1:14 1:18");
}

/// Every character of a string is found in the file, in every notation of the string.
#[test]
fn characters_are_found_in_scalars_of_all_styles() {
    let check = |file: &str, format| {
        let document = read(file, format).all().unwrap().remove(0);
        let text = document.value()["a"].as_str().unwrap().to_owned();
        let lines: Vec<&str> = file.lines().collect();
        for (n, line) in text.lines().enumerate() {
            for (m, c) in line.chars().enumerate() {
                // Only letters are compared, because a space may be a folded line break.
                if !c.is_ascii_alphabetic() {
                    continue;
                }
                let (n, m) = (u32::try_from(n + 1).unwrap(), u32::try_from(m + 1).unwrap());
                let place = document.place_within("a", n, m);
                let row = lines[usize::try_from(place.line - 1).unwrap()];
                let found = row.chars().nth(usize::try_from(place.column - 1).unwrap());
                // A letter may be written as an escape.
                assert!(
                    matches!(found, Some(found) if found == c || found == '\\'),
                    "{n}:{m} of {text:?} is at {place} in\n{file}"
                );
            }
        }
    };
    for yaml in [
        "a: one two\n",
        "a: one\n  two\n  three\n\n  four\nb: 1\n",
        "a: 'it''s x'\n",
        "a: 'one\n  two''s\n\n  three'\n",
        "a: \"o\\\"n\\\\e\\n two\"\n",
        "a: \"\\u00e9 \\x41b c\\\n   d e\n  f\"\n",
        "x:\n  y:\n    - z: 'a\nb'\na: 'one\ntwo''s\n\n three'\nb: 1\n",
        "x: \"a\nb\"\na: \"o\\\"ne\ntwo\n  three\"\n",
        "a: |\n  one\n    two\n\n  three\n",
        "a: |\n\n\n  one\n  two\n",
        "a: >\n  one\n  two\n\n  three\n    four\n    five\n  six\n  seven\n",
        "a: >-\n\n  one\n  two\n",
        "a: >\r\n  one\r\n  two\r\n\r\n  three\r\n    four\r\n  five\r\n",
        "a: >-\r\n\r\n  one\r\n  two\r\n",
        "x: [{y: 1}]\na: >\n      one\n      two\n",
    ] {
        check(yaml, Format::Yaml);
    }
    check("{\"a\": \"o\\\"n\\\\e\\n tw\\u00e9o\"}", Format::Json);
    check("{\"b\": \"\\n\", \"a\": \"plain\"}", Format::Json);
}

/// The expected values and refusals are those of `sigs.k8s.io/yaml` 1.6.
#[test]
fn lines_in_quotes_need_no_indentation() {
    check(
        "a:\n  b: \"x\n  y\n\nz \\\"q\\\"\n  \"\n  c: [1, \"p\nq\"]\nd: 'it''s\nok'\ne: 1\n",
        r#"{"a":{"b":"x y\nz \"q\" ","c":[1,"p q"]},"d":"it's ok","e":1}"#,
    );
    check(
        "a:\n  - b: \"x\nc: y\"\n    d: 1\n---\na: 'é\r\nz'\r\n",
        r#"{"a":[{"b":"x c: y","d":1}]} {"a":"é z"}"#,
    );
    check(
        "a: 1\n...\n---\nb: \"x\n ---\ny\"\n---\nd: 'x\ny'\n",
        r#"{"a":1} {"b":"x --- y"} {"d":"x y"}"#,
    );
    check(
        "a: \"-----BEGIN\n\n -----END\n ----\"\n---\nb: \"c\n...d\"\n",
        r#"{"a":"-----BEGIN\n-----END ----"} {"b":"c ...d"}"#,
    );
    check(
        "a: \"b\n--- c\"\n",
        "2:5: invalid Yaml document separator: c\"",
    );
    check(":: \"4\\_69\n", "1:4: this \" is not closed");
    // The first quotes are closed.
    check(
        "a: \"b\nc\"\nd: [1\ne: 2\n",
        "3:4: this [ is not closed (illegal placement of ':' indicator at 4:2)",
    );
    check(
        "a: \"b\nc\"\nd: \"f\ng: \"h\"\n",
        "3:4: this \" is not closed (invalid trailing content after double-quoted scalar at 4:5)",
    );
    let documents = yaml("a: 1\n---\nb:\n  c: \"x\ny\" # z\n  d: 1\n").unwrap();
    let range = |field| {
        let range = documents[1].problem("r", field, "m").range.unwrap();
        format!("{} {}", range.start, range.end)
    };
    assert_eq!(range("b.c"), "4:6 5:3");
    assert_eq!(range("b.d"), "6:6 6:7");
}

#[test]
fn many_lines_in_quotes_take_linear_time() {
    let text = format!("a: \"{}\"\n", "'it''s'\n".repeat(50_000));
    assert!(yaml(&text).is_ok());
}

/// Each attempt to read a text replaces the tabs of one line, and the number of attempts is limited.
#[test]
fn many_tabs_in_brackets_take_bounded_time() {
    let text = |lines| format!("a:\n  b: [\n{}\t]\n", "\t1,\n".repeat(lines));
    assert!(yaml(&text(100)).is_ok());
    assert!(yaml(&text(50_000)).is_err());
}

#[test]
fn doubles_without_a_fraction_are_integers() {
    let found = read(r#"{"a": 2.0, "b": [-0.0, 5e3, 1.50, 1e30]}"#, Format::Json);
    let value = found.documents[0].value();
    assert_eq!(value.to_string(), r#"{"a":2,"b":[0,5000,1.5,1e+30]}"#);
}

#[test]
fn json_values_one_after_the_other_are_read_as_kubectl_reads_them() {
    check("{\"a\": 1}\n{\n  \"b\": 2\n}\n", "{\"a\":1} {\"b\":2}");
    let documents = yaml("{\"a\": 1}\n{\"b\": 2}\n").unwrap();
    assert_eq!(documents[1].place_of("b").to_string(), "2:7");
    check("{\"a\": 1}\n---\n{b: 2}\n", "{\"a\":1} {\"b\":2}");
    check(
        "{\"a\": 1}\n{b: 2}\n",
        "2:1: the document has ended, and kubectl ignores what follows: it must be indented like the text above, or be separated by `---`",
    );
}
