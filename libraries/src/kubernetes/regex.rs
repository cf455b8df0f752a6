//! Searches for regular expressions (apiserver `pkg/cel/library/regex.go`).

use bumpalo::collections::Vec;
use gavel_engine::cost::{CallEstimate, Cost, SizeEstimate, formulas};
use gavel_engine::decl::{
    Arguments, CallContext, NativeInt, NativeText, Overload, PatternFunction, Yield, row,
};
use gavel_engine::error::EvalError;
use gavel_engine::value::Value;
use gavel_golang::regex::Regex;

/// The functions for regular expressions.
#[rustfmt::skip] // One row per line.
pub const REGEX: &[Overload] = &[
    row("find", "string_find_string", "string.(string) -> string", |call, args| compiled(find, call, args), "'abc 123'.find('[0-9]+') == '123'").pattern(find).cost(COST),
    row("findAll", "string_find_all_string", "string.(string) -> list(string)", |call, args| compiled(find_all, call, args), "'123 abc 456'.findAll('[0-9]+') == ['123', '456']").yields(Yield::Parts).pattern(find_all).cost(COST),
    row("findAll", "string_find_all_string_int", "string.(string, int) -> list(string)", |call, args| compiled(find_all, call, args), "'123 abc 456'.findAll('[0-9]+', 1) == ['123']").yields(Yield::Parts).pattern(find_all).cost(COST),
];

/// The cost of a search, which may find a match at every code point.
const COST: Cost = Cost::sizes(|sizes| {
    let (text, pattern) = (formulas::nth(sizes, 0), formulas::nth(sizes, 1));
    CallEstimate::new(formulas::regex_cost(text, pattern)).with_result(SizeEstimate {
        min: 0,
        max: text.max,
    })
})
.of_name();

/// Compiles a pattern that is only known at run time, and calls a function with the result.
fn compiled<'a>(
    function: PatternFunction,
    call: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let pattern = args.get(1).and_then(Value::as_str);
    let pattern = pattern.ok_or_else(EvalError::no_such_overload)?;
    let regex = call.pattern(pattern)?;
    let regex = regex.map_err(|error| EvalError::new(format!("Illegal regex: {error}")))?;
    function(call, &regex, args)
}

/// The first match, or an empty text if nothing matches.
fn find<'a>(
    call: &CallContext<'a>,
    regex: &Regex,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let (NativeText(text), _) = <(NativeText<'a>, Value<'a>)>::read(args)?;
    let found = regex.find(text, call.work_counter())?;
    let found = found.and_then(|range| text.get(range));
    Ok(Value::from(found.unwrap_or_default()))
}

/// The matches from left to right: at most `limit`, or all if `limit` is negative.
fn find_all<'a>(
    call: &CallContext<'a>,
    regex: &Regex,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let (NativeText(text), most) = match args {
        [_, _] => {
            let (text, _) = <(NativeText<'a>, Value<'a>)>::read(args)?;
            (text, usize::MAX)
        }
        _ => {
            let (text, _, NativeInt(most)) = <(NativeText<'a>, Value<'a>, NativeInt)>::read(args)?;
            (text, usize::try_from(most).unwrap_or(usize::MAX))
        }
    };
    let mut found = Vec::new_in(call.arena.bump());
    for range in regex.find_iter(text, call.work_counter()).take(most) {
        if let Some(part) = text.get(range?) {
            call.push(&mut found, Value::from(part))?;
        }
    }
    Ok(Value::from(found.into_bump_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;

    #[test]
    fn an_empty_match_does_not_follow_another() {
        let all = |text, pattern, expected: &str| {
            let arguments = [Value::from(text), Value::from(pattern)];
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
            let arguments = [Value::from("aaa"), Value::from("a"), Value::from(most)];
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
        let arguments = [Value::from("a"), Value::from("[")];
        let message = "Illegal regex: error parsing regexp: missing closing ]: `[`";
        check(REGEX, "string_find_string", &arguments, Err(message));
    }
}
