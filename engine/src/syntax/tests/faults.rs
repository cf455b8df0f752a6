//! Tests of the messages for expressions with syntax errors.

use super::*;

/// Replaces abbreviations in an expected message by the sets of tokens that they stand for.
fn spell_out(message: &str) -> String {
    let all = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
    let names = [
        ("OPERAND", "{'[', '{', '(', '.', '-', '!', "),
        ("INDEX", "{'[', '{', '(', '.', '-', '!', '?', "),
        ("ARGUMENT", "{'[', '{', '(', ')', '.', '-', '!', "),
        ("ENTRY", "{'[', '{', '}', '(', '.', ',', '-', '!', '?', "),
    ];
    let spell = |text: String, (name, some)| text.replace(name, &format!("{some}{all}"));
    names.into_iter().fold(message.to_owned(), spell)
}

#[track_caller]
fn check(expr: &str, expected: &str) {
    assert_eq!(issues(expr).join("; "), spell_out(expected), "{expr}");
}

/// Checks lines such as `1 => message; message`.
#[track_caller]
fn check_all(cases: &str) {
    for case in cases.lines() {
        let (expr, expected) = case.split_once(" => ").unwrap();
        check(expr, expected);
    }
}

#[test]
fn operands_are_missing() {
    check_all(
        "\
1 + => 1:4 Syntax error: mismatched input '<EOF>' expecting OPERAND
+ 1 => 1:1 Syntax error: extraneous input '+' expecting OPERAND
1 + + 2 => 1:5 Syntax error: extraneous input '+' expecting OPERAND
x++ => 1:3 Syntax error: mismatched input '+' expecting OPERAND; 1:4 Syntax error: mismatched input '<EOF>' expecting OPERAND
) => 1:1 Syntax error: mismatched input ')' expecting OPERAND
() => 1:2 Syntax error: mismatched input ')' expecting OPERAND
in(1) => 1:1 Syntax error: extraneous input 'in' expecting OPERAND
! => 1:2 Syntax error: extraneous input '<EOF>' expecting OPERAND
- => 1:2 Syntax error: no viable alternative at input '-'; 1:2 Syntax error: mismatched input '<EOF>' expecting OPERAND
a && || b => 1:6 Syntax error: extraneous input '||' expecting OPERAND
a[] => 1:3 Syntax error: mismatched input ']' expecting INDEX
f( => 1:3 Syntax error: mismatched input '<EOF>' expecting ARGUMENT
f(1,) => 1:5 Syntax error: mismatched input ')' expecting OPERAND
f(,) => 1:3 Syntax error: extraneous input ',' expecting ARGUMENT
{ => 1:2 Syntax error: mismatched input '<EOF>' expecting ENTRY
",
    );
}

#[test]
fn the_end_is_missing_or_too_early() {
    check_all(
        "\
a b => 1:3 Syntax error: extraneous input 'b' expecting <EOF>
a b c => 1:3 Syntax error: mismatched input 'b' expecting <EOF>
(1 => 1:3 Syntax error: missing ')' at '<EOF>'
(1)) => 1:4 Syntax error: extraneous input ')' expecting <EOF>
(1,2) => 1:3 Syntax error: mismatched input ',' expecting ')'
a[1 => 1:4 Syntax error: missing ']' at '<EOF>'
a[1:2] => 1:4 Syntax error: mismatched input ':' expecting ']'
f(1 2) => 1:5 Syntax error: extraneous input '2' expecting ')'
[1 2] => 1:4 Syntax error: extraneous input '2' expecting {']', ','}
[1, 2 => 1:6 Syntax error: mismatched input '<EOF>' expecting {']', ','}
[1,,2] => 1:4 Syntax error: mismatched input ',' expecting ']'
{'a' 1} => 1:6 Syntax error: missing ':' at '1'
{a} => 1:3 Syntax error: mismatched input '}' expecting ':'
{'a': 1,, 'b': 2} => 1:9 Syntax error: mismatched input ',' expecting '}'
M{'a': 1} => 1:3 Syntax error: mismatched input ''a'' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}
M{a 1} => 1:5 Syntax error: missing ':' at '1'
a ? b => 1:6 Syntax error: mismatched input '<EOF>' expecting ':'
a ? b ? c : d => 1:7 Syntax error: mismatched input '?' expecting ':'
x ? y z => 1:7 Syntax error: missing ':' at 'z'
a()() => 1:4 Syntax error: mismatched input '(' expecting <EOF>
",
    );
}

#[test]
fn nothing_fits_after_a_dot_or_dash() {
    check_all(
        "\
a. => 1:3 Syntax error: no viable alternative at input '.'
a..b => 1:3 Syntax error: no viable alternative at input '..'
a.'b' => 1:3 Syntax error: no viable alternative at input '.'b''
a.true => 1:3 Syntax error: mismatched input 'true' expecting IDENTIFIER
a.1 => 1:2 Syntax error: extraneous input '.1' expecting <EOF>
a.? => 1:4 Syntax error: mismatched input '<EOF>' expecting {IDENTIFIER, ESC_IDENTIFIER}; 1:4 unsupported ident kind
-!a => 1:2 Syntax error: no viable alternative at input '-!'
!-a => 1:3 Syntax error: no viable alternative at input '-a'
a.$) => 1:3 Syntax error: token recognition error at: '$'; 1:4 Syntax error: no viable alternative at input '.)'
",
    );
    check(
        "a. \t..b",
        "1:5 Syntax error: no viable alternative at input '. \\t.'",
    );
}

#[test]
fn characters_fit_no_token() {
    check_all(
        "\
a = b => 1:3 Syntax error: token recognition error at: '= '; 1:5 Syntax error: extraneous input 'b' expecting <EOF>
1; => 1:2 Syntax error: token recognition error at: ';'
'abc => 1:1 Syntax error: token recognition error at: ''abc'; 1:5 Syntax error: mismatched input '<EOF>' expecting OPERAND
0X1F => 1:2 Syntax error: extraneous input 'X1F' expecting <EOF>
",
    );
    check(
        "\"\"\"abc",
        "1:3 Syntax error: token recognition error at: '\"abc'",
    );
    check(
        r#""\xFh""#,
        r#"1:1 Syntax error: token recognition error at: '"\xFh'; 1:6 Syntax error: token recognition error at: '"'; 1:7 Syntax error: mismatched input '<EOF>' expecting OPERAND"#,
    );
    check(
        "\u{a0}1",
        "1:1 Syntax error: token recognition error at: '\u{a0}'",
    );
}

#[test]
fn words_and_values_are_refused() {
    check_all(
        "\
for + as(1) => 1:1 reserved identifier: for; 1:7 reserved identifier: as
.for => 1:1 reserved identifier: for
{if: 1} => 1:2 reserved identifier: if
if x then y => 1:1 reserved identifier: if; 1:4 Syntax error: mismatched input 'x' expecting <EOF>
9223372036854775808 => 1:1 invalid int literal
--9223372036854775808 => 1:3 invalid int literal
18446744073709551616u => 1:1 invalid uint literal
-1e999 => 1:1 invalid double literal
",
    );
    check(r"'\ud800'", "1:1 invalid unicode code point");
    check(r"b'\u0041'", "1:1 unable to unescape string");
}

#[test]
fn macros_refuse_arguments() {
    check_all(
        "\
has(a) => 1:5 invalid argument to has() macro
has(a[0]) => 1:6 invalid argument to has() macro
l.all(x.y, true) => 1:8 argument must be a simple name
l.map(1, true) => 1:7 argument is not an identifier
l.all(__result__, true) => 1:7 iteration variable overwrites accumulator variable
m.all(x, x, true) => 1:10 duplicate variable name: x
o.optMap(1, x) => 1:10 optMap() variable name must be a simple identifier
{}.sortBy(x, x) => 1:1 sortBy can only be applied to a list, identifier, comprehension, call or select expression
cel.bind(1, 2, 3) => 1:10 cel.bind() variable names must be simple identifiers
cel.block(1, 2) => 1:11 cel.block requires the first arg to be a list literal
cel.index(-1) => 1:11 cel.index requires a single non-negative int constant arg
cel.iterVar(0, x) => 1:16 cel.iterVar requires two non-negative int constant args
",
    );
}

#[test]
fn macros_see_what_could_be_read() {
    check_all(
        "\
[1].all(., true) => 1:0 argument must be a simple name; 1:10 Syntax error: no viable alternative at input '.,'
has(a.) => 1:5 invalid argument to has() macro; 1:7 Syntax error: no viable alternative at input '.)'
",
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
        "2:3 Syntax error: mismatched input ')' expecting OPERAND",
    );
    let text = parse_expr("\t'\u{e9}' \u{e9}").unwrap_err().to_string();
    assert_eq!(
        text,
        "ERROR: <input>:1:6: Syntax error: token recognition error at: '\u{e9}'\n |  '\u{e9}' \u{e9}\n | ..\u{ff0e}..\u{ff3e}"
    );
    check(
        "",
        "1:0 Syntax error: mismatched input '<EOF>' expecting OPERAND",
    );
}
