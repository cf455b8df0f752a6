//! Lists with a schema to which `+` appends other lists (the `Add` methods of apiserver `pkg/cel/common/valuesunstructured.go`).
//!
//! As in upstream, appended elements are converted to Go values and then viewed with the schema of the left list's elements. This can turn
//! an element into an error: for example, a timestamp that is appended to a list of dates.

use std::collections::{HashMap, HashSet};

use bumpalo::collections::Vec as ArenaVec;
use gavel_engine::error::EvalError;
use gavel_engine::value::{Arena, HeldError, Host, Json, ListView, Reach, Shape, Value};
use gavel_golang::work::Work;

use super::added::{Added, hashed};
use super::elements::{Elements, JoinedElement};
use super::native::{MapKey, Native};
use super::node::{Joined, Kind, ListType, Node};
use super::{equality, valued};

/// The units of work for joining an element.
const WORK_PER_ELEMENT: usize = 256;

/// `left + right`, for a left list with a schema. `added` records additions to a set that is bound to a variable.
pub(super) fn concat<'a>(
    shape: &'a Shape,
    left: Elements<'a>,
    added: Option<&Added<'_>>,
    right: Value<'a>,
    arena: &'a Arena,
    work: &Work<'_>,
) -> Result<Value<'a>, EvalError> {
    let Some(right) = right.as_list() else {
        return Err(right.no_such_overload());
    };
    let Some(Kind::List(item, list_type, joined)) = Node::of(shape).map(|node| &node.kind) else {
        return Err(EvalError::no_such_overload());
    };
    if *joined == Joined::OfValues {
        return valued::concat(left, item, list_type, right, arena, work);
    }
    let length = left.len().saturating_add(right.len());
    Reach::default().meet(length)?;
    // Reserves twice the size, because lists with keys also need a set of keys with positions.
    let bytes = length.saturating_mul(size_of::<JoinedElement<'_>>());
    arena.reserve(bytes.saturating_mul(2))?;
    let mut elements = ArenaVec::with_capacity_in(length, arena.bump());
    for native in left.natives() {
        work.spend(WORK_PER_ELEMENT)?;
        elements.push(JoinedElement::read(native, item, arena, work));
    }
    let appended = right.iter().map(|value| {
        work.spend(WORK_PER_ELEMENT)?;
        Ok::<_, EvalError>(Native::of(value, arena))
    });
    match list_type {
        ListType::Atomic | ListType::Unknown(_) => {
            for native in appended {
                elements.push(JoinedElement::read(native?, item, arena, work));
            }
        }
        ListType::Set => {
            let mut members = HashSet::with_capacity(length);
            let mut is_empty = true;
            for key in hashed(left, added) {
                work.spend(WORK_PER_ELEMENT)?;
                members.extend(key?);
                is_empty = false;
            }
            if let Some(added) = added {
                added.extend(&mut members);
            }
            for native in appended {
                let native = native?;
                let key = native
                    .key()
                    .map_err(|value| value.looked_up(is_empty && members.is_empty()))?;
                is_empty = false;
                if key.is_none_or(|key| members.insert(key)) {
                    if let (Some(key), Some(added)) = (key, added) {
                        added.remember(key);
                    }
                    elements.push(JoinedElement::read(native, item, arena, work));
                }
            }
        }
        ListType::Map(names) => {
            let mut places = HashMap::with_capacity(left.len());
            for (place, native) in left.natives().enumerate() {
                work.spend(WORK_PER_ELEMENT)?;
                if let Some(key) = MapKey::of(native, names)? {
                    places.insert(key, place);
                }
            }
            for native in appended {
                let native = native?;
                let key = MapKey::of(native, names)
                    .map_err(|value| value.looked_up(places.is_empty()))?;
                let place = key.and_then(|key| places.get(&key).copied());
                let element = JoinedElement::read(native, item, arena, work);
                match place.and_then(|place| elements.get_mut(place)) {
                    Some(known) => *known = element,
                    None => elements.push(element),
                }
            }
        }
    }
    Ok(Value::list_view(arena.bump().alloc(SchemaList {
        shape,
        item,
        elements: Elements::Joined(elements.into_bump_slice()),
        added: None,
    })))
}

/// A set as the value of a variable. The set records the members that expressions add to it. `item` is the schema of its elements.
pub(super) fn bound_set<'a>(
    shape: &'a Shape,
    item: &'a Shape,
    items: &'a [Json],
    arena: &'a Arena,
) -> Value<'a> {
    Value::list_view(arena.bump().alloc(SchemaList {
        shape,
        item,
        elements: Elements::Json(items),
        added: Some(Added::new(arena)),
    }))
}

impl<'a> JoinedElement<'a> {
    fn read(native: Native<'a>, item: &'a Shape, arena: &'a Arena, work: &Work<'_>) -> Self {
        let value = match Node::of(item) {
            Some(node) => node.convert(native, item, arena, work),
            None => Err(EvalError::no_such_overload()),
        };
        JoinedElement {
            native,
            value: value.unwrap_or_else(|error| arena.opaque(HeldError(error))),
        }
    }
}

/// A list with a schema that `+` returned, or a set that is bound to a variable.
#[derive(Debug)]
struct SchemaList<'a> {
    shape: &'a Shape,
    /// The schema of elements.
    item: &'a Shape,
    elements: Elements<'a>,
    /// The recorded additions to a set that is bound to a variable; `None` for any other list.
    added: Option<Added<'a>>,
}

impl ListView for SchemaList<'_> {
    fn len(&self) -> usize {
        self.elements.len()
    }

    fn go_type(&self) -> &'static str {
        self.shape.go_type()
    }

    fn get(&self, index: usize) -> Option<Value<'_>> {
        self.elements.value(index, self.item)
    }

    fn takes_only_ints(&self) -> bool {
        true
    }

    fn is_zero(&self) -> bool {
        false
    }

    fn equals(&self, other: &Value<'_>, reach: &mut Reach<'_>) -> Option<Result<bool, EvalError>> {
        let node = Node::of(self.shape)?;
        let (elements, added) = (self.elements, self.added.as_ref());
        Some(equality::list_equals(node, elements, added, other, reach))
    }

    fn contains(&self, value: &Value<'_>, host: &Host<'_>) -> Option<Result<bool, EvalError>> {
        let values = (0..self.len()).filter_map(|index| self.get(index));
        Some(equality::contains(values, value, host))
    }

    fn concat<'a>(
        &'a self,
        other: Value<'a>,
        arena: &'a Arena,
        work: &Work<'_>,
    ) -> Option<Result<Value<'a>, EvalError>> {
        let (elements, added) = (self.elements, self.added.as_ref());
        Some(concat(self.shape, elements, added, other, arena, work))
    }

    fn native<'a>(&'a self, arena: &'a Arena) -> Option<Value<'a>> {
        Some(match self.elements {
            Elements::Json(items) => Value::from(items),
            Elements::Joined(elements) => {
                let natives = elements.iter().map(|element| element.native);
                let values: Vec<_> = natives.map(|native| native.value(arena)).collect();
                arena.list(&values)
            }
        })
    }
}
