//! `contains`, `startsWith`, `endsWith` and `matches`.

use super::{planned, shared};
use crate::cost::formulas::{CONTAINS, PREFIX};
use crate::decl::{CallContext, Overload};
use crate::error::EvalError;
use crate::value::Value;

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
    planned(
        "matches",
        "matches",
        "(string, string) -> bool",
        "matches('abc', '^a.c$')",
    ),
    planned(
        "matches",
        "matches_string",
        "string.(string) -> bool",
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
}
