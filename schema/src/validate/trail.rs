//! Where a value is, as kube-openapi writes it. Places are noted only where there is something to tell of them, and
//! written as text only at the end: most faults are those of alternatives that do not count.

use std::cell::{Cell, RefCell};

/// The way from the root to a value. Each step borrows the one before it.
#[derive(Debug)]
pub(super) struct Trail<'t, 'f> {
    places: &'t Places<'f>,
    last: Option<(&'t Trail<'t, 'f>, Step<'f>)>,
    /// The place, once it has been noted.
    noted: Cell<Option<Place>>,
}

#[derive(Debug, Clone, Copy)]
enum Step<'f> {
    /// A property.
    Property(&'f str),
    /// A value of a map, or a required property: at the root, a dot comes before it.
    Entry(&'f str),
    /// An element of a list.
    Index(usize),
}

/// A place that was noted; the root is none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place(usize);

/// The places that were noted: for each the place before it and the last step.
#[derive(Debug, Default)]
pub(super) struct Places<'f> {
    noted: RefCell<Vec<(Option<Place>, Step<'f>)>>,
}

impl<'f> Places<'f> {
    /// The way to the value that is validated.
    pub(super) fn root(&self) -> Trail<'_, 'f> {
        Trail {
            places: self,
            last: None,
            noted: Cell::new(None),
        }
    }

    /// A place as text.
    pub(super) fn text(&self, place: Option<Place>) -> String {
        let noted = self.noted.borrow();
        let mut steps = Vec::new();
        let mut at = place;
        while let Some((before, step)) = at.and_then(|Place(index)| noted.get(index)) {
            steps.push(step);
            at = *before;
        }
        let mut text = String::new();
        for step in steps.iter().rev() {
            match step {
                Step::Property(name) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(name);
                }
                Step::Entry(name) => {
                    text.push('.');
                    text.push_str(name);
                }
                Step::Index(index) => text.extend(["[", &index.to_string(), "]"]),
            }
        }
        text
    }
}

impl<'t, 'f> Trail<'t, 'f> {
    /// The way to a property.
    pub(super) fn property(&'t self, name: &'f str) -> Self {
        self.step(Step::Property(name))
    }

    /// The way to a value of a map, or to a property that is missing.
    pub(super) fn entry(&'t self, name: &'f str) -> Self {
        self.step(Step::Entry(name))
    }

    /// The way to an element of a list.
    pub(super) fn index(&'t self, index: usize) -> Self {
        self.step(Step::Index(index))
    }

    fn step(&'t self, step: Step<'f>) -> Self {
        Trail {
            places: self.places,
            last: Some((self, step)),
            noted: Cell::new(None),
        }
    }

    pub(super) fn is_root(&self) -> bool {
        self.last.is_none()
    }

    /// Notes the place.
    pub(super) fn place(&self) -> Option<Place> {
        let mut pending = Vec::new();
        let mut at = self;
        while let (None, Some((before, step))) = (at.noted.get(), at.last) {
            pending.push((at, step));
            at = before;
        }
        let mut noted = self.places.noted.borrow_mut();
        let mut place = at.noted.get();
        for (trail, step) in pending.into_iter().rev() {
            let next = Place(noted.len());
            noted.push((place, step));
            trail.noted.set(Some(next));
            place = Some(next);
        }
        place
    }
}
