//! Orders, sums and searches of lists (apiserver `pkg/cel/library/lists.go`).

use std::cmp::Ordering;

use gavel_engine::decl::{CallContext, Function, Overload};
use gavel_engine::error::EvalError;
use gavel_engine::value::arithmetic::{add_duration, add_int, add_to_timestamp, add_uint};
use gavel_engine::value::{Duration, List, Value};

use super::typed;
use crate::cost::TRAVERSAL;

/// The functions.
#[rustfmt::skip] // A table: a row a line.
pub const LISTS: &[Overload] = &[
    walk("isSorted", "list_int_is_sorted_bool", "list(int).() -> bool", is_sorted, "![3, 1, 2].isSorted()"),
    walk("isSorted", "list_uint_is_sorted_bool", "list(uint).() -> bool", is_sorted, "![3u, 1u].isSorted()"),
    walk("isSorted", "list_double_is_sorted_bool", "list(double).() -> bool", is_sorted, "![0.5, -1.0].isSorted()"),
    walk("isSorted", "list_bool_is_sorted_bool", "list(bool).() -> bool", is_sorted, "![true, false].isSorted()"),
    walk("isSorted", "list_duration_is_sorted_bool", "list(duration).() -> bool", is_sorted, "![duration('1m'), duration('1s')].isSorted()"),
    walk("isSorted", "list_timestamp_is_sorted_bool", "list(timestamp).() -> bool", is_sorted, "![timestamp(2), timestamp(1)].isSorted()"),
    walk("isSorted", "list_string_is_sorted_bool", "list(string).() -> bool", is_sorted, "!['b', 'a'].isSorted()"),
    walk("isSorted", "list_bytes_is_sorted_bool", "list(bytes).() -> bool", is_sorted, "![b'b', b'a'].isSorted()"),
    walk("sum", "list_int_sum_int", "list(int).() -> int", sum_ints, "[1, 2].sum() == 3"),
    walk("sum", "list_uint_sum_uint", "list(uint).() -> uint", sum_uints, "[1u, 2u].sum() == 3u"),
    walk("sum", "list_double_sum_double", "list(double).() -> double", sum_doubles, "[1.0, 0.5].sum() == 1.5"),
    walk("sum", "list_duration_sum_duration", "list(duration).() -> duration", sum_durations, "[duration('1m'), duration('1s')].sum() == duration('61s')"),
    walk("max", "list_int_max_int", "list(int).() -> int", max, "[3, 1, 2].max() == 3"),
    walk("max", "list_uint_max_uint", "list(uint).() -> uint", max, "[3u, 1u].max() == 3u"),
    walk("max", "list_double_max_double", "list(double).() -> double", max, "[0.5, -1.0].max() == 0.5"),
    walk("max", "list_bool_max_bool", "list(bool).() -> bool", max, "[true, false].max() == true"),
    walk("max", "list_duration_max_duration", "list(duration).() -> duration", max, "[duration('1m'), duration('1s')].max() == duration('1m')"),
    walk("max", "list_timestamp_max_timestamp", "list(timestamp).() -> timestamp", max, "[timestamp(2), timestamp(1)].max() == timestamp(2)"),
    walk("max", "list_string_max_string", "list(string).() -> string", max, "['b', 'a'].max() == 'b'"),
    walk("max", "list_bytes_max_bytes", "list(bytes).() -> bytes", max, "[b'b', b'a'].max() == b'b'"),
    walk("min", "list_int_min_int", "list(int).() -> int", min, "[3, 1, 2].min() == 1"),
    walk("min", "list_uint_min_uint", "list(uint).() -> uint", min, "[3u, 1u].min() == 1u"),
    walk("min", "list_double_min_double", "list(double).() -> double", min, "[0.5, -1.0].min() == -1.0"),
    walk("min", "list_bool_min_bool", "list(bool).() -> bool", min, "[true, false].min() == false"),
    walk("min", "list_duration_min_duration", "list(duration).() -> duration", min, "[duration('1m'), duration('1s')].min() == duration('1s')"),
    walk("min", "list_timestamp_min_timestamp", "list(timestamp).() -> timestamp", min, "[timestamp(2), timestamp(1)].min() == timestamp(1)"),
    walk("min", "list_string_min_string", "list(string).() -> string", min, "['b', 'a'].min() == 'a'"),
    walk("min", "list_bytes_min_bytes", "list(bytes).() -> bytes", min, "[b'b', b'a'].min() == b'a'"),
    walk("indexOf", "list_a_index_of_int", "list(A).(A) -> int", index_of, "[1, 2, 2].indexOf(2) == 1"),
    walk("lastIndexOf", "list_a_last_index_of_int", "list(A).(A) -> int", last_index_of, "[1, 2, 2].lastIndexOf(2) == 2"),
];

