//! Stores objects, handles events and publishes states.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gavel_libraries::Server;
use gavel_manifest::Problem;
use gavel_policy::ParamFault;
use gavel_policy::api::ParamKind;
use indexmap::IndexMap;

use crate::building::Building;
use crate::object::{Object, ObjectKey, Origin};
use crate::prepare::{Good, Preparation, Prepared, Sort};
use crate::state::{Rejection, State};
use crate::unseen::unseen;

/// A change of objects.
#[derive(Debug, Clone)]
pub enum Event {
    /// An object was created or changed.
    Applied(Object),
    /// An object was deleted.
    Deleted(Origin, ObjectKey),
    /// All objects of an origin were listed; the list replaces the earlier objects.
    ReplacedAll(Origin, Vec<Object>),
    /// Properties of a kind of params were determined, independently of its objects.
    ParamKind {
        /// The kind.
        kind: ParamKind,
        /// Whether objects of the kind are namespaced, if known.
        namespaced: Option<bool>,
        /// The reason why the params are unavailable, if they are.
        fault: Option<ParamFault>,
    },
}

/// Stores the last valid version of every object of every origin, and publishes states.
pub struct Store {
    preparation: Preparation,
    origins: BTreeMap<Origin, Held>,
    /// Whether each kind of params is namespaced, and why its params are unavailable; by `apiVersion` and kind.
    param_kinds: BTreeMap<(String, String), (Option<bool>, Option<ParamFault>)>,
    /// The contents of the next state.
    building: Building,
    /// The objects that changed since the last state was published, each with its published version.
    changed: IndexMap<ObjectKey, Option<Good>>,
    /// Whether the next state must be built from all objects, because the changes cannot be applied one by one.
    is_stale: bool,
    /// The objects that several origins contain or once contained.
    contested: BTreeSet<ObjectKey>,
    /// Whether the origins contain all objects that exist.
    is_live: bool,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

/// The objects of one origin, in the order in which they arrived.
#[derive(Debug, Default)]
struct Held {
    good: IndexMap<ObjectKey, Good>,
    /// The objects whose newest version is invalid, with the problems of this version.
    refused: BTreeMap<ObjectKey, Vec<Problem>>,
    /// Objects without a unique key, with their problems: `apiVersion`, `kind` or the name is missing, or another object has the same key.
    nameless: Vec<(Object, Vec<Problem>)>,
}

impl Store {
    /// An empty store, for decisions of this API server.
    ///
    /// # Errors
    ///
    /// The environments cannot be built, which is a bug.
    pub fn new(server: Server) -> Result<Self, String> {
        let preparation = Preparation::new(server)?;
        Ok(Store {
            building: Building::new(preparation.index(), server),
            preparation,
            origins: BTreeMap::new(),
            param_kinds: BTreeMap::new(),
            changed: IndexMap::new(),
            is_stale: false,
            contested: BTreeSet::new(),
            is_live: false,
        })
    }

    /// An empty store that will contain all objects of an API server. Missing objects are not reported, because they do not exist.
    ///
    /// # Errors
    ///
    /// The environments cannot be built, which is a bug.
    pub fn live(server: Server) -> Result<Self, String> {
        Ok(Store {
            is_live: true,
            ..Store::new(server)?
        })
    }

    /// An empty store for objects that an API server has accepted. They are not validated again.
    ///
    /// # Errors
    ///
    /// The environments cannot be built, which is a bug.
    pub fn of_stored(server: Server) -> Result<Self, String> {
        let mut store = Store::new(server)?;
        store.preparation.validates = false;
        Ok(store)
    }

    /// Applies an event. If the new version of an object is invalid, the last valid version stays in force.
    pub fn handle(&mut self, event: Event) {
        match event {
            Event::Applied(object) => self.apply(object),
            Event::Deleted(origin, key) => {
                if let Some(held) = self.origins.get_mut(&origin) {
                    let before = held.good.shift_remove(&key);
                    held.refused.remove(&key);
                    if before.is_some() {
                        self.note_change(key, before);
                    }
                }
            }
            Event::ReplacedAll(origin, objects) => self.replace_all(origin, objects),
            Event::ParamKind {
                kind,
                namespaced,
                fault,
            } => {
                self.building.set_param_kind(&kind, namespaced, fault);
                let key = (kind.api_version, kind.kind);
                self.param_kinds.insert(key, (namespaced, fault));
            }
        }
    }

    /// Stores objects: those of each origin replace the earlier objects of the origin. An object of a manifest that is passed twice counts
    /// once; other objects with the same name are a problem.
    pub fn replace_origins(&mut self, objects: impl IntoIterator<Item = Object>) {
        let mut origins: IndexMap<Origin, Vec<Object>> = IndexMap::new();
        let mut places = BTreeSet::new();
        for object in objects {
            if object.is_of_manifest() && !places.insert(object.place()) {
                continue;
            }
            let of_origin = origins.entry(object.origin().clone()).or_default();
            of_origin.push(object);
        }
        for (origin, objects) in origins {
            self.replace_all(origin, objects);
        }
    }

