//! Functions that check the order of a list, add its elements or search it (apiserver `pkg/cel/library/lists.go`).

use std::cmp::Ordering;

use gavel_engine::body;
use gavel_engine::decl::{CallContext, Overload, row};
use gavel_engine::error::EvalError;
use gavel_engine::value::arithmetic::{add_duration, add_int, add_to_timestamp, add_uint};
use gavel_engine::value::{Duration, List, Value, ValueKind};

use crate::cost::{INCLUDES, SUM, TRAVERSAL};

/// The functions of Kubernetes' lists library.
#[rustfmt::skip] // One row per line.
pub const LISTS: &[Overload] = &[
    row("isSorted", "list_int_is_sorted_bool", "list(int).() -> bool", body!(is_sorted), "![3, 1, 2].isSorted()").cost(TRAVERSAL),
    row("isSorted", "list_uint_is_sorted_bool", "list(uint).() -> bool", body!(is_sorted), "![3u, 1u].isSorted()").cost(TRAVERSAL),
    row("isSorted", "list_double_is_sorted_bool", "list(double).() -> bool", body!(is_sorted), "![0.5, -1.0].isSorted()").cost(TRAVERSAL),
    row("isSorted", "list_bool_is_sorted_bool", "list(bool).() -> bool", body!(is_sorted), "![true, false].isSorted()").cost(TRAVERSAL),
    row("isSorted", "list_duration_is_sorted_bool", "list(duration).() -> bool", body!(is_sorted), "![duration('1m'), duration('1s')].isSorted()").cost(TRAVERSAL),
    row("isSorted", "list_timestamp_is_sorted_bool", "list(timestamp).() -> bool", body!(is_sorted), "![timestamp(2), timestamp(1)].isSorted()").cost(TRAVERSAL),
    row("isSorted", "list_string_is_sorted_bool", "list(string).() -> bool", body!(is_sorted), "!['b', 'a'].isSorted()").cost(TRAVERSAL),
    row("isSorted", "list_bytes_is_sorted_bool", "list(bytes).() -> bool", body!(is_sorted), "![b'b', b'a'].isSorted()").cost(TRAVERSAL),
    row("sum", "list_int_sum_int", "list(int).() -> int", body!(sum_ints), "[1, 2].sum() == 3").cost(SUM),
    row("sum", "list_uint_sum_uint", "list(uint).() -> uint", body!(sum_uints), "[1u, 2u].sum() == 3u").cost(SUM),
    row("sum", "list_double_sum_double", "list(double).() -> double", body!(sum_doubles), "[1.0, 0.5].sum() == 1.5").cost(SUM),
    row("sum", "list_duration_sum_duration", "list(duration).() -> duration", body!(sum_durations), "[duration('1m'), duration('1s')].sum() == duration('61s')").cost(SUM),
    row("max", "list_int_max_int", "list(int).() -> int", body!(max), "[3, 1, 2].max() == 3").cost(TRAVERSAL),
    row("max", "list_uint_max_uint", "list(uint).() -> uint", body!(max), "[3u, 1u].max() == 3u").cost(TRAVERSAL),
    row("max", "list_double_max_double", "list(double).() -> double", body!(max), "[0.5, -1.0].max() == 0.5").cost(TRAVERSAL),
    row("max", "list_bool_max_bool", "list(bool).() -> bool", body!(max), "[true, false].max() == true").cost(TRAVERSAL),
    row("max", "list_duration_max_duration", "list(duration).() -> duration", body!(max), "[duration('1m'), duration('1s')].max() == duration('1m')").cost(TRAVERSAL),
    row("max", "list_timestamp_max_timestamp", "list(timestamp).() -> timestamp", body!(max), "[timestamp(2), timestamp(1)].max() == timestamp(2)").cost(TRAVERSAL),
    row("max", "list_string_max_string", "list(string).() -> string", body!(max), "['b', 'a'].max() == 'b'").cost(TRAVERSAL),
    row("max", "list_bytes_max_bytes", "list(bytes).() -> bytes", body!(max), "[b'b', b'a'].max() == b'b'").cost(TRAVERSAL),
    row("min", "list_int_min_int", "list(int).() -> int", body!(min), "[3, 1, 2].min() == 1").cost(TRAVERSAL),
    row("min", "list_uint_min_uint", "list(uint).() -> uint", body!(min), "[3u, 1u].min() == 1u").cost(TRAVERSAL),
    row("min", "list_double_min_double", "list(double).() -> double", body!(min), "[0.5, -1.0].min() == -1.0").cost(TRAVERSAL),
    row("min", "list_bool_min_bool", "list(bool).() -> bool", body!(min), "[true, false].min() == false").cost(TRAVERSAL),
    row("min", "list_duration_min_duration", "list(duration).() -> duration", body!(min), "[duration('1m'), duration('1s')].min() == duration('1s')").cost(TRAVERSAL),
    row("min", "list_timestamp_min_timestamp", "list(timestamp).() -> timestamp", body!(min), "[timestamp(2), timestamp(1)].min() == timestamp(1)").cost(TRAVERSAL),
    row("min", "list_string_min_string", "list(string).() -> string", body!(min), "['b', 'a'].min() == 'a'").cost(TRAVERSAL),
    row("min", "list_bytes_min_bytes", "list(bytes).() -> bytes", body!(min), "[b'b', b'a'].min() == b'a'").cost(TRAVERSAL),
    row("indexOf", "list_a_index_of_int", "list(A).(A) -> int", body!(index_of), "[1, 2, 2].indexOf(2) == 1").cost(TRAVERSAL),
    row("lastIndexOf", "list_a_last_index_of_int", "list(A).(A) -> int", body!(last_index_of), "[1, 2, 2].lastIndexOf(2) == 2").cost(TRAVERSAL),
];

