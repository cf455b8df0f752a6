//! `contains`, `startsWith`, `endsWith` and `matches`.

use super::{missing_operator, shared};
use crate::cost::Cost;
use crate::cost::formulas::{self, CONTAINS, PREFIX};
use crate::decl::{CallContext, Implementation, Overload, row};
use crate::error::EvalError;
use crate::value::Value;
use gavel_golang::regex::Regex;

const MATCHES: &str = "matches";

pub(super) const ROWS: &[Overload] = &[
    // Upstream switches the guards of these three off, so that they word their own errors.
    shared(
        "contains",
        "contains_string",
        "string.(string) -> bool",
        contains,
        CONTAINS,
        "'abc'.contains('bc')",
    ),
    shared(
        "endsWith",
        "ends_with_string",
        "string.(string) -> bool",
        ends_with,
        PREFIX,
        "'abc'.endsWith('bc')",
    ),
    shared(
        "startsWith",
        "starts_with_string",
        "string.(string) -> bool",
        starts_with,
        PREFIX,
        "'abc'.startsWith('ab')",
    ),
    pattern(
        "matches",
        "(string, string) -> bool",
        Cost::ONE,
        "matches('abc', '^a.c$')",
    ),
    pattern(
        "matches_string",
        "string.(string) -> bool",
        formulas::MATCHES,
        "'abc'.matches('b')",
    ),
];

fn contains<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [Value::String(text), Value::String(part)] => Ok(Value::Bool(text.contains(part))),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn ends_with<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [Value::String(text), Value::String(end)] => Ok(Value::Bool(text.ends_with(end))),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn starts_with<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [Value::String(text), Value::String(start)] => Ok(Value::Bool(text.starts_with(start))),
        _ => Err(EvalError::no_such_overload()),
    }
}

const fn pattern(
    id: &'static str,
    signature: &'static str,
    cost: Cost,
    example: &'static str,
) -> Overload {
    let implementation =
        Implementation::Pattern(matches_constant, &Implementation::Shared(matches));
    row(MATCHES, id, signature, implementation, cost, example)
}

/// Whether the pattern is found anywhere in the text.
fn matches<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [Value::String(text), Value::String(pattern)] => {
            let regex = Regex::new(pattern).map_err(|error| EvalError::new(error.to_string()))?;
            Ok(Value::Bool(regex.is_match(text)))
        }
        _ => Err(missing_operator(MATCHES, args)),
    }
}

fn matches_constant<'a>(
    _: &CallContext<'a>,
    regex: &Regex,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    match args {
        // Upstream asks for the native value, which of a type is its name.
        [Value::String(text) | Value::Type(text), _] => Ok(Value::Bool(regex.is_match(text))),
        _ => Err(EvalError::no_such_overload()),
    }
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
                &[Value::String("abc"), Value::String(part)],
                Value::Bool(expected),
            );
        }
        for function in ["contains", "startsWith", "endsWith"] {
            fails(
                function,
                &[Value::Int(1), Value::String("a")],
                "no such overload",
            );
            fails(
                function,
                &[Value::String("a"), Value::Int(1)],
                "no such overload",
            );
        }
    }

    #[test]
    fn patterns_are_found_anywhere() {
        let text = Value::String("abc");
        check("matches", &[text, Value::String("b")], Value::Bool(true));
        check("matches", &[text, Value::String("^b")], Value::Bool(false));
        fails(
            "matches",
            &[text, Value::String("[")],
            "error parsing regexp: missing closing ]: `[`",
        );
        fails("matches", &[text, Value::Int(1)], "no such overload");
        fails(
            "matches",
            &[Value::Int(1), text],
            "no such overload: matches",
        );
    }
}