/// What Kubernetes 1.37 adds.
pub const LISTS_SINCE_1: &[Overload] = &[walk(
    "includes",
    "list_includes_dyn_dyn",
    "dyn.(dyn) -> bool",
    includes,
    "[1, 2].includes(2) && 'a'.includes('a')",
)];

const fn walk(
    function: &'static str,
    id: &'static str,
    signature: &'static str,
    body: Function,
    example: &'static str,
) -> Overload {
    typed(function, id, signature, body, TRAVERSAL, example)
}

/// Whether no element is greater than the next. NaN is not greater than anything, nor is anything greater.
fn is_sorted<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let mut previous: Option<Value<'_>> = None;
    for element in receiver(args)? {
        check_ordered(&element)?;
        if previous.is_some_and(|previous| is(previous.compare(&element), Ordering::Greater)) {
            return Ok(Value::Bool(false));
        }
        previous = Some(element);
    }
    Ok(Value::Bool(true))
}

fn min<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let least = best(receiver(args)?, Ordering::Greater)?;
    least.ok_or_else(|| EvalError::new("min called on empty list"))
}

fn max<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let greatest = best(receiver(args)?, Ordering::Less)?;
    greatest.ok_or_else(|| EvalError::new("max called on empty list"))
}

/// The element that none after it displaces; one is displaced where it stands so to the other. A NaN in front stays.
fn best<'a>(list: List<'a>, displaced: Ordering) -> Result<Option<Value<'a>>, EvalError> {
    let mut best: Option<Value<'a>> = None;
    for element in list {
        check_ordered(&element)?;
        if best.is_none_or(|best| is(best.compare(&element), displaced)) {
            best = Some(element);
        }
    }
    Ok(best)
}

/// Values that cannot be compared do not stand to each other in any way.
fn is(order: Result<Ordering, EvalError>, wanted: Ordering) -> bool {
    order.is_ok_and(|order| order == wanted)
}

fn check_ordered(element: &Value<'_>) -> Result<(), EvalError> {
    match element.is_ordered() {
        true => Ok(()),
        false => Err(element.no_such_overload()),
    }
}

fn sum_ints<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    sum(Value::Int(0), receiver(args)?)
}

fn sum_uints<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    sum(Value::Uint(0), receiver(args)?)
}

fn sum_doubles<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    sum(Value::Double(0.0), receiver(args)?)
}

fn sum_durations<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    sum(Value::Duration(Duration(0)), receiver(args)?)
}

fn sum<'a>(zero: Value<'a>, list: List<'a>) -> Result<Value<'a>, EvalError> {
    use Value::{Double, Duration, Int, Timestamp, Uint};
    list.iter()
        .try_fold(zero, |sum, element| match (sum, element) {
            (Int(l), Int(r)) => add_int(l, r).map(Int),
            (Uint(l), Uint(r)) => add_uint(l, r).map(Uint),
            (Double(l), Double(r)) => Ok(Double(l + r)),
            (Duration(l), Duration(r)) => add_duration(l, r).map(Duration),
            // Only the first element's type is sure.
            (Duration(l), Timestamp(r)) => add_to_timestamp(r, l).map(Timestamp),
            (Timestamp(l), Duration(r)) => add_to_timestamp(l, r).map(Timestamp),
            _ => Err(element.no_such_overload()),
        })
}

fn index_of<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let list = receiver(args)?;
    position(list, 0..list.len(), args)
}

