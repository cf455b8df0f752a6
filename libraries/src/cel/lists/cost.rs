//! The costs of the lists library's functions. All functions create a new list. The cost of functions that compare elements grows with the
//! square of the number of elements.

use std::borrow::Cow;

use gavel_engine::cost::{
    CallEstimate, CallSite, Cost, CostEstimate, LIST, SizeEstimate, Track, tracked_size,
};
use gavel_engine::error::EvalError;
use gavel_engine::value::{Value, ValueKind};

/// The cost of `slice`.
pub(super) const SLICE: Cost = Cost::split(estimate_slice, RESULT);
/// The cost of `lists.range`.
pub(super) const RANGE: Cost = Cost::split(estimate_range, RESULT);
/// The cost of `reverse`.
pub(super) const REVERSE: Cost = Cost::split(|call| allocating(1.0, call.size(0)), RESULT);
/// The cost of `flatten`.
pub(super) const FLATTEN: Cost = Cost::split(estimate_flatten, |arguments, _| {
    track_flatten(arguments, |depth| depth)
});
/// The cost of `flatten` on servers where a depth below zero costs as much as a depth of one.
pub(super) const FLATTEN_ONCE_AT_LEAST: Cost = Cost::split(estimate_flatten, |arguments, _| {
    let at_least_once = |depth: f64| if depth < 0.0 { 1.0 } else { depth };
    track_flatten(arguments, at_least_once)
});
/// The cost of `distinct`.
pub(super) const DISTINCT: Cost = Cost::split(|call| comparing(pair(call), call.size(0)), RECEIVER);
/// The cost of `sort` for numbers, bools and times.
pub(super) const SORT: Cost = DISTINCT;
/// The cost of `sort` for strings and bytes.
pub(super) const SORT_TEXTS: Cost =
    Cost::split(|call| comparing(TEXT_PAIR, call.size(0)), RECEIVER);
/// The cost of `sortBy` with keys that are numbers, bools or times.
pub(super) const SORT_BY: Cost = Cost::split(|call| comparing(pair(call), call.size(1)), KEYS);
/// The cost of `sortBy` with keys that are strings or bytes.
pub(super) const SORT_TEXTS_BY: Cost = Cost::split(|call| comparing(TEXT_PAIR, call.size(1)), KEYS);

/// The cost of creating the result, by its number of elements.
const RESULT: Track = |_, result| Ok(allocated(1.0, tracked_size(result)));
/// The cost of comparing all pairs of the receiver's elements.
const RECEIVER: Track = |arguments, _| compared(arguments.first().copied().flatten());
/// The cost of comparing all pairs of keys.
const KEYS: Track = |arguments, _| compared(arguments.get(1).copied().flatten());

/// The cost of a call and of the list that it creates.
const CALL: u64 = 1 + LIST;
/// The cost of comparing two values with each other in both directions.
const PAIR: f64 = 2.0;
/// The cost of comparing two strings or bytes with each other in both directions.
const TEXT_PAIR: f64 = 2.1;

fn allocating(factor: f64, size: SizeEstimate) -> CallEstimate {
    let cost = size.costs(factor).plus(CostEstimate::exact(CALL));
    CallEstimate::new(cost).with_result(size)
}

/// The cost of comparing two values of unknown type. An upper bound assumes texts, which cost more; Kubernetes' estimate does not.
fn pair(call: &dyn CallSite) -> f64 {
    if call.is_bound() { TEXT_PAIR } else { PAIR }
}

/// The estimate for functions that compare all pairs of elements. Because of an upstream mistake, the size of the result is the number of
/// pairs.
fn comparing(factor: f64, size: SizeEstimate) -> CallEstimate {
    allocating(factor, size.times(size))
}

fn estimate_slice(call: &dyn CallSite) -> CallEstimate {
    let start = literal(call, 1).unwrap_or(0);
    let end = literal(call, 2).unwrap_or(call.size(0).max);
    // As upstream, the subtraction wraps around. So a slice whose end is before its start, which always fails, has the greatest cost.
    allocating(1.0, made(call, end.wrapping_sub(start)))
}

