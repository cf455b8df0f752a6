//! Tests of the messages for expressions with syntax errors.

use super::*;

/// Replaces abbreviations in an expected message by the sets of tokens that they stand for.
fn spell_out(message: &str) -> String {
    let rest = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
    message
        .replace(
            "OPERAND",
            &format!("{{'[', '{{', '(', '.', '-', '!', {rest}"),
        )
        .replace(
            "INDEX",
            &format!("{{'[', '{{', '(', '.', '-', '!', '?', {rest}"),
        )
        .replace(
            "ARGUMENT",
            &format!("{{'[', '{{', '(', ')', '.', '-', '!', {rest}"),
        )
        .replace(
            "ENTRY",
            &format!("{{'[', '{{', '}}', '(', '.', ',', '-', '!', '?', {rest}"),
        )
}

#[track_caller]
fn check(expr: &str, expected: &[&str]) {
    let expected: Vec<String> = expected.iter().map(|message| spell_out(message)).collect();
    assert_eq!(issues(expr), expected, "{expr}");
}

#[test]
fn operands_are_missing() {
    check(
        "1 +",
        &["1:4 Syntax error: mismatched input '<EOF>' expecting OPERAND"],
    );
    check(
        "+ 1",
        &["1:1 Syntax error: extraneous input '+' expecting OPERAND"],
    );
    check(
        "1 + + 2",
        &["1:5 Syntax error: extraneous input '+' expecting OPERAND"],
    );
    check(
        "x++",
        &[
            "1:3 Syntax error: mismatched input '+' expecting OPERAND",
            "1:4 Syntax error: mismatched input '<EOF>' expecting OPERAND",
        ],
    );
    check(
        ")",
        &["1:1 Syntax error: mismatched input ')' expecting OPERAND"],
    );
    check(
        "()",
        &["1:2 Syntax error: mismatched input ')' expecting OPERAND"],
    );
    check(
        "in(1)",
        &["1:1 Syntax error: extraneous input 'in' expecting OPERAND"],
    );
    check(
        "!",
        &["1:2 Syntax error: extraneous input '<EOF>' expecting OPERAND"],
    );
    check(
        "-",
        &[
            "1:2 Syntax error: no viable alternative at input '-'",
            "1:2 Syntax error: mismatched input '<EOF>' expecting OPERAND",
        ],
    );
    check(
        "a && || b",
        &["1:6 Syntax error: extraneous input '||' expecting OPERAND"],
    );
    check(
        "a[]",
        &["1:3 Syntax error: mismatched input ']' expecting INDEX"],
    );
    check(
        "f(",
        &["1:3 Syntax error: mismatched input '<EOF>' expecting ARGUMENT"],
    );
    check(
        "f(1,)",
        &["1:5 Syntax error: mismatched input ')' expecting OPERAND"],
    );
    check(
        "f(,)",
        &["1:3 Syntax error: extraneous input ',' expecting ARGUMENT"],
    );
    check(
        "{",
        &["1:2 Syntax error: mismatched input '<EOF>' expecting ENTRY"],
    );
}

