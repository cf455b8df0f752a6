//! Optional values (cel-go `cel/library.go`, optional types version 2).
//!
//! Selection and indexing of optionals, `or` and `orValue` are planned separately, because they must not evaluate operands that they do
//! not need.

use gavel_engine::ast::operators::{INDEX, OPT_INDEX, OPT_SELECT};
use gavel_engine::body;
use gavel_engine::decl::{CallContext, Form, Overload, Yield, planned, row};
use gavel_engine::error::EvalError;
use gavel_engine::value::{List, Value};

/// The functions of optional values.
#[rustfmt::skip] // One row per line.
pub const OPTIONALS: &[Overload] = &[
    row("optional.of", "optional_of", "(V) -> optional_type(V)", body!(of), "optional.of(1).value() == 1").yields(Yield::Held),
    row("optional.ofNonZeroValue", "optional_ofNonZeroValue", "(V) -> optional_type(V)", body!(of_non_zero_value), "!optional.ofNonZeroValue('').hasValue()"),
    row("optional.none", "optional_none", "() -> optional_type(V)", body!(|| Value::NONE), "!optional.none().hasValue()"),
    row("value", "optional_value", "optional_type(V).() -> V", body!(value), "optional.of('a').value() == 'a'").yields(Yield::Held),
    row("hasValue", "optional_hasValue", "optional_type(V).() -> bool", body!(has_value), "optional.of(1).hasValue()"),
    planned("or", "optional_or_optional", "optional_type(V).(optional_type(V)) -> optional_type(V)", Form::OptionalOr, "optional.none().or(optional.of(1)).value() == 1").yields(Yield::Either),
    planned("orValue", "optional_orValue_value", "optional_type(V).(V) -> V", Form::OptionalOrValue, "{'a': 1}.?b.orValue(2) == 2").yields(Yield::Either),
    planned(OPT_SELECT, "select_optional_field", "(dyn, string) -> optional_type(V)", Form::OptionalIndex, "{'a': 1}.?a.hasValue()"),
    planned(OPT_INDEX, "list_optindex_optional_int", "(list(V), int) -> optional_type(V)", Form::OptionalIndex, "!['a'][?1].hasValue()"),
    planned(OPT_INDEX, "optional_list_optindex_optional_int", "(optional_type(list(V)), int) -> optional_type(V)", Form::OptionalIndex, "optional.of(['a'])[?0].value() == 'a'"),
    planned(OPT_INDEX, "map_optindex_optional_value", "(map(K, V), K) -> optional_type(V)", Form::OptionalIndex, "{'a': 1}[?'a'].value() == 1"),
    planned(OPT_INDEX, "optional_map_optindex_optional_value", "(optional_type(map(K, V)), K) -> optional_type(V)", Form::OptionalIndex, "!optional.of({'a': 1})[?'b'].hasValue()"),
    planned(INDEX, "optional_list_index_int", "(optional_type(list(V)), int) -> optional_type(V)", Form::Index, "optional.of(['a'])[0].value() == 'a'"),
    planned(INDEX, "optional_map_index_value", "(optional_type(map(K, V)), K) -> optional_type(V)", Form::Index, "optional.of({'a': 1})['a'].value() == 1"),
    row("last", "list_last", "list(V).() -> optional_type(V)", body!(last), "[1, 2, 3].last().value() == 3"),
    row("first", "list_first", "list(V).() -> optional_type(V)", body!(first), "[1, 2, 3].first().value() == 1"),
    row("optional.unwrap", "optional_unwrap", "(list(optional_type(V))) -> list(V)", body!(unwrap), "optional.unwrap([optional.of(1), optional.none()]) == [1]"),
    row("unwrapOpt", "optional_unwrapOpt", "list(optional_type(V)).() -> list(V)", body!(unwrap), "[optional.of(1), optional.none()].unwrapOpt() == [1]"),
];

fn of<'a>(call: &CallContext<'a>, value: Value<'a>) -> Value<'a> {
    call.arena.some(value)
}

fn of_non_zero_value<'a>(call: &CallContext<'a>, value: Value<'a>) -> Value<'a> {
    match value.is_zero() && call.host().go_type(&value).is_none() {
        true => Value::NONE,
        false => call.arena.some(value),
    }
}

fn value<'a>(
    call: &CallContext<'a>,
    optional: Option<&'a Value<'a>>,
) -> Result<Value<'a>, EvalError> {
    match optional {
        Some(value) => value.or_held_error(call.arena),
        None => Err(EvalError::new("optional.none() dereference")),
    }
}

fn has_value<'a>(optional: Option<&'a Value<'a>>) -> bool {
    optional.is_some()
}

fn first<'a>(call: &CallContext<'a>, list: List<'a>) -> Value<'a> {
    let first = list.get(0);
    first.map_or(Value::NONE, |element| call.arena.some(element))
}

fn last<'a>(call: &CallContext<'a>, list: List<'a>) -> Value<'a> {
    let last = list.len().checked_sub(1).and_then(|last| list.get(last));
    last.map_or(Value::NONE, |element| call.arena.some(element))
}

/// The values of the optionals that have a value. Only the first element determines the overload, so a later element might not be an
/// optional. Such an element is an error.
fn unwrap<'a>(call: &CallContext<'a>, list: List<'a>) -> Result<Value<'a>, EvalError> {
    // Reserves memory for the values and for their copy in the arena.
    call.reserve(list.len().saturating_mul(size_of::<[Value<'_>; 2]>()))?;
    let mut values = Vec::with_capacity(list.len());
    for element in list {
        call.look(&element)?;
        match element.as_optional() {
            Some(value) => values.extend(value.copied()),
            None => {
                let message = format!("value {} is not optional", element.in_message());
                return Err(EvalError::new(message));
            }
        }
    }
    Ok(call.arena.list(&values))
}

#[cfg(test)]
mod tests {
    use crate::testing::check_expression;

    #[test]
    fn zero_values_are_none() {
        let check = |value: &str, zero: bool| {
            let expression = format!("optional.ofNonZeroValue({value}).hasValue()");
            check_expression(&expression, Ok(if zero { "false" } else { "true" }));
        };
        for zero in [
            "null",
            "false",
            "0",
            "0u",
            "-0.0",
            "''",
            "b''",
            "[]",
            "{}",
            "duration('0s')",
        ] {
            check(zero, true);
        }
        check("timestamp('0001-01-01T00:00:00Z')", true);
        for other in [
            "timestamp(0)",
            "0.0 / 0.0",
            "[0]",
            "int",
            "optional.none()",
            "ip('::')",
        ] {
            check(other, false);
        }
    }

    #[test]
    fn only_optionals_are_unwrapped() {
        check_expression("[optional.none(), optional.of(1)].unwrapOpt()", Ok("[1]"));
        let mixed = "dyn([dyn(optional.of(1)), dyn(['a'])]).unwrapOpt()";
        check_expression(mixed, Err("value [a] is not optional"));
        check_expression(
            "dyn([1]).unwrapOpt()",
            Err("no such overload: unwrapOpt(list)"),
        );
    }

    #[test]
    fn the_ends_of_a_list_may_be_missing() {
        check_expression(
            "[[1, 2].first(), [1, 2].last(), [].first()]",
            Ok("[optional(1), optional(2), optional.none()]"),
        );
        check_expression(
            "optional.none().value()",
            Err("optional.none() dereference"),
        );
        check_expression("dyn(1).orValue(2)", Ok("1"));
    }
}
