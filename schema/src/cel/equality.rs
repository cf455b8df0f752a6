//! Equality of values with a schema (the `Equal` and `Contains` methods of apiserver `pkg/cel/common/valuesunstructured.go`).
//!
//! The left operand determines how values are compared. If comparing two elements fails, comparing lists or maps with a schema fails too,
//! unlike comparing CEL's own lists and maps.

use gavel_engine::error::EvalError;
use gavel_engine::value::{
    Arena, Json, JsonObject, JsonShape, PlainJson, Reach, Shape, Value, same_text,
};
use gavel_golang::work::Work;
use smallvec::SmallVec;

use super::added::{Added, hashed};
use super::elements::Elements;
use super::native::{MapKey, Native, NativeKey};
use super::node::{Joined, Kind, ListType, Node};
use super::valued;
use crate::equal::deep_equal;

/// The units of work for comparing two strings. Most strings differ in length or at their beginning.
const WORK_PER_TEXT: usize = 32;

/// The number of strings that are compared at a time. The work of comparing them is counted first.
const TEXTS_PER_PIECE: usize = 1 << 10;

/// Whether a list with a schema equals a value. If the list is a set, the recorded additions are members of the set too.
pub(super) fn list_equals(
    node: &Node,
    left: Elements<'_>,
    added: Option<&Added<'_>>,
    right: &Value<'_>,
    reach: &mut Reach<'_>,
) -> Result<bool, EvalError> {
    let (Kind::List(item, list_type, joined), Some(list)) = (&node.kind, right.as_list()) else {
        return Err(right.no_such_overload());
    };
    if left.len() != list.len() {
        return Ok(false);
    }
    reach.within(left.len(), |reach| match list_type {
        ListType::Atomic | ListType::Unknown(_) => {
            for (index, right) in list.iter().enumerate() {
                reach.step(&right)?;
                let equal = match left.value(index, item) {
                    Some(left) => equals(left, right, reach)?,
                    None => false,
                };
                if !equal {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        ListType::Set if *joined == Joined::OfValues => {
            let arena = Arena::new();
            let left = (0..left.len()).filter_map(|index| left.value(index, item));
            valued::sets_equal(left, list.iter(), reach, &arena)
        }
        ListType::Set => {
            let mut members: SmallVec<[NativeKey<'_>; 16]> = SmallVec::new();
            let mut is_empty = true;
            for key in hashed(left, added) {
                reach.step(&Value::NULL)?;
                members.extend(key?);
                is_empty = false;
            }
            if let Some(added) = added {
                added.extend(&mut members);
            }
            is_empty &= members.is_empty();
            members.sort_unstable();
            let arena = Arena::new();
            for value in list.iter() {
                reach.step(&value)?;
                let key = Native::of(value, &arena).key();
                let key = key.map_err(|value| value.looked_up(is_empty))?;
                if key.is_none_or(|key| members.binary_search(&key).is_err()) {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        ListType::Map(names) => {
            let arena = Arena::new();
            let mut places: SmallVec<[(MapKey<'_>, usize); 4]> = SmallVec::new();
            for (place, native) in left.natives().enumerate() {
                reach.step(&Value::NULL)?;
                places.extend(MapKey::of(native, names)?.map(|key| (key, place)));
            }
            let all_have_keys = places.len() == left.len();
            places.sort_unstable();
            // The positions of the left elements whose keys occur in the right list.
            let mut seen: SmallVec<[usize; 4]> = SmallVec::new();
            for value in list.iter() {
                reach.step(&value)?;
                let Some(key) = MapKey::of(Native::of(value, &arena), names)? else {
                    return Ok(false);
                };
                // If several elements have the same key, the last one is compared.
                let after = places.partition_point(|(known, _)| *known <= key);
                let last = after.checked_sub(1);
                let found = last.and_then(|last| places.get(last));
                let known = found.filter(|(known, _)| *known == key);
                let equal = match known.and_then(|(_, place)| left.value(*place, item)) {
                    Some(left) => equals(left, value, reach)?,
                    None => false,
                };
                if !equal {
                    return Ok(false);
                }
                seen.extend(last);
            }
            seen.sort_unstable();
            seen.dedup();
            places.dedup_by(|(one, _), (other, _)| one == other);
            Ok(*joined == Joined::OfSchema || (all_have_keys && seen.len() == places.len()))
        }
    })
}

/// Whether an object or map with a schema equals a value.
///
/// Upstream visits the entries in random order and stops at the first one that differs or fails. Here a difference takes precedence over a
/// failure.
pub(super) fn map_equals(
    node: &Node,
    left: &JsonObject,
    right: &Value<'_>,
    reach: &mut Reach<'_>,
) -> Result<bool, EvalError> {
    let Some(map) = right.as_map() else {
        return Err(right.no_such_overload());
    };
    if left.len() != map.len() {
        return Ok(false);
    }
    reach.within(left.len(), |reach| {
        let mut failure = None;
        for (key, value) in left {
            reach.step(&Value::NULL)?;
            let is_known = node.value_of_map().is_some() || node.property(key).is_some();
            if is_known {
                // As in upstream, the name is looked up in both maps as if it were an identifier.
                let equal = match (node.find(left, key), map.get_str(key)) {
                    (None, Ok(None)) => Ok(true),
                    (Some(_), Ok(None)) | (None, _) => Ok(false),
                    (Some(left), Ok(Some(right))) => equals(left, right, reach),
                    (Some(_), Err(error)) => Err(error),
                };
                match equal {
                    Ok(true) => {}
                    Err(error) if !error.is_fatal() => failure = failure.or(Some(error)),
                    decided => return decided,
                }
                continue;
            }
            let Some((right, Some(_))) = right.as_json_object() else {
                return Err(EvalError::no_such_overload());
            };
            // An unknown field is compared only if both objects have it.
            if let Some(right) = right.get(key)
                && !deep_equal(value, right)
            {
                return Ok(false);
            }
        }
        failure.map_or(Ok(true), Err)
    })
}

/// Whether a value is among the elements of a document. If the elements and the value are all strings, the comparison fails only if the
/// host interrupts it.
pub(super) fn contains_json(
    item: Option<&Shape>,
    items: &[Json],
    value: &Value<'_>,
    work: &Work<'_>,
) -> Result<bool, EvalError> {
    let plain = item.map_or(PlainJson::Nothing, |item| item.plain());
    if let (PlainJson::Text, Some(text)) = (plain, value.as_str()) {
        let mut all_texts = true;
        for piece in items.chunks(TEXTS_PER_PIECE) {
            work.spend(piece.len().saturating_mul(WORK_PER_TEXT))?;
            for json in piece {
                match json.as_str() {
                    Some(known) if same_text(known, text) => return Ok(true),
                    known => all_texts &= known.is_some(),
                }
            }
        }
        if all_texts {
            return Ok(false);
        }
    }
    let view = |json| item.map_or_else(|| Value::from(json), |item| item.view(json));
    contains(items.iter().map(view), value, work)
}

/// Whether a value equals one of the elements. If no element does, the first failure is returned. A fatal error is returned at once.
pub(super) fn contains<'a>(
    elements: impl Iterator<Item = Value<'a>>,
    value: &Value<'_>,
    work: &Work<'_>,
) -> Result<bool, EvalError> {
    let arena = Arena::new();
    let value = value.or_held_error(&arena)?;
    let mut failure = None;
    for element in elements {
        let mut reach = Reach::new(work);
        reach.step(&element)?;
        match equals(element, value, &mut reach) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(error) if error.is_fatal() => return Err(error),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    failure.map_or(Ok(false), Err)
}

/// Whether the left value equals the right one. Unlike in CEL, the comparison fails if the left value has a schema and the right value is
/// null.
fn equals(left: Value<'_>, right: Value<'_>, reach: &mut Reach<'_>) -> Result<bool, EvalError> {
    if left.shape().is_some() && right.is_null() {
        return Err(EvalError::no_such_overload());
    }
    let arena = Arena::new();
    left.or_held_error(&arena)?.equals_within(&right, reach)
}
