//! Appends lists to lists with a schema. The results are lists of CEL values (`refValSetList` and `refValMapList` of apiserver
//! `pkg/cel/common/valuesreflect.go`). Used for [`super::node::Joined::OfValues`].

use std::collections::{HashMap, HashSet};

use gavel_engine::error::EvalError;
use gavel_engine::value::{Arena, HeldError, List, ListView, Reach, Shape, Value, ValueKind};
use gavel_golang::work::Work;
use smallvec::SmallVec;

use super::elements::Elements;
use super::native::{Native, NativeKey};
use super::node::ListType;

/// `left + right`. The left list has the type `list_type`, and `item` is the schema of its elements.
pub(super) fn concat<'a>(
    left: Elements<'a>,
    item: &'a Shape,
    list_type: &'a ListType,
    right: List<'a>,
    arena: &'a Arena,
    work: &Work<'_>,
) -> Result<Value<'a>, EvalError> {
    let length = left.len().saturating_add(right.len());
    work.spend(length.saturating_mul(size_of::<[Value<'_>; 2]>()))?;
    let values = (0..left.len()).filter_map(|index| left.value(index, item));
    let values = values.map(|value| held(value, arena)).collect();
    join(values, list_type, right, arena)
}

/// The value as a list stores it: an error that stands for the value becomes a value with an address.
fn held<'a>(value: Value<'a>, arena: &'a Arena) -> Value<'a> {
    let read = value.read(arena);
    read.unwrap_or_else(|error| arena.opaque(HeldError(error)))
}

fn join<'a>(
    mut values: Vec<Value<'a>>,
    list_type: &'a ListType,
    right: List<'a>,
    arena: &'a Arena,
) -> Result<Value<'a>, EvalError> {
    let length = values.len().saturating_add(right.len());
    Reach::default().meet(length)?;
    arena.reserve(length.saturating_mul(size_of::<Value<'_>>()))?;
    match list_type {
        ListType::Atomic | ListType::Unknown(_) => {
            values.extend(right.iter());
            return Ok(arena.list(&values));
        }
        ListType::Set => add_members(&mut values, right, arena)?,
        ListType::Map(names) => add_entries(&mut values, names, right, arena),
    }
    Ok(Value::list_view(arena.bump().alloc(ValueList {
        values: arena.bump().alloc_slice_copy(&values),
        list_type,
    })))
}

/// Appends the members that the set does not contain yet.
fn add_members<'a>(
    values: &mut Vec<Value<'a>>,
    right: List<'a>,
    arena: &'a Arena,
) -> Result<(), EvalError> {
    let mut members = HashSet::new();
    for value in values.iter() {
        members.extend(member(*value, arena)?);
    }
    for value in right.iter() {
        let value = held(value, arena);
        if member(value, arena)?.is_none_or(|key| members.insert(key)) {
            values.push(value);
        }
    }
    Ok(())
}

/// Appends entries to a list map, replacing those with the same keys.
fn add_entries<'a>(
    values: &mut Vec<Value<'a>>,
    names: &[Box<str>],
    right: List<'a>,
    arena: &'a Arena,
) {
    let mut places = HashMap::new();
    for (place, value) in values.iter().enumerate() {
        places.extend(keys_of(*value, names, arena).map(|keys| (keys, place)));
    }
    for value in right.iter() {
        let place = keys_of(value, names, arena).and_then(|keys| places.get(&keys));
        match place.and_then(|place| values.get_mut(*place)) {
            Some(known) => *known = value,
            None => values.push(value),
        }
    }
}

