//! Searches for regular expressions (apiserver `pkg/cel/library/regex.go`).

use bumpalo::collections::Vec;
use gavel_engine::cost::{CallEstimate, Cost, SizeEstimate, formulas};
use gavel_engine::decl::{CallContext, Implementation, Overload, PatternFunction, row};
use gavel_engine::error::EvalError;
use gavel_engine::value::Value;
use gavel_golang::regex::Regex;

/// The functions.
pub const REGEX: &[Overload] = &[
    row(
        "find",
        "string_find_string",
        "string.(string) -> string",
        FIND,
        COST,
        "'abc 123'.find('[0-9]+') == '123'",
    ),
    row(
        "findAll",
        "string_find_all_string",
        "string.(string) -> list(string)",
        FIND_ALL,
        COST,
        "'123 abc 456'.findAll('[0-9]+') == ['123', '456']",
    ),
    row(
        "findAll",
        "string_find_all_string_int",
        "string.(string, int) -> list(string)",
        FIND_ALL,
        COST,
        "'123 abc 456'.findAll('[0-9]+', 1) == ['123']",
    ),
];

const FIND: Implementation = Implementation::Pattern(
    find,
    &Implementation::Typed(|call, args| compiled(find, call, args)),
);
const FIND_ALL: Implementation = Implementation::Pattern(
    find_all,
    &Implementation::Typed(|call, args| compiled(find_all, call, args)),
);

/// A match may be found at every code point.
const COST: Cost = Cost::sizes(|sizes| {
    let (text, pattern) = (formulas::nth(sizes, 0), formulas::nth(sizes, 1));
    CallEstimate::new(formulas::regex_cost(text, pattern)).with_result(SizeEstimate {
        min: 0,
        max: text.max,
    })
})
.of_name();

/// Calls a function with a pattern that was not known before.
fn compiled<'a>(
    function: PatternFunction,
    call: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let [_, Value::String(pattern), ..] = args else {
        return Err(EvalError::no_such_overload());
    };
    let regex =
        Regex::new(pattern).map_err(|error| EvalError::new(format!("Illegal regex: {error}")))?;
    function(call, &regex, args)
}

/// The first match, `''` where there is none.
fn find<'a>(
    _: &CallContext<'a>,
    regex: &Regex,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let [Value::String(text) | Value::Type(text), _] = args else {
        return Err(EvalError::no_such_overload());
    };
    let found = regex.find(text).and_then(|range| text.get(range));
    Ok(Value::String(found.unwrap_or_default()))
}

/// The matches from left to right, at most so many where that is not negative.
fn find_all<'a>(
    call: &CallContext<'a>,
    regex: &Regex,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let (text, most) = match args {
        [Value::String(text) | Value::Type(text), _] => (text, usize::MAX),
        [Value::String(text) | Value::Type(text), _, Value::Int(most)] => {
            (text, usize::try_from(*most).unwrap_or(usize::MAX))
        }
        _ => return Err(EvalError::no_such_overload()),
    };
    let mut found = Vec::new_in(call.arena.bump());
    let matches = regex.find_iter(text).take(most);
    found.extend(matches.filter_map(|range| text.get(range).map(Value::String)));
    Ok(Value::List(found.into_bump_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;

    #[test]
    fn an_empty_match_does_not_follow_another() {
        let all = |text, pattern, expected: &str| {
            let arguments = [Value::String(text), Value::String(pattern)];
            check(REGEX, "string_find_all_string", &arguments, Ok(expected));
        };
        all("abc 123", "[0-9]*", "[, , , , 123]");
        all("aaa", "", "[, , , ]");
        all("", "a", "[]");
    }

    #[test]
    fn as_many_matches_are_found_as_are_asked_for() {
        for (most, expected) in [
            (-1, "[a, a, a]"),
            (0, "[]"),
            (2, "[a, a]"),
            (9, "[a, a, a]"),
        ] {
            let arguments = [Value::String("aaa"), Value::String("a"), Value::Int(most)];
            check(
                REGEX,
                "string_find_all_string_int",
                &arguments,
                Ok(expected),
            );
        }
    }

    #[test]
    fn patterns_that_are_none_fail() {
        let arguments = [Value::String("a"), Value::String("[")];
        let message = "Illegal regex: error parsing regexp: missing closing ]: `[`";
        check(REGEX, "string_find_string", &arguments, Err(message));
    }
}
