//! Events in, states out.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::object::{Object, ObjectKey, Origin};
use crate::prepare::{Good, Preparation};
use crate::state::{State, build};

/// A change of what is known.
#[derive(Debug)]
pub enum Event {
    /// An object is there, or is now like this.
    Applied(Object),
    /// An object is gone.
    Deleted(Origin, ObjectKey),
    /// These are all objects of an origin.
    ReplacedAll(Origin, Vec<Object>),
}

/// What is known: the last good version of every object, by origin.
pub struct Store {
    preparation: Preparation,
    origins: BTreeMap<Origin, Held>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

/// The objects of one origin, in the order in which they came.
#[derive(Debug, Default)]
struct Held {
    good: IndexMap<ObjectKey, Good>,
    /// What is wrong with newer versions, which are not used.
    refused: BTreeMap<ObjectKey, Vec<String>>,
    /// What is wrong with objects that have no name.
    nameless: Vec<String>,
}

impl Store {
    /// Knows of nothing.
    ///
    /// # Errors
    ///
    /// Environments that cannot be built: a bug.
    pub fn new() -> Result<Self, String> {
        Ok(Store {
            preparation: Preparation::new()?,
            origins: BTreeMap::new(),
        })
    }

    /// Takes in a change. Where a new version of an object cannot be used, the last good one stays.
    pub fn handle(&mut self, event: Event) {
        match event {
            Event::Applied(object) => {
                let held = self.origins.entry(object.origin().clone()).or_default();
                match object.key() {
                    Ok(key) => held.apply(key, object, &mut self.preparation),
                    Err(problems) => held.nameless.extend(problems),
                }
            }
            Event::Deleted(origin, key) => {
                if let Some(held) = self.origins.get_mut(&origin) {
                    held.good.shift_remove(&key);
                    held.refused.remove(&key);
                }
            }
            Event::ReplacedAll(origin, objects) => {
                let before = self.origins.remove(&origin).unwrap_or_default();
                let held = before.replaced(objects, &mut self.preparation);
                if !held.good.is_empty() || !held.refused.is_empty() || !held.nameless.is_empty() {
                    self.origins.insert(origin, held);
                }
            }
        }
    }

    /// The policies and bindings of an origin that are in use.
    pub fn deciding(&self, origin: &Origin) -> impl Iterator<Item = &ObjectKey> {
        let held = self.origins.get(origin).into_iter();
        held.flat_map(|held| held.good.keys())
            .filter(|key| key.decides())
    }

    /// The origins that objects are known of.
    pub fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.origins.keys()
    }

    /// What requests are decided by from now on.
    pub fn publish(&self) -> State {
        let mut problems = Vec::new();
        let mut broken = BTreeMap::new();
        for held in self.origins.values() {
            problems.extend(held.nameless.iter().cloned());
            for (key, found) in &held.refused {
                problems.extend(found.iter().cloned());
                if key.kind == "ValidatingAdmissionPolicy" {
                    broken.insert(key.name.clone(), found.len());
                }
            }
        }
        let mut unique: IndexMap<&ObjectKey, &Good> = IndexMap::new();
        for (key, good) in self.origins.values().flat_map(|held| &held.good) {
            match unique.get(key) {
                None => {
                    unique.insert(key, good);
                }
                Some(first) => {
                    let (kind, name, first) = (&key.kind, &key.name, first.object.place());
                    let message = format!("{kind} {name:?} is defined at {first} already");
                    problems.push(good.object.problem("metadata.name", message));
                }
            }
        }
        build(
            self.preparation.index(),
            unique.into_values(),
            problems,
            broken,
        )
    }
}

impl Held {
    fn apply(&mut self, key: ObjectKey, object: Object, preparation: &mut Preparation) {
        let known = self.good.get(&key);
        let prepared = match known {
            Some(known) if known.object.value() == object.value() => Ok(known.prepared.clone()),
            _ => preparation.prepare(&object),
        };
        match prepared {
            Ok(prepared) => {
                self.refused.remove(&key);
                let object = Arc::new(object);
                self.good.insert(key, Good { object, prepared });
            }
            Err(problems) => {
                self.refused.insert(key, problems);
            }
        }
    }

    /// All objects of the origin, in place of those before.
    fn replaced(self, objects: Vec<Object>, preparation: &mut Preparation) -> Self {
        let mut held = Held::default();
        for object in objects {
            let key = match object.key() {
                Ok(key) => key,
                Err(problems) => {
                    held.nameless.extend(problems);
                    continue;
                }
            };
            if let Some(first) = held.good.get(&key) {
                let (kind, name, first) = (&key.kind, &key.name, first.object.place());
                let message = format!("{kind} {name:?} is defined at {first} already");
                held.nameless.push(object.problem("metadata.name", message));
                continue;
            }
            if let Some(good) = self.good.get(&key) {
                held.good.insert(key.clone(), good.clone());
            }
            held.apply(key, object, preparation);
        }
        held
    }
}