/// Whether two sets of scalars have the same members.
pub(super) fn sets_equal<'a>(
    left: impl Iterator<Item = Value<'a>>,
    right: impl Iterator<Item = Value<'a>>,
    reach: &Reach<'_>,
    arena: &'a Arena,
) -> Result<bool, EvalError> {
    let mut members: SmallVec<[NativeKey<'_>; 16]> = SmallVec::new();
    let mut comparable = true;
    for value in left {
        reach.step(&value)?;
        match member(value, arena)? {
            Some(key) => members.push(key),
            None => comparable = false,
        }
    }
    members.sort_unstable();
    members.dedup();
    // The positions of the left members that occur in the right set.
    let mut seen: SmallVec<[usize; 16]> = SmallVec::new();
    for value in right {
        reach.step(&value)?;
        let key = member(value, arena)?;
        match key.and_then(|key| members.binary_search(&key).ok()) {
            Some(place) => seen.push(place),
            None => return Ok(false),
        }
    }
    seen.sort_unstable();
    seen.dedup();
    Ok(comparable && seen.len() == members.len())
}

/// The key of a set member; `None` for a value that is not equal to any other.
///
/// The key of an error is its address, as in upstream. Each reading of a value from a document results in another error.
fn member<'a>(value: Value<'a>, arena: &'a Arena) -> Result<Option<NativeKey<'a>>, EvalError> {
    if let ValueKind::Opaque(opaque) = value.kind()
        && let Some(error) = opaque.held_error()
    {
        return Ok(Some(NativeKey::Error(std::ptr::from_ref(error).addr())));
    }
    let Ok(value) = value.read(arena) else {
        return Ok(None);
    };
    match value.as_list().is_some() || value.as_map().is_some() {
        true => Err(EvalError::new(
            "listSet operations are only supported on lists of scalar values",
        )),
        false => Ok(key(value, arena)),
    }
}

/// The key of a list map's entry; `None` for an entry that is not equal to any other.
fn keys_of<'a>(
    value: Value<'a>,
    names: &[Box<str>],
    arena: &'a Arena,
) -> Option<SmallVec<[NativeKey<'a>; 3]>> {
    let map = value.as_map();
    let keys = names.iter().map(|name| {
        let found = map.and_then(|map| map.get_str(name).ok().flatten());
        // As in upstream, a key that cannot be read is the same as no key.
        let read = found.and_then(|value| value.or_held_error(arena).ok());
        read.map_or(Some(NativeKey::Nil), |value| key(value, arena))
    });
    keys.collect()
}

fn key<'a>(value: Value<'a>, arena: &'a Arena) -> Option<NativeKey<'a>> {
    match value.as_bytes() {
        Some(bytes) => Some(NativeKey::Bytes(bytes)),
        None => Native::of(value, arena).key().ok().flatten(),
    }
}

/// A set or list map that `+` returned.
#[derive(Debug)]
struct ValueList<'a> {
    values: &'a [Value<'a>],
    list_type: &'a ListType,
}

impl ListView for ValueList<'_> {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn go_type(&self) -> &'static str {
        match self.list_type {
            ListType::Map(_) => "*common.refValMapList",
            _ => "*common.refValSetList",
        }
    }

    fn get(&self, index: usize) -> Option<Value<'_>> {
        self.values.get(index).copied()
    }

    fn equals(&self, other: &Value<'_>, reach: &mut Reach<'_>) -> Option<Result<bool, EvalError>> {
        let Some(right) = other.as_list() else {
            return Some(Err(other.no_such_overload()));
        };
        if self.len() != right.len() {
            return Some(Ok(false));
        }
        let arena = Arena::new();
        Some(match self.list_type {
            ListType::Map(names) => reach.within(self.len(), |reach| {
                entries_equal(self.values, names, right, reach, &arena)
            }),
            _ => sets_equal(self.values.iter().copied(), right.iter(), reach, &arena),
        })
    }

    fn concat<'a>(
        &'a self,
        other: Value<'a>,
        arena: &'a Arena,
        work: &Work<'_>,
    ) -> Option<Result<Value<'a>, EvalError>> {
        let Some(other) = other.as_list() else {
            return Some(Err(other.no_such_overload()));
        };
        // Reserves twice the size, because the keys that identify the elements need memory too.
        let each = size_of::<[Value<'_>; 2]>();
        let bytes = self.len().saturating_add(other.len()).saturating_mul(each);
        let counted = arena.reserve(bytes).and_then(|()| Ok(work.spend(bytes)?));
        if let Err(error) = counted {
            return Some(Err(error));
        }
        Some(join(self.values.to_vec(), self.list_type, other, arena))
    }
}

/// Whether two list maps have equal entries under the same keys.
fn entries_equal<'a>(
    left: &[Value<'a>],
    names: &[Box<str>],
    right: List<'a>,
    reach: &mut Reach<'_>,
    arena: &'a Arena,
) -> Result<bool, EvalError> {
    let mut entries = HashMap::new();
    let mut comparable = true;
    for value in left {
        reach.step(value)?;
        match keys_of(*value, names, arena) {
            Some(keys) => drop(entries.insert(keys, *value)),
            None => comparable = false,
        }
    }
    let mut seen = HashSet::new();
    for value in right.iter() {
        reach.step(&value)?;
        let Some(keys) = keys_of(value, names, arena) else {
            return Ok(false);
        };
        let equal = entries
            .get(&keys)
            .map(|known| known.equals_within(&value, reach));
        match equal {
            Some(Ok(true)) => drop(seen.insert(keys)),
            Some(decided) => return decided,
            None => return Ok(false),
        }
    }
    Ok(comparable && seen.len() == entries.len())
}
