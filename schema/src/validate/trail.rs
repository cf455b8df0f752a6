//! The path of a value, in kube-openapi's notation. Paths are recorded only for errors, and converted to text only at the end, because most
//! errors belong to alternatives that are not reported.

use std::cell::{Cell, RefCell};

use gavel_golang::work::{Interrupted, Work};

/// The maximum number of faults that a validation records, with those of alternatives that are not reported. If each of many elements lacks
/// many required fields, an object of 3 MiB has more faults than fit into the memory.
const MOST_FAULTS: usize = 1 << 19;

/// The path from the root to a value. Each step borrows the previous step.
#[derive(Debug)]
pub(super) struct Trail<'t, 'f> {
    places: &'t Places<'f>,
    last: Option<(&'t Trail<'t, 'f>, TrailStep<'f>)>,
    /// The recorded path; `None` if the path is not recorded yet.
    noted: Cell<Option<Place>>,
}

#[derive(Debug, Clone, Copy)]
enum TrailStep<'f> {
    /// A property.
    Property(&'f str),
    /// A value of a map, or a missing required property. A path that begins with such a step begins with a dot.
    Entry(&'f str),
    /// An element of a list.
    Index(usize),
}

/// The index of a recorded path. The path of the root is never recorded; `None` stands for the root.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place(usize);

/// The recorded paths. Each path is stored as its last step and the index of its parent path. `Places` also counts the
/// work of the walk.
#[derive(Debug)]
pub(super) struct Places<'f> {
    noted: RefCell<Vec<(Option<Place>, TrailStep<'f>)>>,
    work: &'f Work<'f>,
    is_interrupted: Cell<bool>,
    /// The number of faults so far.
    faults: Cell<usize>,
}

impl<'f> Places<'f> {
    /// Creates an empty store of paths. The walk counts its work in `work`, which can interrupt the walk.
    pub(super) fn new(work: &'f Work<'f>) -> Self {
        Places {
            noted: RefCell::default(),
            work,
            is_interrupted: Cell::new(false),
            faults: Cell::new(0),
        }
    }

    /// Fails if the walk was interrupted: its result is then incomplete.
    pub(super) fn check(&self) -> Result<(), Interrupted> {
        match self.is_interrupted.get() {
            true => Err(Interrupted),
            false => Ok(()),
        }
    }

    /// The path of the value that is validated.
    pub(super) fn root(&self) -> Trail<'_, 'f> {
        Trail {
            places: self,
            last: None,
            noted: Cell::new(None),
        }
    }

    /// A path as text.
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
                TrailStep::Property(name) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(name);
                }
                TrailStep::Entry(name) => {
                    text.push('.');
                    text.push_str(name);
                }
                TrailStep::Index(index) => text.extend(["[", &index.to_string(), "]"]),
            }
        }
        text
    }
}

impl<'t, 'f> Trail<'t, 'f> {
    /// The path of a property.
    pub(super) fn property(&'t self, name: &'f str) -> Self {
        self.step(TrailStep::Property(name))
    }

    /// The path of a map value, or of a missing property.
    pub(super) fn entry(&'t self, name: &'f str) -> Self {
        self.step(TrailStep::Entry(name))
    }

    /// The path of an element of a list.
    pub(super) fn index(&'t self, index: usize) -> Self {
        self.step(TrailStep::Index(index))
    }

    fn step(&'t self, step: TrailStep<'f>) -> Self {
        Trail {
            places: self.places,
            last: Some((self, step)),
            noted: Cell::new(None),
        }
    }

    /// Counts units of work; returns whether the walk may continue.
    pub(super) fn goes_on(&self, units: usize) -> bool {
        self.counts(|work| work.spend(units)).is_some()
    }

    /// Runs `done`, which counts its own work. `None` if the walk was interrupted before or is interrupted by `done`.
    pub(super) fn counts<T>(
        &self,
        done: impl FnOnce(&Work<'_>) -> Result<T, Interrupted>,
    ) -> Option<T> {
        if self.places.is_interrupted.get() {
            return None;
        }
        let done = done(self.places.work).ok();
        self.places.is_interrupted.set(done.is_none());
        done
    }

    pub(super) fn is_root(&self) -> bool {
        self.last.is_none()
    }

    /// Counts a fault; returns whether it may be recorded.
    pub(super) fn admits_fault(&self) -> bool {
        let faults = &self.places.faults;
        faults.set(faults.get().saturating_add(1));
        faults.get() <= MOST_FAULTS
    }

    /// Records the path.
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