#[test]
fn the_end_is_missing_or_too_early() {
    check(
        "a b",
        &["1:3 Syntax error: extraneous input 'b' expecting <EOF>"],
    );
    check(
        "a b c",
        &["1:3 Syntax error: mismatched input 'b' expecting <EOF>"],
    );
    check("(1", &["1:3 Syntax error: missing ')' at '<EOF>'"]);
    check(
        "(1))",
        &["1:4 Syntax error: extraneous input ')' expecting <EOF>"],
    );
    check(
        "(1,2)",
        &["1:3 Syntax error: mismatched input ',' expecting ')'"],
    );
    check("a[1", &["1:4 Syntax error: missing ']' at '<EOF>'"]);
    check(
        "a[1:2]",
        &["1:4 Syntax error: mismatched input ':' expecting ']'"],
    );
    check(
        "f(1 2)",
        &["1:5 Syntax error: extraneous input '2' expecting ')'"],
    );
    check(
        "[1 2]",
        &["1:4 Syntax error: extraneous input '2' expecting {']', ','}"],
    );
    check(
        "[1, 2",
        &["1:6 Syntax error: mismatched input '<EOF>' expecting {']', ','}"],
    );
    check(
        "[1,,2]",
        &["1:4 Syntax error: mismatched input ',' expecting ']'"],
    );
    check("{'a' 1}", &["1:6 Syntax error: missing ':' at '1'"]);
    check(
        "{a}",
        &["1:3 Syntax error: mismatched input '}' expecting ':'"],
    );
    check(
        "{'a': 1,, 'b': 2}",
        &["1:9 Syntax error: mismatched input ',' expecting '}'"],
    );
    check(
        "M{'a': 1}",
        &[
            "1:3 Syntax error: mismatched input ''a'' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}",
        ],
    );
    check("M{a 1}", &["1:5 Syntax error: missing ':' at '1'"]);
    check(
        "a ? b",
        &["1:6 Syntax error: mismatched input '<EOF>' expecting ':'"],
    );
    check(
        "a ? b ? c : d",
        &["1:7 Syntax error: mismatched input '?' expecting ':'"],
    );
    check("x ? y z", &["1:7 Syntax error: missing ':' at 'z'"]);
    check(
        "a()()",
        &["1:4 Syntax error: mismatched input '(' expecting <EOF>"],
    );
}

#[test]
fn nothing_fits_after_a_dot_or_dash() {
    check(
        "a.",
        &["1:3 Syntax error: no viable alternative at input '.'"],
    );
    check(
        "a..b",
        &["1:3 Syntax error: no viable alternative at input '..'"],
    );
    check(
        "a. \t..b",
        &["1:5 Syntax error: no viable alternative at input '. \\t.'"],
    );
    check(
        "a.'b'",
        &["1:3 Syntax error: no viable alternative at input '.'b''"],
    );
    check(
        "a.true",
        &["1:3 Syntax error: mismatched input 'true' expecting IDENTIFIER"],
    );
    check(
        "a.1",
        &["1:2 Syntax error: extraneous input '.1' expecting <EOF>"],
    );
    check(
        "a.?",
        &[
            "1:4 Syntax error: mismatched input '<EOF>' expecting {IDENTIFIER, ESC_IDENTIFIER}",
            "1:4 unsupported ident kind",
        ],
    );
    check(
        "-!a",
        &["1:2 Syntax error: no viable alternative at input '-!'"],
    );
    check(
        "!-a",
        &["1:3 Syntax error: no viable alternative at input '-a'"],
    );
    check(
        "a.$)",
        &[
            "1:3 Syntax error: token recognition error at: '$'",
            "1:4 Syntax error: no viable alternative at input '.)'",
        ],
    );
}

#[test]
fn characters_fit_no_token() {
    check(
        "a = b",
        &[
            "1:3 Syntax error: token recognition error at: '= '",
            "1:5 Syntax error: extraneous input 'b' expecting <EOF>",
        ],
    );
    check("1;", &["1:2 Syntax error: token recognition error at: ';'"]);
    check(
        "'abc",
        &[
            "1:1 Syntax error: token recognition error at: ''abc'",
            "1:5 Syntax error: mismatched input '<EOF>' expecting OPERAND",
        ],
    );
    check(
        "\"\"\"abc",
        &["1:3 Syntax error: token recognition error at: '\"abc'"],
    );
    check(
        r#""\xFh""#,
        &[
            r#"1:1 Syntax error: token recognition error at: '"\xFh'"#,
            r#"1:6 Syntax error: token recognition error at: '"'"#,
            "1:7 Syntax error: mismatched input '<EOF>' expecting OPERAND",
        ],
    );
    check(
        "0X1F",
        &["1:2 Syntax error: extraneous input 'X1F' expecting <EOF>"],
    );
    check(
        "\u{a0}1",
        &["1:1 Syntax error: token recognition error at: '\u{a0}'"],
    );
}

