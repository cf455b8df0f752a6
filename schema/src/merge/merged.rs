//! Two values of a type made one (structured-merge-diff `typed/merge.go`).

use std::collections::{BTreeMap, BTreeSet};

use super::element::Element;
use super::types::{Atom, List, Map, MergeType, Relationship};
use super::validate::choose;
use super::value::Plain;

/// A value with another one of the same type merged into it. Both are valid. Nothing is removed; of scalars, and of lists
/// and maps that are replaced as a whole, the second counts. None where nothing is left of both.
pub(super) fn merge(live: Option<Plain>, patch: Option<Plain>, ty: MergeType<'_>) -> Option<Plain> {
    let decisive = patch.as_ref().or(live.as_ref())?;
    match choose(ty.atom(), decisive) {
        Atom { map: Some(map), .. } => merge_maps(live, patch, &map),
        Atom {
            list: Some(list),
            scalar: None,
            ..
        } => merge_lists(live, patch, &list),
        _ => patch.or(live),
    }
}

fn merge_maps(live: Option<Plain>, patch: Option<Plain>, map: &Map<'_>) -> Option<Plain> {
    let is_empty = |side: &Option<Plain>| match side {
        Some(Plain::Map(fields)) => fields.is_empty(),
        _ => true,
    };
    if map.relationship == Relationship::Atomic || (is_empty(&live) && is_empty(&patch)) {
        return patch.or(live);
    }
    let fields = |side: Option<Plain>| match side {
        Some(Plain::Map(fields)) => fields,
        _ => BTreeMap::new(),
    };
    let mut patch = fields(patch);
    let mut merged = BTreeMap::new();
    for (name, value) in fields(live) {
        let patch = patch.remove(&name);
        merge_field(&mut merged, map, name, Some(value), patch);
    }
    for (name, value) in patch {
        merge_field(&mut merged, map, name, None, Some(value));
    }
    (!merged.is_empty()).then_some(Plain::Map(merged))
}

fn merge_field(
    merged: &mut BTreeMap<String, Plain>,
    map: &Map<'_>,
    name: String,
    live: Option<Plain>,
    patch: Option<Plain>,
) {
    let value = match map.any_field(&name) {
        Some(ty) => merge(live, patch, ty),
        None => patch.or(live),
    };
    if let Some(value) = value {
        merged.insert(name, value);
    }
}

fn merge_lists(live: Option<Plain>, patch: Option<Plain>, list: &List<'_>) -> Option<Plain> {
    let is_empty = |side: &Option<Plain>| match side {
        Some(Plain::List(items)) => items.is_empty(),
        _ => true,
    };
    if list.relationship != Relationship::Associative || (is_empty(&live) && is_empty(&patch)) {
        return patch.or(live);
    }
    let merged = Zip::new(live, patch, list).run(list.element);
    (!merged.is_empty()).then_some(Plain::List(merged))
}

/// The elements of a list, each with what tells it from the others.
#[derive(Default)]
struct Side {
    elements: Vec<Element>,
    /// The values by position; those that were taken are gone.
    values: Vec<Option<Plain>>,
    /// The position of each element; none for one that is there more than once.
    positions: BTreeMap<Element, Option<usize>>,
}

impl Side {
    fn new(side: Option<Plain>, list: &List<'_>) -> Self {
        let mut this = Side::default();
        let Some(Plain::List(items)) = side else {
            return this;
        };
        for item in items {
            let Ok(element) = Element::of(list, &item) else {
                continue;
            };
            let position = this.elements.len();
            let known = this.positions.entry(element.clone());
            known
                .and_modify(|position| *position = None)
                .or_insert(Some(position));
            this.elements.push(element);
            this.values.push(Some(item));
        }
        this
    }

    fn has(&self, element: &Element) -> bool {
        self.positions.contains_key(element)
    }

    /// The value of an element, which stands for nothing where the element is there more than once.
    fn take(&mut self, element: &Element) -> Option<Plain> {
        match self.positions.get(element)? {
            Some(position) => self.take_at(*position),
            None => Some(Plain::Null),
        }
    }

    fn take_at(&mut self, position: usize) -> Option<Plain> {
        self.values.get_mut(position)?.take()
    }
}

/// Two lists walked along at once: what is only in the live one keeps its place; what is in both comes in the order of the
/// patch.
struct Zip {
    live: Side,
    patch: Side,
    /// The elements that are in both, in the order of the patch, from the one that comes next.
    shared: std::iter::Peekable<std::vec::IntoIter<Element>>,
    merged: BTreeSet<Element>,
    out: Vec<Plain>,
}

impl Zip {
    fn new(live: Option<Plain>, patch: Option<Plain>, list: &List<'_>) -> Self {
        let (live, patch) = (Side::new(live, list), Side::new(patch, list));
        let shared = patch.elements.iter().filter(|element| live.has(element));
        let shared: Vec<Element> = shared.cloned().collect();
        Zip {
            shared: shared.into_iter().peekable(),
            live,
            patch,
            merged: BTreeSet::new(),
            out: Vec::new(),
        }
    }

    fn run(mut self, ty: MergeType<'_>) -> Vec<Plain> {
        let (mut live_at, mut patch_at) = (0_usize, 0_usize);
        loop {
            let live = self.live.elements.get(live_at).cloned();
            let patch = self.patch.elements.get(patch_at).cloned();
            match (&live, &patch) {
                (None, None) => return self.out,
                (Some(live), Some(patch)) if live == patch => {
                    self.push_shared(live, ty);
                    live_at = live_at.saturating_add(1);
                    patch_at = patch_at.saturating_add(1);
                    self.shared.next();
                    continue;
                }
                (Some(live), Some(_))
                    if self.patch.has(live)
                        && self.shared.peek().is_some_and(|next| next != live) =>
                {
                    // Its turn comes later.
                    live_at = live_at.saturating_add(1);
                    continue;
                }
                _ => {}
            }
            if let Some(live) = &live {
                if !self.patch.has(live) {
                    let value = self.live.take_at(live_at);
                    self.out.extend(merge(value, None, ty));
                    live_at = live_at.saturating_add(1);
                    continue;
                }
                if self.merged.contains(live) {
                    live_at = live_at.saturating_add(1);
                }
            }
            if let Some(patch) = &patch {
                self.push_shared(patch, ty);
                patch_at = patch_at.saturating_add(1);
                if self.shared.peek() == Some(patch) {
                    self.shared.next();
                }
            }
        }
    }

    /// An element of the patch, merged with its live twin if there is one.
    fn push_shared(&mut self, element: &Element, ty: MergeType<'_>) {
        let live = self.live.take(element);
        let patch = self.patch.take(element);
        self.out.extend(merge(live, patch, ty));
        self.merged.insert(element.clone());
    }
}
