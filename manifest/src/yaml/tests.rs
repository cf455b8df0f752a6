//! The expected values and refusals are those of kubectl 1.36 (`k8s.io/apimachinery/pkg/util/yaml`, `go.yaml.in/yaml/v2`).

use gavel_apimachinery::json;

use super::read;

/// Checks the documents of a text and, after them, its problems.
#[track_caller]
fn check(text: &str, expected: &str) {
    let reading = read(text);
    let documents = reading.documents.iter();
    let mut found: Vec<String> = documents.map(|d| json::to_string(d.value())).collect();
    found.extend(reading.problems.iter().map(ToString::to_string));
    assert_eq!(found.join(" "), expected, "{text:?}");
}

#[test]
fn colons_within_brackets_belong_to_texts_unless_blanks_follow() {
    check(
        "a: [001:db8::, a:b, a:]\n",
        r#"{"a":["001:db8::","a:b","a:"]}"#,
    );
    check(
        "a: {b: c:d, \"e\":1, f:}\ng: {h:1}\n",
        r#"{"a":{"b":"c:d","e":1,"f:":null},"g":{"h:1":null}}"#,
    );
    check("- {a: [80:]}\n", r#"[{"a":["80:"]}]"#);
    check(
        "a: {? b\n c\n : 1, d\n e, f: g\n h, i:\n 2, j\n k:}\n",
        r#"{"a":{"b c":1,"d e":null,"f":"g h","i":2,"j k:":null}}"#,
    );
    for key in ["b\n c:", "\"b\n c\":", "b\n :", "'b' #:\n :"] {
        check(
            &format!("a: {{{key} 1}}\n"),
            "1:5: a key within brackets and its colon must be on one line: kubectl cannot read them otherwise",
        );
    }
    let in_brackets = "must be in quotes: kubectl cannot read it within brackets";
    check("a: [::1]\n", &format!("1:5: this text {in_brackets}"));
    check(
        "a: {e: object.?b}\nc: d.?e\n",
        &format!("1:8: this text {in_brackets}"),
    );
}

#[test]
fn tabs_are_blanks_but_no_indentation() {
    check("a: [b,\n\tc,\n\td]\ne: 1\n", r#"{"a":["b","c","d"],"e":1}"#);
    check("a: \"b\n\tc\"\n", r#"{"a":"b c"}"#);
    check(
        "a:\tb\t#c\nd: e\n \t\nf: |2 # 1\n  \tg\nh: >\n  i\n  \tj\n",
        r#"{"a":"b","d":"e","f":"\tg\n","h":"i\n\tj\n"}"#,
    );
    let tab = "a tab must not be used as indentation";
    check(
        "a: b\n\tc\n",
        "1:4: while scanning a plain scalar, found a tab",
    );
    check("a: 1\n\t\nb: 2\n", &format!("2:1: {tab}"));
    check(
        "a: 'b'\n---\nc:\n  'd' :\t'e'\n  \t# f\n",
        &format!("{{\"a\":\"b\"}} 5:3: {tab}"),
    );
    check("\t\na: 1\n", &format!("1:1: {tab}"));
    check("a:\n  'b'\n\t# c\n", &format!("3:1: {tab}"));
    check("a:\n  -\tb\n", &format!("2:4: {tab}"));
    check("a:\n  \t\n  b: 1\n", &format!("2:3: {tab}"));
    check("a:\n  b: 1\n  \t\nc: 2\n", &format!("3:3: {tab}"));
    check("a:\n  b: 1\n   \t\nc: 2\n", r#"{"a":{"b":1},"c":2}"#);
    check("a: |\n  b\n\n \t\nc: 1\n", &format!("4:2: {tab}"));
    check("- a: |\n   (\n\t  b\n", &format!("2:4: {tab}"));
    check("a: |  # 2\n\n  \tb\n", &format!("3:3: {tab}"));
}

#[test]
fn escapes_are_those_of_yaml_1_1() {
    check(
        "a: \"\\x41\\u00e9\\U0001F600\\t\\_\\\\/\"\n",
        "{\"a\":\"Aé😀\\t\u{a0}\\\\/\"}",
    );
    let of_json = "must not be used: it is an escape of JSON, and kubectl cannot read it in YAML";
    check("a: \"b\\\\\\/\"\n", &format!("1:4: `\\/` {of_json}"));
    check(
        "a: \"\\ud83d\\ude00\"\n",
        &format!("1:4: `\\ud83d` {of_json}"),
    );
}

#[test]
fn line_breaks_of_unicode_are_refused_outside_of_quotes() {
    check("a: 'b\u{2028}c'\n", "{\"a\":\"b\\u2028c\"}");
    check(
        "a: b\u{85}c\n",
        "1:4: a text with \\u{85} must be in quotes: kubectl takes it for a line break",
    );
}

#[test]
fn tags_and_keys_are_those_of_go() {
    check(
        "a: !!str 1\nb: !!map c\nd: ! 1\ne: !<tag:yaml.org,2002:int> '1'\nf: !!binary gIGC\n",
        "{\"a\":\"1\",\"b\":\"c\",\"d\":\"1\",\"e\":1,\"f\":\"\u{fffd}\u{fffd}\u{fffd}\"}",
    );
    check(
        "1e9: a\n123456789.5: b\n",
        r#"{"1.2345679e+08":"b","1e+09":"a"}"#,
    );
}

/// kubectl reads a text up to each line that begins with `---`, and the first document in it.
#[test]
fn documents_are_those_of_kubectl() {
    check(
        "\u{feff}---\na: 1\n...\n--- # b\n\u{feff}b: 2\n---#c\n---\nc: 3",
        r#"{"a":1} {"b":2} {"c":3}"#,
    );
    check("a: \u{feff}b\n", "{\"a\":\"\u{feff}b\"}");
    let mark = "a byte order mark must be at the beginning of the file: kubectl takes it for text";
    check(
        "a: 1\n---\n# b\n\u{feff}b: 2\n",
        &format!("{{\"a\":1}} {{\"b\":2}} 4:1: {mark}"),
    );
    check(
        "a: 1\n---b: 2\n---\nc: 3\n--- |\n  d\n",
        r#"2:4: invalid Yaml document separator: b: 2 5:5: invalid Yaml document separator: |"#,
    );
    check(
        "a: \"-----BEGIN\n-----END\"\n",
        "2:4: invalid Yaml document separator: --END\"",
    );
    let ended = "the document has ended, and kubectl ignores what follows: it must be indented like the text above, or be separated by `---`";
    check("a: 1\n...\nb: 2\n", &format!("{{\"a\":1}} 3:1: {ended}"));
    check("  a: 1\nb: 2\n", &format!("{{\"a\":1}} 2:1: {ended}"));
    check("a: 1\n... # b\n\n  # c\n", r#"{"a":1}"#);
    check("---\n...\n---\na: 1\n", r#"{"a":1}"#);
    let begins = "a document must not begin with `...`: kubectl cannot read it";
    check("...\n", &format!("1:1: {begins}"));
    check(
        "a: 1\n---\n# b\n... # c\n",
        &format!("{{\"a\":1}} 4:1: {begins}"),
    );
}

#[test]
fn aliases_of_long_texts_do_not_fill_the_memory() {
    let text = format!(
        "a: &x {}\nb: [{}]\n",
        "y".repeat(1 << 20),
        "*x, ".repeat(50_000)
    );
    let problem = read(&text).problems.remove(0);
    assert_eq!(problem.message, "the aliases expand to too many values");
}

#[test]
fn many_empty_values_take_linear_time() {
    let reading = read(&"-\n".repeat(100_000));
    let items = reading.documents.first().and_then(|d| d.value().as_array());
    assert_eq!(items.map(Vec::len), Some(100_000));
}
