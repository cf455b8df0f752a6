//! Merges two values of a type (structured-merge-diff `typed/merge.go`).

use std::collections::{BTreeMap, BTreeSet};

use super::element::Element;
use super::types::{Atom, List, Map, MergeType, Relationship};
use super::validate::choose;
use super::value::Plain;

/// Merges `patch` into `live`; both are valid values of the type. Nothing is removed. Scalars, and lists and maps that are replaced as a
/// whole, get the value of the patch. Without a patch, the result is `live`. An empty result of merging is `None`, unless `live` and
/// `patch` are both empty.
pub(super) fn merge(live: Option<Plain>, patch: Option<Plain>, ty: MergeType<'_>) -> Option<Plain> {
    let Some(patch) = patch else {
        return live;
    };
    match choose(ty.atom(), &patch) {
        Atom { map: Some(map), .. } => merge_maps(live, patch, &map),
        Atom {
            list: Some(list),
            scalar: None,
            ..
        } => merge_lists(live, patch, &list),
        _ => Some(patch),
    }
}

fn merge_maps(live: Option<Plain>, patch: Plain, map: &Map<'_>) -> Option<Plain> {
    let mut merged = match live {
        Some(Plain::Map(fields)) => fields,
        _ => BTreeMap::new(),
    };
    let patch = match patch {
        Plain::Map(fields) if map.relationship != Relationship::Atomic => fields,
        whole if merged.is_empty() || map.relationship == Relationship::Atomic => {
            return Some(whole);
        }
        _ => BTreeMap::new(),
    };
    if merged.is_empty() && patch.is_empty() {
        return Some(Plain::Map(patch));
    }
    for (name, value) in patch {
        let live = merged.remove(&name);
        let value = match map.any_field(&name) {
            Some(ty) => merge(live, Some(value), ty),
            None => Some(value),
        };
        if let Some(value) = value {
            merged.insert(name, value);
        }
    }
    (!merged.is_empty()).then_some(Plain::Map(merged))
}

fn merge_lists(live: Option<Plain>, patch: Plain, list: &List<'_>) -> Option<Plain> {
    let is_empty = |side: &Plain| match side {
        Plain::List(items) => items.is_empty(),
        _ => true,
    };
    let neither = live.as_ref().is_none_or(is_empty) && is_empty(&patch);
    if list.relationship != Relationship::Associative || neither {
        return Some(patch);
    }
    let merged = Zip::new(live, patch, list).run(list.element);
    (!merged.is_empty()).then_some(Plain::List(merged))
}

/// The elements of a list with their identities.
#[derive(Default)]
struct Side {
    elements: Vec<Element>,
    /// The values of the elements by position; `None` for a value that was taken.
    values: Vec<Option<Plain>>,
    /// The position of each element; `None` for an element that occurs more than once.
    positions: BTreeMap<Element, Option<usize>>,
}

impl Side {
    fn new(side: Option<Plain>, list: &List<'_>) -> Self {
        let mut this = Side::default();
        let Some(Plain::List(items)) = side else {
            return this;
        };
        for item in items {
            let Some(element) = Element::of(list, &item) else {
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

    /// Removes an element and returns its value: null if the element occurs more than once, and `None` if the element is absent or was
    /// taken before.
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

/// Merges two lists. The elements of the patch, each merged with the live element of the same identity, stay in the order of the patch.
/// Elements that are only in the live list are inserted between them, in the order of the live list.
struct Zip {
    live: Side,
    patch: Side,
    /// The remaining elements that are in both lists, in the order of the patch.
    shared: std::iter::Peekable<std::vec::IntoIter<Element>>,
    merged: BTreeSet<Element>,
    out: Vec<Plain>,
}

impl Zip {
    fn new(live: Option<Plain>, patch: Plain, list: &List<'_>) -> Self {
        let (live, patch) = (Side::new(live, list), Side::new(Some(patch), list));
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
                    // The element comes later in the order of the patch.
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

    /// Adds an element of the patch, merged with the live element of the same identity, if one exists.
    fn push_shared(&mut self, element: &Element, ty: MergeType<'_>) {
        let live = self.live.take(element);
        let patch = self.patch.take(element);
        self.out.extend(merge(live, patch, ty));
        self.merged.insert(element.clone());
    }
}
