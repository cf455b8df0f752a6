//! Sorts as Go's `sort.Slice` does: in lists of more than 12 elements, the order of equal elements may change.

use bumpalo::collections::Vec;
use gavel_engine::ast::operators::SORT_BY_KEYS;
use gavel_engine::decl::CallContext;
use gavel_engine::error::EvalError;
use gavel_engine::value::{List, Value};
use gavel_golang::sort::try_sort_by_less;

/// `list.sort()`. Checks the type of its receiver itself. As upstream, returns an empty list itself.
pub(super) fn sort<'a>(
    call: &CallContext<'a>,
    receiver: Value<'a>,
) -> Result<Value<'a>, EvalError> {
    let list = list_of(receiver, "sort")?;
    if list.is_empty() {
        return Ok(receiver);
    }
    check_keys(call, list)?;
    call.reserve(list.len().saturating_mul(size_of::<Value<'_>>()))?;
    let mut sorted = Vec::with_capacity_in(list.len(), call.arena.bump());
    for value in list {
        call.look(&Value::NULL)?;
        sorted.push(value);
    }
    try_sort_by_less(&mut sorted, |left, right| less(call, left, right))?;
    Ok(Value::from(sorted.into_bump_slice()))
}

/// `list.@sortByAssociatedKeys(keys)`: the elements of `list`, sorted by the keys at the same indices in `keys`. Checks the types of its
/// arguments itself.
pub(super) fn sort_by_keys<'a>(
    call: &CallContext<'a>,
    receiver: Value<'a>,
    keys: Value<'a>,
) -> Result<Value<'a>, EvalError> {
    let list = list_of(receiver, SORT_BY_KEYS)?;
    let keys = list_of(keys, SORT_BY_KEYS)?;
    if list.len() != keys.len() {
        return Err(EvalError::new(format!(
            "{SORT_BY_KEYS}() expected a list of the same size as the associated keys list, but got {} and {} elements \
             respectively",
            list.len(),
            keys.len()
        )));
    }
    check_keys(call, keys)?;
    // Reserves memory for the pairs of key and element, and for the sorted list.
    let each = size_of::<[Value<'_>; 3]>();
    call.reserve(list.len().saturating_mul(each))?;
    let mut pairs: std::vec::Vec<(Value<'a>, Value<'a>)> = keys.iter().zip(list).collect();
    try_sort_by_less(&mut pairs, |left, right| less(call, &left.0, &right.0))?;
    let mut sorted = Vec::with_capacity_in(pairs.len(), call.arena.bump());
    sorted.extend(pairs.into_iter().map(|(_, element)| element));
    Ok(Value::from(sorted.into_bump_slice()))
}

fn list_of<'a>(receiver: Value<'a>, function: &str) -> Result<List<'a>, EvalError> {
    receiver
        .as_list()
        .ok_or_else(|| match receiver.has_methods() {
            true => EvalError::no_such_overload(),
            false => EvalError::no_such_overload_of(function),
        })
}

/// Checks that all keys have the same type, and that the type has an order. A single key is checked too, although nothing is compared.
fn check_keys<'a>(call: &CallContext<'a>, keys: List<'a>) -> Result<(), EvalError> {
    let Some(first) = keys.get(0) else {
        return Ok(());
    };
    if !first.is_ordered() {
        return Err(EvalError::new("list elements must be comparable"));
    }
    let name = first.type_name();
    for key in keys {
        call.look(&Value::NULL)?;
        if key.type_name() != name {
            return Err(EvalError::new("list elements must have the same type"));
        }
    }
    Ok(())
}

/// Whether one value is less than another. NaN is neither less nor greater.
fn less(call: &CallContext<'_>, left: &Value<'_>, right: &Value<'_>) -> Result<bool, EvalError> {
    call.look(left)?;
    Ok(left.compare(right).is_ok_and(|order| order.is_lt()))
}
