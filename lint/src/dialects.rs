//! Help for expressions that are written as in other languages: JavaScript, Python, Go, Rego, SQL.

use gavel_engine::ast::ExprKind;
use gavel_engine::env::Env;
use gavel_golang::regex::Regex;

/// Mistakes of syntax: what the error message contains, what the expression contains, and the help. The first row that fits is used.
#[rustfmt::skip] // One row per line.
const SYNTAX: &[(&str, &str, &str)] = &[
    ("", "{{", "the expression looks like a template: render it first, such as with `helm template`"),
    ("", ":=", "`==` compares; expressions cannot assign"),
    ("error at: '=", "===", "did you mean `==`?"),
    ("error at: '=", "!==", "did you mean `!=`?"),
    ("error at: '=<", "", "did you mean `<=`?"),
    ("error at: '=>", "", "a macro has a variable and a condition instead of a function: `list.all(x, x > 0)`"),
    ("error at: '=~", "", "`text.matches('…')` matches a regular expression"),
    ("error at: '=", "", "did you mean `==`?"),
    ("error at: '&", "", "did you mean `&&`?"),
    ("error at: '|", "", "did you mean `||`?"),
    ("error at: '≤", "", "did you mean `<=`?"),
    ("error at: '≥", "", "did you mean `>=`?"),
    ("error at: '≠", "", "did you mean `!=`?"),
    ("error at: ';", "", "an expression does not end with `;`"),
    ("error at: '#", "", "comments begin with `//`"),
    ("error at: '“", "", "texts are quoted with \" or '"),
    ("error at: '‘", "", "texts are quoted with \" or '"),
    ("error at: ''", "\\", "a backslash is written `\\\\`, or the text is raw: r'\\d'"),
    ("error at: '\"", "\\", "a backslash is written `\\\\`, or the text is raw: r'\\d'"),
    ("input '>'", "<>", "did you mean `!=`?"),
    ("input '>'", "->", "a macro has a variable and a condition instead of a function: `list.all(x, x > 0)`"),
    ("input '?'", "??", "`a.?b.orValue(c)` is the field, or `c` if it is absent"),
    ("expecting ':'", "?.", "did you mean `.?`?"),
    ("input 'and'", "", "did you mean `&&`?"),
    ("input 'or'", "", "did you mean `||`?"),
    ("input 'is'", "", "did you mean `==`?"),
    ("input 'not'", "", "write `!(x in list)`"),
    ("input 'if'", "", "`condition ? a : b` chooses a value"),
    ("input '*'", "[*]", "`list.map(x, x.name)` reads a field of each element"),
    ("identifier: if", "", "`condition ? a : b` chooses a value"),
    ("identifier: return", "", "the value of an expression is its result, without `return`"),
    ("identifier: for", "", "`all`, `exists`, `filter` and `map` visit the elements of a list"),
    ("identifier: namespace", "", "in policies, `namespaceObject` is the namespace, and `request.namespace` its name"),
    ("input", "not ", "did you mean `!`?"),
];

/// Names of functions and constants that CEL does not have, and the help.
#[rustfmt::skip] // One row per line.
const NAMES: &[(&[&str], &str)] = &[
    (&["len", "length", "count"], "did you mean `size`?"),
    (&["any", "some"], "did you mean `exists`?"),
    (&["every", "forEach", "forall"], "did you mean `all`?"),
    (&["includes"], "`text.contains(part)` searches a text, `x in list` a list"),
    (&["toLowerCase", "toLower", "lower"], "did you mean `lowerAscii`?"),
    (&["toUpperCase", "toUpper", "upper"], "did you mean `upperAscii`?"),
    (&["str", "toString"], "did you mean `string`?"),
    (&["float", "Number"], "did you mean `double`?"),
    (&["parseInt", "toInt"], "did you mean `int`?"),
    (&["typeof"], "did you mean `type`?"),
    (&["strip"], "did you mean `trim`?"),
    (&["sprintf", "printf"], "`'%s'.format([x])` formats a text"),
    (&["regex", "regexMatch", "re_match", "test"], "did you mean `matches`?"),
    (&["now"], "expressions cannot read the clock"),
    (&["not"], "did you mean `!`?"),
    (&["has", "hasKey", "containsKey", "hasOwnProperty"], "`'key' in map` asks for a key, `has(object.field)` for a field"),
    (&["undefined", "None", "nil", "NULL", "Null"], "did you mean `null`?"),
    (&["True", "TRUE"], "did you mean `true`?"),
    (&["False", "FALSE"], "did you mean `false`?"),
];

