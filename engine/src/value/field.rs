//! Fields of objects: their names in programs, and their lookup.

use std::sync::atomic::{AtomicU32, Ordering};

use smol_str::SmolStr;

use super::{FieldPlace, Shape, Value, same_text};

/// The name of a field that a program selects, with two hints for its position.
#[derive(Debug)]
pub(crate) struct FieldKey {
    name: SmolStr,
    place: FieldPlace,
    last: LastPosition,
}

impl FieldKey {
    /// Builds a key from the name of a field and its position in the object's static type.
    pub(crate) fn new(name: SmolStr, place: FieldPlace) -> Self {
        FieldKey {
            name,
            place,
            last: LastPosition::default(),
        }
    }

    /// The name.
    #[inline]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The position of the field in the object's static type. If that position is unknown, the position in the first shape in which the
    /// field was looked up.
    #[inline]
    pub(super) fn place_in(&self, shape: &Shape) -> FieldPlace {
        match (self.place, self.last.known()) {
            (FieldPlace::UNKNOWN, Some(last)) => FieldPlace::new(last),
            (FieldPlace::UNKNOWN, None) => self.learn_place(shape),
            (place, _) => place,
        }
    }

    #[cold]
    fn learn_place(&self, shape: &Shape) -> FieldPlace {
        let place = shape.field_place(&self.name);
        self.last.set(place.number());
        place
    }

    /// Finds the field among fields that are sorted by name; `None` if it is absent. The search begins at the position where the field was
    /// last found.
    #[inline(always)]
    pub(super) fn find<'a>(&self, fields: &'a [(&'a str, Value<'a>)]) -> Option<&'a Value<'a>> {
        match fields.get(self.last.get()) {
            Some((known, value)) if same_text(known, &self.name) => Some(value),
            _ => self.search(fields),
        }
    }

    #[inline(never)]
    fn search<'a>(&self, fields: &'a [(&'a str, Value<'a>)]) -> Option<&'a Value<'a>> {
        let position = position(fields, &self.name)?;
        self.last.set(position);
        fields.get(position).map(|(_, value)| value)
    }
}

/// The position at which a field was last found, in the lower 16 bits. The higher bits count how often the position has changed. The
/// position is only a hint, so threads need no synchronization.
#[derive(Debug, Default)]
struct LastPosition(AtomicU32);

impl LastPosition {
    /// The number of changes after which the position stays the same. Without this limit, threads with different objects would keep
    /// invalidating each other's processor caches.
    const MOST_CHANGES: u32 = 100;

    /// The position; `None` if it was never set.
    #[inline]
    fn known(&self) -> Option<usize> {
        (self.0.load(Ordering::Relaxed) != 0).then(|| self.get())
    }

    #[inline]
    fn get(&self) -> usize {
        (self.0.load(Ordering::Relaxed) & u32::from(u16::MAX)) as usize
    }

    fn set(&self, position: usize) {
        let changes = self.0.load(Ordering::Relaxed).wrapping_shr(u16::BITS);
        if let Ok(position) = u16::try_from(position)
            && changes < Self::MOST_CHANGES
        {
            let changed = changes.saturating_add(1).wrapping_shl(u16::BITS);
            self.0
                .store(changed | u32::from(position), Ordering::Relaxed);
        }
    }
}

/// The number of fields up to which the search is linear. Comparing names is fast, because most names have different lengths.
const FEW_FIELDS: usize = 16;

/// Finds a field by its name; `None` if it is absent. The fields are sorted by name.
#[inline]
pub(super) fn field_named<'a>(
    fields: &'a [(&'a str, Value<'a>)],
    name: &str,
) -> Option<&'a Value<'a>> {
    let (_, value) = fields.get(position(fields, name)?)?;
    Some(value)
}

fn position(fields: &[(&str, Value<'_>)], name: &str) -> Option<usize> {
    match fields.len() <= FEW_FIELDS {
        true => fields.iter().position(|(known, _)| same_text(known, name)),
        false => search(fields, name),
    }
}

#[inline(never)]
fn search(fields: &[(&str, Value<'_>)], name: &str) -> Option<usize> {
    let position = fields.binary_search_by(|(known, _)| (*known).cmp(name));
    position.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_wherever_they_are() {
        let key = FieldKey::new("m".into(), FieldPlace::UNKNOWN);
        let letters = ["a", "b", "m", "x", "y", "z"];
        let fields = letters.map(|name| (name, Value::from(name)));
        for _ in 0..LastPosition::MOST_CHANGES {
            for (first, last) in [(0, 6), (2, 3), (1, 3), (0, 3)] {
                let found = key.find(&fields[first..last]);
                assert_eq!(found.and_then(Value::as_str), Some("m"));
            }
            for (first, last) in [(0, 2), (3, 6), (0, 0)] {
                assert!(key.find(&fields[first..last]).is_none());
            }
        }
    }

    #[test]
    fn fields_are_found_by_names_of_all_lengths() {
        let names: Vec<String> = (0..40)
            .map(|length| "ä1b2c3d4e5".chars().cycle().take(length).collect())
            .collect();
        // Few fields are searched linearly, many by binary search.
        for some in names.chunks(FEW_FIELDS).chain([names.as_slice()]) {
            let fields: Vec<_> = some
                .iter()
                .map(|name| (name.as_str(), Value::from(name)))
                .collect();
            for name in &names {
                let known = fields.iter().any(|(known, _)| known == name);
                let found = field_named(&fields, name).and_then(Value::as_str);
                assert_eq!(found, known.then_some(name.as_str()), "{name}");
                for place in 0..name.len() {
                    let other: String = name
                        .char_indices()
                        .map(|(at, c)| if at == place { 'x' } else { c })
                        .collect();
                    assert!(
                        other == *name || field_named(&fields, &other).is_none(),
                        "{other}"
                    );
                }
            }
        }
    }
}
