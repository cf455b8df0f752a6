//! Costs that functions of several libraries share (Kubernetes `pkg/cel/library/cost.go`).

use std::convert::Infallible;

use gavel_engine::cost::formulas::traversal;
use gavel_engine::cost::{
    CallEstimate, CallSite, Cost, CostEstimate, SizeEstimate, TRAVERSAL_FACTOR,
};
use gavel_engine::error::EvalError;
use gavel_engine::types::{Primitive, Type};
use gavel_engine::value::{Value, ValueKind};
use smallvec::SmallVec;

/// The cost of functions that parse a text: `quantity`, `isIP`, …
pub(crate) const PARSING: Cost = Cost::traversal(0, traversal).of_name();
/// The cost of functions that read their receiver once: `indexOf`, `max`, `isSorted`, …
///
/// Kubernetes looks the cost up by the function's name alone, so the unrelated `indexOf` of texts has the same cost.
pub(crate) const TRAVERSAL: Cost = Cost::split(traversal_estimate, traversal_track).of_name();
/// `TRAVERSAL`, for `includes`. The estimate assumes that a receiver without elements, even a text, has as many elements as its size.
pub(crate) const INCLUDES: Cost = Cost::split(includes_estimate, traversal_track).of_name();
/// `TRAVERSAL`, for `sum`. The elements of a list that has a sum cost a unit each, so they are only counted.
pub(crate) const SUM: Cost = Cost::split(traversal_estimate, sum_track).of_name();

fn traversal_estimate(call: &dyn CallSite) -> CallEstimate {
    let cost = elements_cost(call);
    CallEstimate::new(cost.unwrap_or_else(|| call.size(0).costs(TRAVERSAL_FACTOR)))
}

fn includes_estimate(call: &dyn CallSite) -> CallEstimate {
    let cost = elements_cost(call);
    CallEstimate::new(cost.unwrap_or_else(|| call.size(0).costs_each(CostEstimate::exact(1))))
}

/// The cost of a traversal of the receiver's elements; `None` if the receiver's type has no elements.
fn elements_cost(call: &dyn CallSite) -> Option<CostEstimate> {
    let of = call.argument_type(0);
    let Some(element) = call.element_type(0) else {
        return (call.is_bound() && !is_text(of)).then_some(CostEstimate::UNKNOWN);
    };
    // The traversal also visits nested values and the values of maps, whose number is unknown.
    if call.is_bound() && !(matches!(of, Type::List(_)) && is_flat(element)) {
        return Some(CostEstimate::UNKNOWN);
    }
    let mut each = CostEstimate::exact(1);
    if is_text(element) {
        let size = call.element_size(0).unwrap_or(SizeEstimate::UNKNOWN);
        each = each.plus(size.costs(TRAVERSAL_FACTOR));
    }
    Some(call.size(0).costs_each(each))
}

fn is_text(ty: &Type) -> bool {
    matches!(
        ty,
        Type::String | Type::Bytes | Type::Wrapper(Primitive::String | Primitive::Bytes)
    )
}

/// Whether values of a type contain no other values.
fn is_flat(ty: &Type) -> bool {
    let is_one = matches!(
        ty,
        Type::Bool | Type::Int | Type::Uint | Type::Double | Type::Duration | Type::Timestamp
    );
    is_one || is_text(ty)
}

/// The cost of a traversal: a tenth of a unit for each byte of text, rounded down for each text, and a unit for each other value.
fn traversal_track<'v>(
    arguments: &[Option<&Value<'v>>],
    _result: Option<&Value<'v>>,
) -> Result<u64, EvalError> {
    let Some(receiver) = arguments.first().copied().flatten() else {
        return Ok(1);
    };
    let mut pending: SmallVec<[Value<'_>; 4]> = SmallVec::new();
    let mut cost = traversal_of(receiver, &mut pending);
    while let Some(value) = pending.pop() {
        cost = cost.saturating_add(traversal_of(&value, &mut pending));
    }
    Ok(cost)
}

fn sum_track<'v>(
    arguments: &[Option<&Value<'v>>],
    result: Option<&Value<'v>>,
) -> Result<u64, EvalError> {
    match (result, arguments) {
        (Some(_), [Some(list)]) if let Some(list) = list.as_list() => Ok(list.len() as u64),
        _ => traversal_track(arguments, result),
    }
}

/// The cost of a traversal without the lists and maps that the value contains, which are added to `pending`.
fn traversal_of<'v>(value: &Value<'v>, pending: &mut SmallVec<[Value<'v>; 4]>) -> u64 {
    let mut cost = 0_u64;
    let mut visit = |value: Value<'v>| match value.kind() {
        ValueKind::List(_) | ValueKind::Map(_) => pending.push(value),
        kind => cost = cost.saturating_add(units(kind)),
    };
    if let Some(list) = value.as_list() {
        let Ok(()) = list.try_each(|element| {
            visit(element);
            Ok::<_, Infallible>(())
        });
    } else if let Some(map) = value.as_map() {
        let mut keys = map.iter();
        while let Some(key) = keys.next_key() {
            visit(key);
            // Upstream charges a unit for a value that cannot be read: a null in a nullable field, or a field that is not in the schema.
            visit(map.get(&key).ok().flatten().unwrap_or(Value::NULL));
        }
    } else {
        visit(*value);
    }
    cost
}

/// The cost units of a value that contains no others.
fn units(kind: ValueKind<'_>) -> u64 {
    match kind {
        ValueKind::String(text) => tenth(text.len()),
        ValueKind::Bytes(bytes) => tenth(bytes.len()),
        ValueKind::Unread(json, shape) => shape.look(json, |value| {
            let bytes = value.ok().and_then(|value| value.as_bytes());
            bytes.map_or(1, |bytes| tenth(bytes.len()))
        }),
        _ => 1,
    }
}

fn tenth(bytes: usize) -> u64 {
    u64::try_from(bytes / 10).unwrap_or(u64::MAX)
}
