//! `contains`, `startsWith`, `endsWith` and `matches`.

use super::missing_operator;
use crate::body;
use crate::cost::formulas::{self, CONTAINS, PREFIX};
use crate::decl::{Arguments, CallContext, Form, LiteralRule, NativeText, Overload, row};
use crate::error::EvalError;
use crate::value::Value;
use gavel_golang::regex::Regex;

const MATCHES: &str = "matches";

#[rustfmt::skip] // One row per line.
pub(super) const ROWS: &[Overload] = &[
    // These three functions check the types of their arguments themselves, because upstream disables their type guards.
    row("contains", "contains_string", "string.(string) -> bool", body!(contains), "'abc'.contains('bc')").shared().test(contains).cost(CONTAINS),
    row("endsWith", "ends_with_string", "string.(string) -> bool", body!(ends_with), "'abc'.endsWith('bc')").shared().test(ends_with).cost(PREFIX),
    row("startsWith", "starts_with_string", "string.(string) -> bool", body!(starts_with), "'abc'.startsWith('ab')").shared().test(starts_with).cost(PREFIX),
    row(MATCHES, "matches", "(string, string) -> bool", matches, "matches('abc', '^a.c$')").shared().form(Form::Match).pattern(matches_constant).literals(LiteralRule::Pattern),
    row(MATCHES, "matches_string", "string.(string) -> bool", matches, "'abc'.matches('b')").shared().form(Form::Match).pattern(matches_constant).literals(LiteralRule::Pattern).cost(formulas::MATCHES),
];

/// The rows for Kubernetes 1.37 and later. Their costs depend on the texts that the functions read.
#[rustfmt::skip] // One row per line.
pub(super) const COSTED_BY_WHAT_IS_READ: &[Overload] = &[
    row("endsWith", "ends_with_string", "string.(string) -> bool", body!(ends_with), "'abc'.endsWith('bc')").shared().test(ends_with).cost(formulas::PART),
    row("startsWith", "starts_with_string", "string.(string) -> bool", body!(starts_with), "'abc'.startsWith('ab')").shared().test(starts_with).cost(formulas::PART),
    row(MATCHES, "matches", "(string, string) -> bool", matches, "matches('abc', '^a.c$')").shared().form(Form::Match).pattern(matches_constant).literals(LiteralRule::Pattern).cost(formulas::MATCHES),
];

fn contains(text: &str, part: &str) -> bool {
    text.contains(part)
}

fn ends_with(text: &str, end: &str) -> bool {
    text.ends_with(end)
}

fn starts_with(text: &str, start: &str) -> bool {
    text.starts_with(start)
}

/// Whether the pattern is found anywhere in the text.
fn matches<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let Ok((text, pattern)) = <(&str, &str)>::read(args) else {
        return Err(missing_operator(MATCHES, args));
    };
    let regex = call.pattern(pattern)?;
    let regex = regex.map_err(|error| EvalError::new(error.to_string()))?;
    Ok(Value::from(
        regex.matches_within(text, call.work_counter())?,
    ))
}

fn matches_constant<'a>(
    call: &CallContext<'a>,
    regex: &Regex,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let (NativeText(text), _) = <(NativeText<'_>, Value<'_>)>::read(args)?;
    Ok(Value::from(
        regex.matches_within(text, call.work_counter())?,
    ))
}

#[cfg(test)]
mod tests {
    use crate::stdlib::tests::{check, fails};
    use crate::value::Value;

    #[test]
    fn parts_are_found_where_they_are() {
        for (function, part, expected) in [
            ("contains", "b", true),
            ("contains", "", true),
            ("contains", "x", false),
            ("startsWith", "ab", true),
            ("startsWith", "b", false),
            ("endsWith", "bc", true),
            ("endsWith", "b", false),
        ] {
            check(
                function,
                &[Value::from("abc"), Value::from(part)],
                Value::from(expected),
            );
        }
        for function in ["contains", "startsWith", "endsWith"] {
            fails(
                function,
                &[Value::from(1), Value::from("a")],
                "no such overload",
            );
            fails(
                function,
                &[Value::from("a"), Value::from(1)],
                "no such overload",
            );
        }
    }

    #[test]
    fn patterns_are_found_anywhere() {
        let text = Value::from("abc");
        check("matches", &[text, Value::from("b")], Value::from(true));
        check("matches", &[text, Value::from("^b")], Value::from(false));
        fails(
            "matches",
            &[text, Value::from("[")],
            "error parsing regexp: missing closing ]: `[`",
        );
        let long = "x".repeat(1 << 20);
        fails(
            "matches",
            &[text, Value::from(&*long)],
            "operation cancelled: memory limit exceeded",
        );
        fails("matches", &[text, Value::from(1)], "no such overload");
        fails(
            "matches",
            &[Value::from(1), text],
            "no such overload: matches",
        );
    }
}