    fn apply(&mut self, object: Object) {
        let origin = object.origin().clone();
        let held = self.origins.entry(origin.clone()).or_default();
        let key = match object.key() {
            Ok(key) => key,
            Err(problems) => return held.nameless.push((object, problems)),
        };
        let before = held.good.get(&key).cloned();
        held.apply(key.clone(), object, &mut self.preparation);
        let now = held.good.get(&key);
        let is_same = match (&before, now) {
            (Some(before), Some(now)) => Arc::ptr_eq(&before.object, &now.object),
            (before, now) => before.is_none() && now.is_none(),
        };
        if is_same {
            return;
        }
        if before.is_none() {
            let others = self.origins.iter().filter(|(other, _)| **other != origin);
            if others
                .into_iter()
                .any(|(_, held)| held.good.contains_key(&key))
            {
                self.contested.insert(key.clone());
            }
        }
        self.note_change(key, before);
    }

    fn replace_all(&mut self, origin: Origin, objects: Vec<Object>) {
        let before = self.origins.remove(&origin).unwrap_or_default();
        let is_first = before.good.is_empty();
        let (held, before) = before.replaced(objects, &mut self.preparation);
        let keys = held.good.keys();
        if is_first || !keys.eq(before.keys()) {
            self.is_stale = true;
            for key in held.good.keys() {
                if self
                    .origins
                    .values()
                    .any(|held| held.good.contains_key(key))
                {
                    self.contested.insert(key.clone());
                }
            }
        }
        let changed: Vec<_> = before
            .into_iter()
            .filter(|(key, old)| {
                let new = held.good.get(key);
                new.is_none_or(|new| !Arc::ptr_eq(&new.object, &old.object))
            })
            .collect();
        if !held.good.is_empty() || !held.refused.is_empty() || !held.nameless.is_empty() {
            self.origins.insert(origin, held);
        }
        for (key, old) in changed {
            self.note_change(key, Some(old));
        }
    }

    /// Records that an object changed, with its earlier version.
    fn note_change(&mut self, key: ObjectKey, before: Option<Good>) {
        // If several origins contain the object, the change may affect which version is used.
        self.is_stale |= self.contested.contains(&key);
        if !self.is_stale {
            self.changed.entry(key).or_insert(before);
        }
    }

    /// The keys of an origin's policies and bindings that are in force.
    pub fn deciding(&self, origin: &Origin) -> impl Iterator<Item = &ObjectKey> {
        let held = self.origins.get(origin).into_iter();
        held.flat_map(|held| held.good.keys())
            .filter(|key| key.decides())
    }

    /// The `paramKind`s of policies that have bindings, as pairs of `apiVersion` and kind.
    pub fn param_kinds(&self) -> BTreeSet<(String, String)> {
        let held = self.origins.values();
        let good: Vec<&Prepared> = held
            .flat_map(|held| held.good.iter().filter(|(key, _)| key.decides()))
            .map(|(_, good)| &good.prepared)
            .collect();
        let bound: BTreeSet<_> = good.iter().filter_map(|good| good.bound_policy()).collect();
        let policies = good.iter().filter_map(|good| good.policy());
        let bound = policies.filter(|(key, _)| bound.contains(key));
        let kinds = bound.filter_map(|(_, kind)| kind);
        kinds
            .map(|kind| (kind.api_version.clone(), kind.kind.clone()))
            .collect()
    }

    /// The origins that have objects.
    pub fn origins(&self) -> impl Iterator<Item = &Origin> {
        self.origins.keys()
    }

    /// Builds a state from the current objects, to decide later requests.
    pub fn publish(&mut self) -> State {
        if self.is_stale || !self.take_changes() {
            self.build_anew();
        }
        let (mut rejections, broken) = self.refusals();
        rejections.extend(self.contests());
        rejections.sort_by_cached_key(|each| {
            let first = each.problems.first();
            first.map(|problem| (problem.file.clone(), problem.range))
        });
        let unseen = match self.is_live {
            true => Vec::new(),
            false => {
                let objects: Vec<&Good> = self.objects().collect();
                let versions = |object: &Object| self.building.param_versions(object);
                let has_roles = objects.iter().any(|good| good.is_role());
                unseen(&objects, versions, has_roles, &broken)
            }
        };
        let mut state = self.building.state(rejections, unseen, broken);
        state.registrations = Some(self.preparation.registrations());
        state
    }

