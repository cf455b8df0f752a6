//! `+` of texts, bytes and lists.

use bumpalo::collections::{String as ArenaString, Vec as ArenaVec};

use super::{Arena, List, Value};
use crate::error::EvalError;

/// `left + right`
pub fn concat_strings<'a>(arena: &'a Arena, left: &'a str, right: &'a str) -> &'a str {
    if left.is_empty() {
        return right;
    }
    if right.is_empty() {
        return left;
    }
    let length = left.len().saturating_add(right.len());
    let mut text = ArenaString::with_capacity_in(length, arena.bump());
    text.push_str(left);
    text.push_str(right);
    text.into_bump_str()
}

/// `left + right`
pub fn concat_bytes<'a>(arena: &'a Arena, left: &'a [u8], right: &'a [u8]) -> &'a [u8] {
    let length = left.len().saturating_add(right.len());
    let mut bytes = ArenaVec::with_capacity_in(length, arena.bump());
    bytes.extend_from_slice_copy(left);
    bytes.extend_from_slice_copy(right);
    bytes.into_bump_slice()
}

/// `left + right`: a copy of the elements, or one of the two where the other is empty. A host's list may join in a way of
/// its own.
pub fn concat_lists<'a>(
    arena: &'a Arena,
    left: List<'a>,
    right: List<'a>,
) -> Result<Value<'a>, EvalError> {
    if let List::Shaped(items, shape) = left {
        return shape.concat(items, right, shape, arena);
    }
    if let List::View(view) = left
        && let Some(joined) = view.concat(right, arena)
    {
        return joined;
    }
    if left.is_empty() {
        return Ok(right.into());
    }
    if right.is_empty() {
        return Ok(left.into());
    }
    let length = left.len().saturating_add(right.len());
    let mut values = ArenaVec::with_capacity_in(length, arena.bump());
    values.extend(left.iter());
    values.extend(right.iter());
    Ok(Value::List(values.into_bump_slice()))
}