fn last_index_of<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let list = receiver(args)?;
    position(list, (0..list.len()).rev(), args)
}

fn position<'a>(
    list: List<'a>,
    mut indices: impl Iterator<Item = usize>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let wanted = args.get(1).ok_or_else(EvalError::no_such_overload)?;
    let found = indices.find_map(|index| {
        let same = same(&list.get(index)?, wanted).transpose()?;
        Some(same.map(|()| index))
    });
    let index = found
        .transpose()?
        .and_then(|index| i64::try_from(index).ok());
    Ok(Value::Int(index.unwrap_or(-1)))
}

/// Whether the list has the element. Any other value has only itself.
fn includes<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [receiver, wanted] = args else {
        return Err(EvalError::no_such_overload());
    };
    let found = match receiver.as_list() {
        Some(list) => list
            .iter()
            .find_map(|element| same(&element, wanted).transpose()),
        None => same(receiver, wanted).transpose(),
    };
    found.transpose().map(|found| Value::Bool(found.is_some()))
}

/// Something if the two are known to be equal.
fn same(element: &Value<'_>, wanted: &Value<'_>) -> Result<Option<()>, EvalError> {
    match element.equals(wanted) {
        Ok(equal) => Ok(equal.then_some(())),
        Err(error) if error.is_fatal() => Err(error),
        Err(_) => Ok(None),
    }
}

fn receiver<'a>(args: &[Value<'a>]) -> Result<List<'a>, EvalError> {
    let list = args.first().copied().and_then(Value::as_list);
    list.ok_or_else(EvalError::no_such_overload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;

    const NAN: Value<'static> = Value::Double(f64::NAN);
    const ONE: Value<'static> = Value::Double(1.0);

    #[test]
    fn nan_stands_nowhere() {
        for (id, list, expected) in [
            ("list_double_is_sorted_bool", [ONE, NAN], "true"),
            ("list_double_is_sorted_bool", [NAN, ONE], "true"),
            ("list_double_min_double", [NAN, ONE], "NaN"),
            ("list_double_min_double", [ONE, NAN], "1"),
            ("list_double_max_double", [ONE, NAN], "1"),
        ] {
            check(LISTS, id, &[Value::List(&list)], Ok(expected));
        }
    }

    #[test]
    fn what_has_no_order_or_sum_fails() {
        let empty = [Value::List(&[])];
        check(
            LISTS,
            "list_int_min_int",
            &empty,
            Err("min called on empty list"),
        );
        check(
            LISTS,
            "list_int_max_int",
            &empty,
            Err("max called on empty list"),
        );
        check(LISTS, "list_int_sum_int", &empty, Ok("0"));
        let mixed = [Value::Int(1), Value::Null];
        let mixed = [Value::List(&mixed)];
        for id in [
            "list_int_min_int",
            "list_int_sum_int",
            "list_int_is_sorted_bool",
        ] {
            check(LISTS, id, &mixed, Err("no such overload"));
        }
        let large = [Value::Int(i64::MAX), Value::Int(1)];
        check(
            LISTS,
            "list_int_sum_int",
            &[Value::List(&large)],
            Err("integer overflow"),
        );
    }

    #[test]
    fn elements_are_found_across_number_types() {
        let list = [Value::Int(1), Value::Null, Value::Uint(1)];
        let list = Value::List(&list);
        check(LISTS, "list_a_index_of_int", &[list, ONE], Ok("0"));
        check(LISTS, "list_a_last_index_of_int", &[list, ONE], Ok("2"));
        check(
            LISTS,
            "list_a_index_of_int",
            &[list, Value::Int(2)],
            Ok("-1"),
        );
        check(
            LISTS_SINCE_1,
            "list_includes_dyn_dyn",
            &[list, ONE],
            Ok("true"),
        );
        check(
            LISTS_SINCE_1,
            "list_includes_dyn_dyn",
            &[ONE, Value::Int(1)],
            Ok("true"),
        );
        check(
            LISTS_SINCE_1,
            "list_includes_dyn_dyn",
            &[ONE, NAN],
            Ok("false"),
        );
    }
}