/// Operators with operands of wrong types, the beginning or end of the list of the types, and the help. No operator stands for every
/// operator.
#[rustfmt::skip] // One row per line.
const OPERANDS: &[(&[&str], &[&str], &str)] = &[
    (&[], &["(optional_type("], "`.orValue(…)` or `.value()` takes the value out of an optional"),
    (&["_%_"], &["(string, "], "`'%s'.format([x])` formats a text"),
    (&["_+_"], &["(string, ", ", string)"], "`string(…)` converts a value to a string"),
    (&[], &["(kubernetes.Quantity, "], "`a.isGreaterThan(b)`, `a.isLessThan(b)`, `a.add(b)` and `a.sub(b)` take quantities"),
    (&["_?_:_"], &["(bool, "], "both values must have the same type, or be `dyn(…)`"),
    (&["@in"], &["(string, string)"], "`text.contains(part)` searches a text"),
    (&[], &["(timestamp, string)", "(string, timestamp)"], "`timestamp(…)` converts a string"),
    (&[], &["(duration, string)", "(string, duration)"], "`duration(…)` converts a string"),
    (
        &[
            "_-_", "_*_", "_/_", "_%_", "_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_",
        ],
        &["(int, string)", "(string, int)"],
        "`int(…)` converts a string",
    ),
    (&["_+_", "_-_", "_*_", "_/_", "_==_", "_!=_"], &["(int, double)", "(double, int)"], "`double(…)` converts an int"),
];

/// Other messages, and the help.
#[rustfmt::skip] // One row per line.
const OTHERS: &[(&str, &str)] = &[
    ("invalid argument to has() macro", "has() takes a field, such as `has(object.spec)`; `'key' in map` asks for a key"),
    ("invalid timestamp argument", "a timestamp is written as 2006-01-02T15:04:05Z"),
    ("invalid duration argument", "a duration is written as 1h30m, with the units h, m, s, ms, us and ns"),
    ("must evaluate to bool but got dyn", "compare the value, such as `… == true`"),
];

/// Help for the message about an expression that does not compile; `None` if there is nothing to suggest. `text` contains the expression.
pub(crate) fn help(message: &str, text: &str) -> Option<String> {
    if message.contains("Syntax error: ") || message.contains("reserved identifier: ") {
        let row = SYNTAX
            .iter()
            .find(|(found, written, _)| message.contains(found) && text.contains(written));
        return row.map(|(_, _, help)| (*help).to_owned());
    }
    if let Some(name) = quoted(message, "undeclared reference to '") {
        if text.contains(&format!("/{name}")) {
            return Some(
                "a key with `/` is written in brackets: `labels['example.com/name']`".to_owned(),
            );
        }
        let row = NAMES.iter().find(|(names, _)| names.contains(&name));
        return row.map(|(_, help)| (*help).to_owned());
    }
    if let Some(operator) = quoted(message, "no matching overload for '") {
        let types = quoted(message, "applied to '")?;
        let row = OPERANDS.iter().find(|(operators, found, _)| {
            let is_meant = operators.is_empty() || operators.contains(&operator);
            let fits = |found: &&str| types.starts_with(found) || types.ends_with(found);
            is_meant && found.iter().any(fits)
        });
        return row.map(|(.., help)| (*help).to_owned());
    }
    let row = OTHERS.iter().find(|(found, _)| message.contains(found));
    row.map(|(_, help)| (*help).to_owned())
}

/// Why the first invalid pattern of an expression is invalid. `None` if all patterns are valid, or the expression cannot be parsed.
pub(crate) fn invalid_pattern(expression: &str, env: &Env) -> Option<String> {
    let ast = env.parse(expression).ok()?;
    ast.walk().find_map(|expr| match expr.kind() {
        ExprKind::Call(call) if call.function == "matches" => {
            let pattern = call.args.iter().next_back()?.as_text()?;
            let error = Regex::new(pattern).err()?;
            Some(error.to_string())
        }
        _ => None,
    })
}

/// The text between the first occurrence of a prefix in the message and the next quote; `None` if the message does not contain both.
pub(crate) fn quoted<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(prefix)?;
    let (quoted, _) = rest.split_once('\'')?;
    Some(quoted)
}

#[cfg(test)]
mod tests {
    use gavel_libraries::{EnvSet, Server};

    use crate::meant;

