//! Optional values (cel-go `cel/library.go`, optional types version 2).
//!
//! Selection and indexing of optionals, `or` and `orValue` are planned: they must not evaluate what they do not need.

use gavel_engine::ast::operators::{INDEX, OPT_INDEX, OPT_SELECT};
use gavel_engine::decl::{CallContext, Overload, planned, typed_one};
use gavel_engine::error::EvalError;
use gavel_engine::value::{ObjectKind, Timestamp, Value};

/// The functions.
pub const OPTIONALS: &[Overload] = &[
    typed_one(
        "optional.of",
        "optional_of",
        "(V) -> optional_type(V)",
        of,
        "optional.of(1).value() == 1",
    ),
    typed_one(
        "optional.ofNonZeroValue",
        "optional_ofNonZeroValue",
        "(V) -> optional_type(V)",
        of_non_zero_value,
        "!optional.ofNonZeroValue('').hasValue()",
    ),
    typed_one(
        "optional.none",
        "optional_none",
        "() -> optional_type(V)",
        none,
        "!optional.none().hasValue()",
    ),
    typed_one(
        "value",
        "optional_value",
        "optional_type(V).() -> V",
        value,
        "optional.of('a').value() == 'a'",
    ),
    typed_one(
        "hasValue",
        "optional_hasValue",
        "optional_type(V).() -> bool",
        has_value,
        "optional.of(1).hasValue()",
    ),
    planned(
        "or",
        "optional_or_optional",
        "optional_type(V).(optional_type(V)) -> optional_type(V)",
        "optional.none().or(optional.of(1)).value() == 1",
    ),
    planned(
        "orValue",
        "optional_orValue_value",
        "optional_type(V).(V) -> V",
        "{'a': 1}.?b.orValue(2) == 2",
    ),
    planned(
        OPT_SELECT,
        "select_optional_field",
        "(dyn, string) -> optional_type(V)",
        "{'a': 1}.?a.hasValue()",
    ),
    planned(
        OPT_INDEX,
        "list_optindex_optional_int",
        "(list(V), int) -> optional_type(V)",
        "!['a'][?1].hasValue()",
    ),
    planned(
        OPT_INDEX,
        "optional_list_optindex_optional_int",
        "(optional_type(list(V)), int) -> optional_type(V)",
        "optional.of(['a'])[?0].value() == 'a'",
    ),
    planned(
        OPT_INDEX,
        "map_optindex_optional_value",
        "(map(K, V), K) -> optional_type(V)",
        "{'a': 1}[?'a'].value() == 1",
    ),
    planned(
        OPT_INDEX,
        "optional_map_optindex_optional_value",
        "(optional_type(map(K, V)), K) -> optional_type(V)",
        "!optional.of({'a': 1})[?'b'].hasValue()",
    ),
    planned(
        INDEX,
        "optional_list_index_int",
        "(optional_type(list(V)), int) -> optional_type(V)",
        "optional.of(['a'])[0].value() == 'a'",
    ),
    planned(
        INDEX,
        "optional_map_index_value",
        "(optional_type(map(K, V)), K) -> optional_type(V)",
        "optional.of({'a': 1})['a'].value() == 1",
    ),
    typed_one(
        "last",
        "list_last",
        "list(V).() -> optional_type(V)",
        last,
        "[1, 2, 3].last().value() == 3",
    ),
    typed_one(
        "first",
        "list_first",
        "list(V).() -> optional_type(V)",
        first,
        "[1, 2, 3].first().value() == 1",
    ),
    typed_one(
        "optional.unwrap",
        "optional_unwrap",
        "(list(optional_type(V))) -> list(V)",
        unwrap,
        "optional.unwrap([optional.of(1), optional.none()]) == [1]",
    ),
    typed_one(
        "unwrapOpt",
        "optional_unwrapOpt",
        "list(optional_type(V)).() -> list(V)",
        unwrap,
        "[optional.of(1), optional.none()].unwrapOpt() == [1]",
    ),
];

fn of<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [value] = *args else {
        return Err(EvalError::no_such_overload());
    };
    Ok(call.arena.some(value))
}

fn of_non_zero_value<'a>(
    call: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    match args {
        [value] if is_zero(value) => Ok(Value::Optional(None)),
        _ => of(call, args),
    }
}

/// Whether a value is its type's zero: false, 0, empty, null. Types and optionals never are, and a library or
/// host decides for its own values.
fn is_zero(value: &Value<'_>) -> bool {
    const ZERO_TIME: Timestamp = Timestamp {
        seconds: Timestamp::MIN_SECONDS,
        nanos: 0,
        offset: 0,
    };
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Int(value) => *value == 0,
        Value::Uint(value) => *value == 0,
        Value::Double(value) => *value == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::Duration(duration) => duration.0 == 0,
        Value::Timestamp(timestamp) => *timestamp == ZERO_TIME,
        Value::List(values) | Value::Items(values) => values.is_empty(),
        Value::JsonList(items) => items.is_empty(),
        Value::OwnedList(values) => values.is_empty(),
        Value::Map(map) => map.entries().is_empty(),
        Value::JsonMap(map) => map.is_empty(),
        Value::Fields(fields) => fields.is_empty(),
        // Views of documents never are, upstream.
        Value::ShapedList(..) | Value::ShapedMap(..) | Value::Unread(..) => false,
        Value::ListView(list) => list.is_zero(),
        Value::MapView(map) => map.is_zero(),
        Value::Object(object) => object.kind() == ObjectKind::Open && object.fields().is_empty(),
        Value::Opaque(opaque) => opaque.is_zero(),
        Value::Optional(_) | Value::Type(_) => false,
    }
}

fn none<'a>(_: &CallContext<'a>, _: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Optional(None))
}

fn value<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [Value::Optional(Some(value))] => value.or_held_error(call.arena),
        [Value::Optional(None)] => Err(EvalError::new("optional.none() dereference")),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn has_value<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [Value::Optional(value)] => Ok(Value::Bool(value.is_some())),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn first<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    element(call, args, |_| Some(0))
}

fn last<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    element(call, args, |len| len.checked_sub(1))
}

/// The element of a list at a position that is chosen by its length, or none.
fn element<'a>(
    call: &CallContext<'a>,
    args: &[Value<'a>],
    position: fn(usize) -> Option<usize>,
) -> Result<Value<'a>, EvalError> {
    let list = match args {
        [value] => value.as_list(),
        _ => None,
    };
    let list = list.ok_or_else(EvalError::no_such_overload)?;
    let element = position(list.len()).and_then(|position| list.get(position));
    Ok(element.map_or(Value::Optional(None), |element| call.arena.some(element)))
}

/// The values of those elements that have one. The guard of a call looks at the first element alone, so any later one may
/// turn out not to be optional.
fn unwrap<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let list = match args {
        [value] => value.as_list(),
        _ => None,
    };
    let list = list.ok_or_else(EvalError::no_such_overload)?;
    let mut values = Vec::with_capacity(list.len());
    for element in list {
        match element {
            Value::Optional(value) => values.extend(value.copied()),
            other => {
                let message = format!("value {} is not optional", other.in_message());
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