/// The functions that Kubernetes 1.37 adds.
#[rustfmt::skip] // One row per line.
pub const LISTS_SINCE_1: &[Overload] = &[
    row("includes", "list_includes_dyn_dyn", "dyn.(dyn) -> bool", body!(includes), "[1, 2].includes(2) && 'a'.includes('a')").cost(INCLUDES),
];

/// Whether no element is greater than the next. NaN is never greater than another element, and no element is greater than NaN.
fn is_sorted<'a>(call: &CallContext<'a>, list: List<'a>) -> Result<bool, EvalError> {
    let mut previous: Option<Value<'_>> = None;
    for element in list {
        call.look(&element)?;
        check_ordered(&element)?;
        if previous.is_some_and(|previous| is(previous.compare(&element), Ordering::Greater)) {
            return Ok(false);
        }
        previous = Some(element);
    }
    Ok(true)
}

fn min<'a>(call: &CallContext<'a>, list: List<'a>) -> Result<Value<'a>, EvalError> {
    let least = best(call, list, Ordering::Greater)?;
    least.ok_or_else(|| EvalError::new("min called on empty list"))
}

fn max<'a>(call: &CallContext<'a>, list: List<'a>) -> Result<Value<'a>, EvalError> {
    let greatest = best(call, list, Ordering::Less)?;
    greatest.ok_or_else(|| EvalError::new("max called on empty list"))
}

/// The minimum or maximum of a list; `None` if the list is empty. An element replaces the best element before it if comparing the best
/// with the new element returns `displaced`. So a NaN at the beginning is never replaced.
fn best<'a>(
    call: &CallContext<'a>,
    list: List<'a>,
    displaced: Ordering,
) -> Result<Option<Value<'a>>, EvalError> {
    let mut best: Option<Value<'_>> = None;
    for element in list {
        call.look(&element)?;
        check_ordered(&element)?;
        if best.is_none_or(|best| is(best.compare(&element), displaced)) {
            best = Some(element);
        }
    }
    Ok(best)
}

/// Whether a comparison returned `wanted`; `false` if the values cannot be compared.
fn is(order: Result<Ordering, EvalError>, wanted: Ordering) -> bool {
    order.is_ok_and(|order| order == wanted)
}

fn check_ordered(element: &Value<'_>) -> Result<(), EvalError> {
    match element.is_ordered() {
        true => Ok(()),
        false => Err(element.no_such_overload()),
    }
}

fn sum_ints(call: &CallContext<'_>, list: List<'_>) -> Result<i64, EvalError> {
    let mut sum = 0;
    let other = list.try_each_int(call.host(), |int| {
        sum = add_int(sum, int)?;
        Ok(())
    })?;
    other.map_or(Ok(sum), |element| Err(element.no_such_overload()))
}

fn sum_uints(call: &CallContext<'_>, list: List<'_>) -> Result<u64, EvalError> {
    sum(call, list, 0, |element| element.as_uint(), add_uint)
}

fn sum_doubles(call: &CallContext<'_>, list: List<'_>) -> Result<f64, EvalError> {
    let add = |l, r| Ok(l + r);
    sum(call, list, 0.0, |element| element.as_double(), add)
}

fn sum_durations<'a>(call: &CallContext<'a>, list: List<'a>) -> Result<Value<'a>, EvalError> {
    let zero = Value::from(Duration(0));
    sum(call, list, zero, |element| Some(*element), add)
}

fn sum<'a, T: Copy>(
    call: &CallContext<'_>,
    list: List<'a>,
    zero: T,
    read: impl Fn(&Value<'a>) -> Option<T>,
    add: impl Fn(T, T) -> Result<T, EvalError>,
) -> Result<T, EvalError> {
    let mut sum = zero;
    list.try_each(|element| {
        call.look(&element)?;
        let element = read(&element).ok_or_else(|| element.no_such_overload())?;
        sum = add(sum, element)?;
        Ok(())
    })
    .map(|()| sum)
}

