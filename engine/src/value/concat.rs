//! `+` for texts, bytes and lists.

use bumpalo::collections::{String as ArenaString, Vec as ArenaVec};
use gavel_golang::work::Work;

use super::equal::{list_contains, lists_equal_strictly};
use super::list::ListRepr;
use super::{Arena, Host, List, ListView, Reach, Repr, Value};
use crate::error::EvalError;

/// `left + right`
///
/// # Errors
///
/// The arena has no room for the result.
pub fn concat_strings<'a>(
    arena: &'a Arena,
    left: &'a str,
    right: &'a str,
) -> Result<&'a str, EvalError> {
    if left.is_empty() {
        return Ok(right);
    }
    if right.is_empty() {
        return Ok(left);
    }
    let length = left.len().saturating_add(right.len());
    arena.reserve(length)?;
    let mut text = ArenaString::with_capacity_in(length, arena.bump());
    text.push_str(left);
    text.push_str(right);
    Ok(text.into_bump_str())
}

/// `left + right`
///
/// # Errors
///
/// The arena has no room for the result.
pub fn concat_bytes<'a>(
    arena: &'a Arena,
    left: &'a [u8],
    right: &'a [u8],
) -> Result<&'a [u8], EvalError> {
    let length = left.len().saturating_add(right.len());
    arena.reserve(length)?;
    let mut bytes = ArenaVec::with_capacity_in(length, arena.bump());
    bytes.extend_from_slice_copy(left);
    bytes.extend_from_slice_copy(right);
    Ok(bytes.into_bump_slice())
}

/// `left + right`: a list that refers to both operands. If one operand is empty, the result is the other operand. A host's list may
/// define its own concatenation.
///
/// # Errors
///
/// The result has more elements than an evaluation can visit. A list that is repeatedly joined with itself would otherwise grow without
/// bound.
pub fn concat_lists<'a>(
    arena: &'a Arena,
    left: List<'a>,
    right: List<'a>,
    work: &Work<'_>,
) -> Result<Value<'a>, EvalError> {
    if let List(ListRepr::Shaped(items, shape)) = left {
        return shape.concat(items, right.into(), shape, arena, work);
    }
    if let List(ListRepr::View(view)) = left
        && let Some(joined) = view.concat(right.into(), arena, work)
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
    Reach::default().meet(length)?;
    Ok(Value(Repr::ListView(arena.bump().alloc(Joined {
        left,
        right,
        length,
    }))))
}

/// The result of `left + right` (cel-go's `concatList`). Unlike a plain list with the same elements, it has its own rules for comparison,
/// for `in`, and for the conversion when it is taken out of an optional.
#[derive(Debug)]
struct Joined<'a> {
    left: List<'a>,
    right: List<'a>,
    length: usize,
}

impl ListView for Joined<'_> {
    fn len(&self) -> usize {
        self.length
    }

    fn go_type(&self) -> &'static str {
        "*types.concatList"
    }

    fn get(&self, index: usize) -> Option<Value<'_>> {
        match index.checked_sub(self.left.len()) {
            None => self.left.get(index),
            Some(index) => self.right.get(index),
        }
    }

    fn equals(&self, other: &Value<'_>, reach: &mut Reach<'_>) -> Option<Result<bool, EvalError>> {
        Some(match other.as_list() {
            Some(other) => lists_equal_strictly(List(ListRepr::View(self)), other, reach),
            None => Ok(false),
        })
    }

    fn contains(&self, value: &Value<'_>, host: &Host<'_>) -> Option<Result<bool, EvalError>> {
        Some(match list_contains(self.left, value, host) {
            Ok(false) => list_contains(self.right, value, host),
            found => found,
        })
    }

    fn native<'a>(&'a self, arena: &'a Arena) -> Option<Value<'a>> {
        let list = List(ListRepr::View(self));
        Some(Value(Repr::ListView(
            arena.bump().alloc(Natives { list, arena }),
        )))
    }
}

/// A list whose elements are converted to Go values and back. Each element is converted only when it is read, because a list can contain
/// the same list many times.
#[derive(Debug)]
struct Natives<'a> {
    list: List<'a>,
    arena: &'a Arena,
}

impl ListView for Natives<'_> {
    fn len(&self) -> usize {
        self.list.len()
    }

    fn get(&self, index: usize) -> Option<Value<'_>> {
        let value = self.list.get(index)?;
        Some(value.native(self.arena))
    }
}