fn estimate_range(call: &dyn CallSite) -> CallEstimate {
    let size = literal(call, 0).unwrap_or(u64::MAX);
    allocating(1.0, made(call, size))
}

/// The size of the created list. Upper bounds assume at least 1, because a call that fails is charged like a list of size 1.
fn made(call: &dyn CallSite, size: u64) -> SizeEstimate {
    SizeEstimate::exact(if call.is_bound() { size.max(1) } else { size })
}

fn estimate_flatten(call: &dyn CallSite) -> CallEstimate {
    let depth = match call.arguments() {
        1 => 1,
        _ => literal(call, 1).unwrap_or(u64::MAX),
    };
    allocating(depth as f64, call.size(0))
}

/// The value of an int literal that is an argument; 0 if it is negative. `None` if the argument is not an int literal.
fn literal(call: &dyn CallSite, argument: usize) -> Option<u64> {
    let int = call.int_literal(argument)?;
    Some(u64::try_from(int).unwrap_or(0))
}

fn track_flatten(
    arguments: &[Option<&Value<'_>>],
    factor: fn(f64) -> f64,
) -> Result<u64, EvalError> {
    let size = tracked_size(arguments.first().copied().flatten());
    let depth = arguments.get(1);
    match depth.map(|depth| depth.and_then(|depth| depth.as_int())) {
        None => Ok(allocated(1.0, size)),
        Some(Some(depth)) => Ok(allocated(factor(depth as f64), size)),
        Some(None) => Err(EvalError::internal(format_args!(
            "interface conversion: ref.Val is {}, not types.Int",
            go_type(depth.copied().flatten())
        ))),
    }
}

/// The cost of comparing the elements of a list. As in upstream, an operand that is an error or not a list makes the evaluation fail with
/// an internal error.
fn compared(value: Option<&Value<'_>>) -> Result<u64, EvalError> {
    let Some(list) = value.and_then(|value| value.as_list()) else {
        let missing = match value.map(|value| value.kind()) {
            Some(
                ValueKind::Int(_)
                | ValueKind::Uint(_)
                | ValueKind::Double(_)
                | ValueKind::String(_)
                | ValueKind::Bytes(_)
                | ValueKind::Duration(_)
                | ValueKind::Timestamp(_),
            ) => "Contains",
            _ => "Add",
        };
        return Err(EvalError::internal(format_args!(
            "interface conversion: {} is not traits.Lister: missing method {missing}",
            go_type(value)
        )));
    };
    let factor = match list.get(0).is_some_and(is_text) {
        true => TEXT_PAIR,
        false => PAIR,
    };
    let size = u64::try_from(list.len()).unwrap_or(u64::MAX);
    Ok(allocated(factor, size.saturating_mul(size)))
}

fn is_text(value: Value<'_>) -> bool {
    match value.kind() {
        ValueKind::String(_) | ValueKind::Bytes(_) => true,
        ValueKind::Unread(json, shape) => shape.look(json, |value| value.is_ok_and(is_text)),
        _ => false,
    }
}

fn go_type(value: Option<&Value<'_>>) -> Cow<'static, str> {
    value.map_or(Cow::Borrowed("*types.Err"), Value::go_type)
}

/// `size * factor` plus the cost of the call. The product is converted to an integer as in Go: negative products wrap around, and
/// products that are too large become 2^63.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the ranges of the conversions are checked"
)]
fn allocated(factor: f64, size: u64) -> u64 {
    const TWO_64: f64 = 18_446_744_073_709_551_616.0;
    let product = size as f64 * factor;
    let cost = if product < 0.0 {
        (product as i64).cast_unsigned()
    } else if product < TWO_64 {
        product as u64
    } else {
        1 << 63
    };
    cost.wrapping_add(CALL)
}