fn add<'a>(sum: Value<'a>, element: Value<'a>) -> Result<Value<'a>, EvalError> {
    use ValueKind::{Duration, Timestamp};
    match (sum.kind(), element.kind()) {
        (Duration(l), Duration(r)) => add_duration(l, r).map(Value::from),
        // Only the first element is known to be a duration, so a later one may be a timestamp.
        (Duration(l), Timestamp(r)) => add_to_timestamp(r, l).map(Value::from),
        (Timestamp(l), Duration(r)) => add_to_timestamp(l, r).map(Value::from),
        _ => Err(element.no_such_overload()),
    }
}

fn index_of<'a>(
    call: &CallContext<'a>,
    list: List<'a>,
    wanted: Value<'a>,
) -> Result<i64, EvalError> {
    position(call, list, 0..list.len(), &wanted)
}

fn last_index_of<'a>(
    call: &CallContext<'a>,
    list: List<'a>,
    wanted: Value<'a>,
) -> Result<i64, EvalError> {
    position(call, list, (0..list.len()).rev(), &wanted)
}

fn position(
    call: &CallContext<'_>,
    list: List<'_>,
    mut indices: impl Iterator<Item = usize>,
    wanted: &Value<'_>,
) -> Result<i64, EvalError> {
    let found = indices.find_map(|index| {
        let same = same(call, &list.get(index)?, wanted).transpose()?;
        Some(same.map(|()| index))
    });
    let index = found
        .transpose()?
        .and_then(|index| i64::try_from(index).ok());
    Ok(index.unwrap_or(-1))
}

/// Whether the receiver contains `wanted`. A receiver that is not a list contains only itself.
fn includes<'a>(
    call: &CallContext<'a>,
    receiver: Value<'a>,
    wanted: Value<'a>,
) -> Result<bool, EvalError> {
    let found = match receiver.as_list() {
        Some(list) => list
            .iter()
            .find_map(|element| same(call, &element, &wanted).transpose()),
        None => same(call, &receiver, &wanted).transpose(),
    };
    found.transpose().map(|found| found.is_some())
}

/// Returns `Some` if the values are equal, and `None` if they differ or cannot be compared.
fn same(
    call: &CallContext<'_>,
    element: &Value<'_>,
    wanted: &Value<'_>,
) -> Result<Option<()>, EvalError> {
    call.look(element)?;
    match element.equals_with(wanted, call.host()) {
        Ok(equal) => Ok(equal.then_some(())),
        Err(error) if error.is_fatal() => Err(error),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;

    fn nan() -> Value<'static> {
        Value::from(f64::NAN)
    }

    fn one() -> Value<'static> {
        Value::from(1.0)
    }

    #[test]
    fn nan_stands_nowhere() {
        for (id, list, expected) in [
            ("list_double_is_sorted_bool", [one(), nan()], "true"),
            ("list_double_is_sorted_bool", [nan(), one()], "true"),
            ("list_double_min_double", [nan(), one()], "NaN"),
            ("list_double_min_double", [one(), nan()], "1"),
            ("list_double_max_double", [one(), nan()], "1"),
        ] {
            check(LISTS, id, &[Value::from(&list)], Ok(expected));
        }
    }

    #[test]
    fn lists_without_an_order_or_a_sum_fail() {
        let empty = [Value::from(List::EMPTY)];
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
        let mixed = [Value::from(1), Value::NULL];
        let mixed = [Value::from(&mixed)];
        for id in [
            "list_int_min_int",
            "list_int_sum_int",
            "list_int_is_sorted_bool",
        ] {
            check(LISTS, id, &mixed, Err("no such overload"));
        }
        let large = [Value::from(i64::MAX), Value::from(1)];
        check(
            LISTS,
            "list_int_sum_int",
            &[Value::from(&large)],
            Err("integer overflow"),
        );
    }

    #[test]
    fn elements_are_found_across_number_types() {
        let list = [Value::from(1), Value::NULL, Value::from(1_u64)];
        let list = Value::from(&list);
        check(LISTS, "list_a_index_of_int", &[list, one()], Ok("0"));
        check(LISTS, "list_a_last_index_of_int", &[list, one()], Ok("2"));
        check(
            LISTS,
            "list_a_index_of_int",
            &[list, Value::from(2)],
            Ok("-1"),
        );
        check(
            LISTS_SINCE_1,
            "list_includes_dyn_dyn",
            &[list, one()],
            Ok("true"),
        );
        check(
            LISTS_SINCE_1,
            "list_includes_dyn_dyn",
            &[one(), Value::from(1)],
            Ok("true"),
        );
        check(
            LISTS_SINCE_1,
            "list_includes_dyn_dyn",
            &[one(), nan()],
            Ok("false"),
        );
    }
}