    /// The objects whose newest version was rejected, and the number of problems in the rejected version of each policy.
    fn refusals(&self) -> (Vec<Rejection>, BTreeMap<(Sort, String), usize>) {
        let mut rejections = Vec::new();
        let mut broken = BTreeMap::new();
        for held in self.origins.values() {
            let nameless = held.nameless.iter();
            let used = nameless.filter(|(object, _)| self.building.uses(object));
            rejections.extend(used.map(|(object, problems)| Rejection {
                kind: object.kind().to_owned(),
                in_force: false,
                problems: problems.clone(),
            }));
            for (key, found) in &held.refused {
                let mut origins = self.origins.values();
                rejections.push(Rejection {
                    kind: key.kind.clone(),
                    in_force: origins.any(|held| held.good.contains_key(key)),
                    problems: found.clone(),
                });
                if let Some(sort) = Sort::of_kind(&key.kind) {
                    broken.insert((sort, key.name.clone()), found.len());
                }
            }
        }
        (rejections, broken)
    }

    /// The objects that several origins contain, except that of the first origin, which is used.
    fn contests(&self) -> Vec<Rejection> {
        let mut rejections = Vec::new();
        for key in &self.contested {
            let held = self.origins.values();
            let good = held.filter_map(|held| held.good.get(key));
            let mut good = good.filter(|good| self.building.uses(&good.object));
            let Some(first) = good.next() else { continue };
            for other in good {
                let (kind, name, first) = (&key.kind, &key.name, first.object.place());
                let message = format!("{kind} {name:?} is defined at {first} already");
                rejections.push(Rejection {
                    kind: kind.clone(),
                    in_force: false,
                    problems: vec![other.object.problem("metadata.name", message)],
                });
            }
        }
        rejections
    }

    /// The objects that are in force.
    fn objects(&self) -> impl Iterator<Item = &Good> {
        let held = self.origins.values().enumerate();
        held.flat_map(move |(n, held)| {
            let is_first = move |key: &ObjectKey| {
                let mut before = self.origins.values().take(n);
                !self.contested.contains(key) || !before.any(|held| held.good.contains_key(key))
            };
            let good = held.good.iter();
            good.filter(move |(key, _)| is_first(key))
                .map(|(_, good)| good)
        })
    }

    /// Applies the recorded changes one by one. Returns false if the state must be built from all objects.
    fn take_changes(&mut self) -> bool {
        let mut roles = false;
        for (key, before) in std::mem::take(&mut self.changed) {
            let mut held = self.origins.values();
            let now = held.find_map(|held| held.good.get(&key));
            let mut both = before.iter().chain(now);
            roles |= both.any(Good::is_role);
            if !self.building.replace(before.as_ref(), now) {
                return false;
            }
        }
        if roles {
            let held = self.origins.values();
            let roles = held.flat_map(|held| held.good.values());
            self.building.set_roles(roles.filter(|good| good.is_role()));
        }
        true
    }

    fn build_anew(&mut self) {
        let mut building = Building::of(
            self.preparation.index(),
            self.preparation.server(),
            self.objects(),
        );
        for ((api_version, kind), (namespaced, fault)) in &self.param_kinds {
            let (api_version, kind) = (api_version.clone(), kind.clone());
            let kind = ParamKind { api_version, kind };
            building.set_param_kind(&kind, *namespaced, *fault);
        }
        self.building = building;
        self.changed.clear();
        self.is_stale = false;
    }
}

impl Held {
    fn apply(&mut self, key: ObjectKey, object: Object, preparation: &mut Preparation) {
        let known = self.good.get(&key);
        let prepared = match known {
            Some(known) if known.object.is_same(&object) => {
                self.refused.remove(&key);
                if known.object.place() == object.place() {
                    return;
                }
                Ok(known.prepared.clone())
            }
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

    /// Replaces all objects of the origin. Returns the new contents of the origin, and the valid objects that it had before.
    fn replaced(
        self,
        objects: Vec<Object>,
        preparation: &mut Preparation,
    ) -> (Self, IndexMap<ObjectKey, Good>) {
        let mut held = Held::default();
        for object in objects {
            let key = match object.key() {
                Ok(key) => key,
                Err(problems) => {
                    held.nameless.push((object, problems));
                    continue;
                }
            };
            if let Some(first) = held.good.get(&key) {
                let (kind, name, first) = (&key.kind, &key.name, first.object.place());
                let message = format!("{kind} {name:?} is defined at {first} already");
                let problem = object.problem("metadata.name", message);
                held.nameless.push((object, vec![problem]));
                continue;
            }
            if let Some(good) = self.good.get(&key) {
                held.good.insert(key.clone(), good.clone());
            }
            held.apply(key, object, preparation);
        }
        (held, self.good)
    }
}