    #[rustfmt::skip] // One case per line.
    #[test]
    fn parts_of_other_languages_have_help() {
        let set = EnvSet::new(Server::default()).unwrap();
        let env = set.new_expressions();
        for (expression, expected) in [
            ("1 = 1", "did you mean `==`?"),
            ("1 === 1", "did you mean `==`?"),
            ("1 !== 1", "did you mean `!=`?"),
            ("1 =< 1", "did you mean `<=`?"),
            ("1 ≠ 1", "did you mean `!=`?"),
            ("1 <> 1", "did you mean `!=`?"),
            ("x := 1", "`==` compares; expressions cannot assign"),
            ("true & false", "did you mean `&&`?"),
            ("true | false", "did you mean `||`?"),
            ("true and false", "did you mean `&&`?"),
            ("true or false", "did you mean `||`?"),
            ("not true", "did you mean `!`?"),
            ("not(true)", "did you mean `!`?"),
            ("1 not in [1]", "write `!(x in list)`"),
            ("1 is null", "did you mean `==`?"),
            ("'a' =~ 'b'", "`text.matches('…')` matches a regular expression"),
            ("[1].all(x => x > 0)", "a macro has a variable and a condition instead of a function: `list.all(x, x > 0)`"),
            ("'a'.matches('\\d')", "a backslash is written `\\\\`, or the text is raw: r'\\d'"),
            ("true;", "an expression does not end with `;`"),
            ("“a” == 'a'", "texts are quoted with \" or '"),
            ("{'a': 1}?.a", "did you mean `.?`?"),
            ("{'a': 1}.a ?? 2", "`a.?b.orValue(c)` is the field, or `c` if it is absent"),
            ("[{'a': 1}][*].a", "`list.map(x, x.name)` reads a field of each element"),
            ("if true then 1 else 2", "`condition ? a : b` chooses a value"),
            ("1 if true else 2", "`condition ? a : b` chooses a value"),
            ("return true", "the value of an expression is its result, without `return`"),
            ("namespace == 'a'", "in policies, `namespaceObject` is the namespace, and `request.namespace` its name"),
            ("{{ .Values.a }} == 1", "the expression looks like a template: render it first, such as with `helm template`"),
            ("len('a') > 0", "did you mean `size`?"),
            ("[1].any(x, x > 0)", "did you mean `exists`?"),
            ("[1].forEach(x, x > 0)", "did you mean `all`?"),
            ("'A'.toLowerCase()", "did you mean `lowerAscii`?"),
            ("{'a': 1}.has('a')", "`'key' in map` asks for a key, `has(object.field)` for a field"),
            ("{'a': 1}.a.example.com/b", "a key with `/` is written in brackets: `labels['example.com/name']`"),
            ("1 == None", "did you mean `null`?"),
            ("timestamp('2020-01-01T00:00:00Z') < now()", "expressions cannot read the clock"),
            ("'a' + 1", "`string(…)` converts a value to a string"),
            ("1 > '1'", "`int(…)` converts a string"),
            ("1 / 2.0", "`double(…)` converts an int"),
            ("1 > 2.0 && {1: 'a'} == '1'", ""),
            ("[1].all(x -> x > 0)", "a macro has a variable and a condition instead of a function: `list.all(x, x > 0)`"),
            (
                "quantity('1Gi') > quantity('1Mi')",
                "`a.isGreaterThan(b)`, `a.isLessThan(b)`, `a.add(b)` and `a.sub(b)` take quantities",
            ),
            ("true ? 'a' : 1", "both values must have the same type, or be `dyn(…)`"),
            ("'a' in 'abc'", "`text.contains(part)` searches a text"),
            ("'%s' % 'a'", "`'%s'.format([x])` formats a text"),
            ("{'a': 1}.?a == 1", "`.orValue(…)` or `.value()` takes the value out of an optional"),
            ("timestamp('2020-01-01T00:00:00Z') < '2021'", "`timestamp(…)` converts a string"),
            ("has({'a': 1}['a'])", "has() takes a field, such as `has(object.spec)`; `'key' in map` asks for a key"),
            ("timestamp('2020') == null", "a timestamp is written as 2006-01-02T15:04:05Z"),
            ("duration('1 day') == null", "a duration is written as 1h30m, with the units h, m, s, ms, us and ns"),
            ("'a'.matches('[a')", "error parsing regexp: missing closing ]: `[a`"),
            ("'a'.matches('a') && 'a'.matches('(?=a)')", "error parsing regexp: invalid or unsupported Perl syntax: `(?=`"),
        ] {
            let issues = env.compile(expression).unwrap_err();
            let help = issues
                .sorted()
                .into_iter()
                .find_map(|issue| meant::help(&issue.message, expression, env));
            assert_eq!(help.unwrap_or_default(), expected, "{expression}");
        }
    }
}