#[test]
fn words_and_values_are_refused() {
    check(
        "for + as(1)",
        &[
            "1:1 reserved identifier: for",
            "1:7 reserved identifier: as",
        ],
    );
    check(".for", &["1:1 reserved identifier: for"]);
    check("{if: 1}", &["1:2 reserved identifier: if"]);
    check(
        "if x then y",
        &[
            "1:1 reserved identifier: if",
            "1:4 Syntax error: mismatched input 'x' expecting <EOF>",
        ],
    );
    check("9223372036854775808", &["1:1 invalid int literal"]);
    check("--9223372036854775808", &["1:3 invalid int literal"]);
    check("18446744073709551616u", &["1:1 invalid uint literal"]);
    check("-1e999", &["1:1 invalid double literal"]);
    check(r"'\ud800'", &["1:1 invalid unicode code point"]);
    check(r"b'\u0041'", &["1:1 unable to unescape string"]);
}

#[test]
fn macros_refuse_arguments() {
    check("has(a)", &["1:5 invalid argument to has() macro"]);
    check("has(a[0])", &["1:6 invalid argument to has() macro"]);
    check("l.all(x.y, true)", &["1:8 argument must be a simple name"]);
    check("l.map(1, true)", &["1:7 argument is not an identifier"]);
    check(
        "l.all(__result__, true)",
        &["1:7 iteration variable overwrites accumulator variable"],
    );
    check("m.all(x, x, true)", &["1:10 duplicate variable name: x"]);
    check(
        "o.optMap(1, x)",
        &["1:10 optMap() variable name must be a simple identifier"],
    );
    check(
        "{}.sortBy(x, x)",
        &[
            "1:1 sortBy can only be applied to a list, identifier, comprehension, call or select expression",
        ],
    );
    check(
        "cel.bind(1, 2, 3)",
        &["1:10 cel.bind() variable names must be simple identifiers"],
    );
    check(
        "cel.block(1, 2)",
        &["1:11 cel.block requires the first arg to be a list literal"],
    );
    check(
        "cel.index(-1)",
        &["1:11 cel.index requires a single non-negative int constant arg"],
    );
    check(
        "cel.iterVar(0, x)",
        &["1:16 cel.iterVar requires two non-negative int constant args"],
    );
}

#[test]
fn macros_see_what_could_be_read() {
    check(
        "[1].all(., true)",
        &[
            "1:0 argument must be a simple name",
            "1:10 Syntax error: no viable alternative at input '.,'",
        ],
    );
    check(
        "has(a.)",
        &[
            "1:5 invalid argument to has() macro",
            "1:7 Syntax error: no viable alternative at input '.)'",
        ],
    );
}

#[test]
fn optional_syntax_can_be_off() {
    let options = ParserOptions {
        optional_syntax: false,
        ..ParserOptions::default()
    };
    for (expr, expected) in [
        ("a.?b", vec!["1:2 unsupported syntax '.?'"]),
        ("a[?b]", vec!["1:2 unsupported syntax '[?'"]),
        ("[a, ?b]", vec!["1:5 unsupported syntax '?'"]),
        ("{?a: b}", vec!["1:2 unsupported syntax '?'"]),
        ("M{?a: b}", vec!["1:3 unsupported syntax '?'"]),
    ] {
        let issues = parse(Source::new(expr), &options, &Macros::default()).unwrap_err();
        assert_eq!(brief(&issues), expected, "{expr}");
    }
}

#[test]
fn places_count_code_points_and_lines() {
    check(
        "'\u{1f600}' +\n  )",
        &["2:3 Syntax error: mismatched input ')' expecting OPERAND"],
    );
    let text = parse_expr("\t'\u{e9}' \u{e9}").unwrap_err().to_string();
    assert_eq!(
        text,
        "ERROR: <input>:1:6: Syntax error: token recognition error at: '\u{e9}'\n |  '\u{e9}' \u{e9}\n | ..\u{ff0e}..\u{ff3e}"
    );
    check(
        "",
        &["1:0 Syntax error: mismatched input '<EOF>' expecting OPERAND"],
    );
}
