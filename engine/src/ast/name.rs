//! The names in a tree. A name is a place in a text, so that nodes are small. Names that the expression contains are not copied.

use super::operators::{self, GIVEN};

/// A name of a variable, field, function or type in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// The position of the first byte, in the expression or beyond its end, in [`Names::added`]. For a name of [`GIVEN`], its position
    /// there.
    start: u32,
    /// The length in bytes; [`Name::IS_GIVEN`] for a name of [`GIVEN`].
    length: u32,
}

impl Name {
    const IS_GIVEN: u32 = u32::MAX;

    /// The name of an operator or of another part of macro expansions.
    ///
    /// # Panics
    ///
    /// `text` is not in [`GIVEN`]. All calls are evaluated at compile time.
    #[expect(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::panic,
        clippy::cast_possible_truncation,
        reason = "evaluated at compile time"
    )]
    pub(crate) const fn of(text: &str) -> Name {
        let mut index = 0;
        while index < GIVEN.len() {
            if is_equal(GIVEN[index], text) {
                return Name {
                    start: index as u32,
                    length: Name::IS_GIVEN,
                };
            }
            index += 1;
        }
        panic!("a name that is not in the list")
    }

    /// The name `first.second`, if the two names are neighbours in a text, with only a dot between them.
    pub(super) fn join(self, second: Name) -> Option<Name> {
        let dot = self.start.checked_add(self.length)?;
        (dot.checked_add(1) == Some(second.start)).then(|| Name {
            start: self.start,
            length: self.length.saturating_add(1).saturating_add(second.length),
        })
    }

    /// The position of the name in [`GIVEN`]; `None` for names that are not there.
    pub(crate) fn given(self) -> Option<usize> {
        (self.length == Name::IS_GIVEN).then_some(self.start as usize)
    }

    /// The name between two positions of the expression, in bytes.
    pub(crate) fn at(start: usize, end: usize) -> Name {
        // Expressions have at most 100,000 code points, and the names that macros add are short.
        let number = |number| u32::try_from(number).unwrap_or(0);
        Name {
            start: number(start),
            length: number(end.saturating_sub(start)),
        }
    }
}

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "evaluated at compile time"
)]
const fn is_equal(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

/// The names of [`operators`] that the parser, the checker and the planner look for.
pub(crate) mod named {
    use super::{Name, operators};

    pub(crate) const ACCUMULATOR: Name = Name::of(operators::ACCUMULATOR);
    pub(crate) const ADD: Name = Name::of(operators::ADD);
    pub(crate) const CONDITIONAL: Name = Name::of(operators::CONDITIONAL);
    pub(crate) const DIVIDE: Name = Name::of(operators::DIVIDE);
    pub(crate) const EQUALS: Name = Name::of(operators::EQUALS);
    pub(crate) const GREATER: Name = Name::of(operators::GREATER);
    pub(crate) const GREATER_EQUALS: Name = Name::of(operators::GREATER_EQUALS);
    pub(crate) const IN: Name = Name::of(operators::IN);
    pub(crate) const INDEX: Name = Name::of(operators::INDEX);
    pub(crate) const LESS: Name = Name::of(operators::LESS);
    pub(crate) const LESS_EQUALS: Name = Name::of(operators::LESS_EQUALS);
    pub(crate) const LOGICAL_AND: Name = Name::of(operators::LOGICAL_AND);
    pub(crate) const LOGICAL_NOT: Name = Name::of(operators::LOGICAL_NOT);
    pub(crate) const LOGICAL_OR: Name = Name::of(operators::LOGICAL_OR);
    pub(crate) const MAP_INSERT: Name = Name::of(operators::MAP_INSERT);
    pub(crate) const MODULO: Name = Name::of(operators::MODULO);
    pub(crate) const MULTIPLY: Name = Name::of(operators::MULTIPLY);
    pub(crate) const NEGATE: Name = Name::of(operators::NEGATE);
    pub(crate) const NOT_EQUALS: Name = Name::of(operators::NOT_EQUALS);
    pub(crate) const NOT_STRICTLY_FALSE: Name = Name::of(operators::NOT_STRICTLY_FALSE);
    pub(crate) const OPT_INDEX: Name = Name::of(operators::OPT_INDEX);
    pub(crate) const OPT_SELECT: Name = Name::of(operators::OPT_SELECT);
    pub(crate) const SUBTRACT: Name = Name::of(operators::SUBTRACT);
    pub(crate) const UNUSED: Name = Name::of(operators::UNUSED);
}

/// A set of names that answers at once for most names that are not in it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NameFilter(u64);

impl NameFilter {
    pub(crate) fn add(&mut self, name: &str) {
        self.0 |= NameFilter::bit(name);
    }

    /// Whether the set may contain the name.
    #[inline]
    pub(crate) fn may_have(self, name: &str) -> bool {
        self.0 & NameFilter::bit(name) != 0
    }

    fn bit(name: &str) -> u64 {
        let first = name.as_bytes().first().copied().unwrap_or(0);
        let length = u32::try_from(name.len()).unwrap_or(0);
        // `wrapping_shl` takes the remainder by 64.
        1_u64.wrapping_shl(u32::from(first).wrapping_mul(5).wrapping_add(length))
    }
}

/// The texts of the names in a tree.
#[derive(Debug, Clone)]
pub(super) struct Names {
    /// The names that the expression does not contain, one after the other.
    added: String,
}

impl Names {
    pub(super) const fn new() -> Self {
        Names {
            added: String::new(),
        }
    }

    /// The text of a name. `source` is the expression.
    #[inline]
    pub(super) fn text<'n>(&'n self, name: Name, source: &'n str) -> &'n str {
        let (start, length) = (name.start as usize, name.length as usize);
        if name.length == Name::IS_GIVEN {
            return GIVEN.get(start).copied().unwrap_or_default();
        }
        let (text, start) = match start.checked_sub(source.len()) {
            Some(start) => (self.added.as_str(), start),
            None => (source, start),
        };
        let end = start.saturating_add(length);
        text.get(start..end).unwrap_or_default()
    }

    /// The name with this text. `source` is the expression.
    pub(super) fn add(&mut self, text: &str, source: &str) -> Name {
        if let Some(given) = GIVEN.iter().position(|given| *given == text) {
            return Name {
                start: u32::try_from(given).unwrap_or(0),
                length: Name::IS_GIVEN,
            };
        }
        let start = source.len().saturating_add(self.added.len());
        self.added.push_str(text);
        Name::at(start, start.saturating_add(text.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_places_in_texts() {
        let source = "self.añb";
        let mut names = Names::new();
        assert_eq!(names.text(Name::at(5, 9), source), "añb");
        let (first, second) = (names.add("x.y", source), names.add("", source));
        assert_eq!(names.text(first, source), "x.y");
        assert_eq!(names.text(second, source), "");
        assert_eq!(names.add("_+_", source), Name::of(operators::ADD));
        assert_eq!(names.text(Name::of(operators::ADD), source), "_+_");
    }
}
