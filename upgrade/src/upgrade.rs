//! Compares the answers of two versions of Kubernetes to the same objects and requests.

use std::cell::OnceCell;

use gavel_apimachinery::server::no_matches;
use gavel_crd::definition::Definition;
use gavel_engine::value::{Arena, Json, Value};
use gavel_libraries::{KubeVersion, Server};
use gavel_policy::AdmissionRequest;
use gavel_policy::api::{GROUP, Resource, as_built_in};
use gavel_state::{Event, Object, Origin, State, Store};

use crate::cause::Cause;
use crate::change::Change;
use crate::definition::Rules;
use crate::facts::{Facts, Key, Topic};
use crate::policy::{BuiltInKinds, Policies};
use crate::sample;

/// A rehearsed upgrade of an API server: the objects of a cluster, and sample requests.
///
/// ```
/// use gavel_apimachinery::server::{Difference, Effect};
/// use gavel_upgrade::{Cause, Subject, Upgrade};
/// use serde_json::json;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut upgrade = Upgrade::new("1.36".parse()?, "1.37".parse()?);
/// upgrade.add(&json!({
///     "apiVersion": "admissionregistration.k8s.io/v1",
///     "kind": "ValidatingAdmissionPolicy",
///     "metadata": {"name": "images"},
///     "spec": {
///         "matchConstraints": {"resourceRules": [
///             {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]},
///         ]},
///         "validations": [{"expression": "object.metadata.name.startsWith('web')"}],
///     },
/// }))?;
/// let changes = upgrade.changes(|| ())?;
/// let [(Subject::Object(0), changes)] = changes.as_slice() else { panic!("one object") };
/// let [change] = changes.as_slice() else { panic!("one change") };
/// assert_eq!(change.effect(), Effect::Cost);
/// assert_eq!(change.field, "spec.validations[0].expression");
/// let [Cause::Row(row)] = change.causes.as_slice() else { panic!("one row") };
/// assert_eq!(row.difference, Difference::CostsAreOfWhatIsRead);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Upgrade {
    from: Server,
    to: Server,
    objects: Vec<(Json, Known)>,
    requests: Vec<Json>,
    /// Kubernetes' own kinds that the objects name, before and after the upgrade.
    built_in: [OnceCell<BuiltInKinds>; 2],
}

/// The error for an object or a request that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InputError {
    field: String,
    message: String,
}

impl InputError {
    fn new(field: impl Into<String>, message: impl std::fmt::Display) -> Self {
        InputError {
            field: field.into(),
            message: message.to_string(),
        }
    }

    /// The path of the field that is wrong; empty for the whole object or request.
    pub fn field(&self) -> &str {
        &self.field
    }
}

/// The role of an object.
#[derive(Debug)]
enum Known {
    Definition(Box<Definition>),
    Registration {
        resource: Box<Resource>,
        /// Whether the kind is one of Gavel's own: a definition serves it, on every Kubernetes version.
        is_own: bool,
    },
    /// An object that policies can read.
    Other,
}

/// An API server that holds the objects.
#[derive(Debug)]
struct ApiServer<'u> {
    upgrade: &'u Upgrade,
    server: Server,
    /// The version whose kinds the server serves.
    serves: KubeVersion,
    rules: OnceCell<Rules>,
    policies: OnceCell<Policies>,
    state: OnceCell<State>,
}

/// Identifies an object or a request in changes. Objects and requests are counted separately from 0, in the order in which they were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// An object of the cluster.
    Object(usize),
    /// A request.
    Request(usize),
}

/// The different answers of two servers about an object or a request.
struct Differing {
    subject: Subject,
    keys: Vec<Key>,
    before: Answers,
    after: Answers,
}

/// The answers of one server. For each differing answer, `causes` lists the causes that change this answer when only one of them is
/// toggled.
struct Answers {
    facts: Facts,
    causes: Vec<Vec<Cause>>,
}

impl Upgrade {
    /// An upgrade or rollback from one server to another. The cluster has no objects until they are added.
    pub fn new(from: Server, to: Server) -> Self {
        Upgrade {
            from,
            to,
            objects: Vec::new(),
            requests: Vec::new(),
            built_in: Default::default(),
        }
    }

    /// Adds an object of the cluster. Policies and bindings of Gavel's own kinds are read as the built-in kinds. The answers about
    /// definitions, policies, bindings and webhook configurations are compared. Other objects, such as params, namespaces and RBAC objects,
    /// are only read by policies.
    ///
    /// # Errors
    ///
    /// A field of the object does not have the type that its kind requires.
    pub fn add(&mut self, object: &Json) -> Result<Subject, InputError> {
        let own = as_built_in(object);
        let is_own = own.is_some();
        let object = own.as_ref().unwrap_or(object);
        let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
        let group = text("apiVersion").split_once('/');
        let known = match (group.map_or("", |(group, _)| group), text("kind")) {
            ("apiextensions.k8s.io", "CustomResourceDefinition") => {
                let definition = Definition::read(object);
                let definition =
                    definition.map_err(|error| InputError::new(&*error.field, &error))?;
                Known::Definition(Box::new(definition.without_namespace().without_status()))
            }
            (GROUP, _) => {
                let decoded = Resource::decode(object)
                    .map_err(|error| InputError::new(&*error.field, error.plain()))?;
                let resource = Box::new(decoded.object);
                Known::Registration { resource, is_own }
            }
            _ => Known::Other,
        };
        self.objects.push((object.clone(), known));
        self.built_in = Default::default();
        Ok(Subject::Object(self.objects.len().saturating_sub(1)))
    }

    /// Adds a request: the `request` of an AdmissionReview.
    ///
    /// # Errors
    ///
    /// The JSON is not the `request` of an AdmissionReview.
    pub fn add_request(&mut self, request: Json) -> Result<Subject, InputError> {
        let arena = Arena::new();
        AdmissionRequest::read(Value::from(&request), &arena)
            .map_err(|error| InputError::new("", error))?;
        self.requests.push(request);
        Ok(Subject::Request(self.requests.len().saturating_sub(1)))
    }

    /// The answers in which the servers differ: first about the objects, then about the requests, each in the order in which they were
    /// added. `step` is called at most [`Upgrade::steps`] times.
    ///
    /// # Errors
    ///
    /// Requests cannot be decided with the objects: for example, a definition has no structural schema.
    pub fn changes(
        &self,
        mut step: impl FnMut(),
    ) -> Result<Vec<(Subject, Vec<Change>)>, InputError> {
        let mut differing = self.differing(&mut step)?;
        let candidates = Cause::candidates(self.from, self.to);
        // A candidate is a cause if reverting it alone changes the later server's answer.
        for cause in &candidates {
            step();
            let without = ApiServer::new(self, cause.exchanged(self.to, self.from), self.to);
            for each in &mut differing {
                each.after
                    .note(*cause, &each.keys, &without.facts(each.subject)?);
            }
        }
        // If several candidates have the same effect, reverting one of them changes nothing. Then a candidate is a cause if it alone
        // changes the earlier server's answer.
        for cause in &candidates {
            let with = ApiServer::new(self, cause.exchanged(self.from, self.to), self.from);
            for each in differing.iter_mut().filter(|each| !each.is_explained()) {
                each.before
                    .note(*cause, &each.keys, &with.facts(each.subject)?);
            }
        }
        Ok(differing.into_iter().map(Differing::changes).collect())
    }

    /// The maximum number of steps in which [`Upgrade::changes`] finds the changes.
    pub fn steps(&self) -> usize {
        let causes = Cause::candidates(self.from, self.to).len();
        let subjects = self.objects.len().saturating_add(self.requests.len());
        subjects.saturating_add(causes)
    }

    /// The policies and bindings whose `apiVersion` neither server serves, each with the error of the server after the upgrade. They are not
    /// among the changes.
    pub fn unserved(&self) -> impl Iterator<Item = (Subject, String)> {
        let objects = self.objects.iter().enumerate();
        objects.filter_map(|(position, (object, known))| {
            let Known::Registration { is_own: false, .. } = known else {
                return None;
            };
            unserved_kind(object, self.from.version())?;
            let error = unserved_kind(object, self.to.version())?;
            Some((Subject::Object(position), error))
        })
    }

    /// Kubernetes' own kinds that the objects name, as this server has them.
    fn built_in(&self, server: Server) -> &BuiltInKinds {
        let [before, after] = &self.built_in;
        let kinds = match server.kinds() == self.from.kinds() {
            true => before,
            false => after,
        };
        kinds.get_or_init(|| {
            let registrations = self.objects.iter().filter_map(|(_, known)| match known {
                Known::Registration { resource, .. } => Some(&**resource),
                Known::Definition(_) | Known::Other => None,
            });
            BuiltInKinds::named_by(registrations, server)
        })
    }

    fn differing(&self, step: &mut impl FnMut()) -> Result<Vec<Differing>, InputError> {
        let (before, after) = (
            ApiServer::new(self, self.from, self.from),
            ApiServer::new(self, self.to, self.to),
        );
        let objects = (0..self.objects.len()).map(Subject::Object);
        let requests = (0..self.requests.len()).map(Subject::Request);
        let mut differing = Vec::new();
        for subject in objects.chain(requests) {
            let (before, after) = (before.facts(subject)?, after.facts(subject)?);
            let keys: Vec<Key> = before.differences(&after).into_iter().cloned().collect();
            if !keys.is_empty() {
                differing.push(Differing {
                    subject,
                    before: Answers::new(before, keys.len()),
                    after: Answers::new(after, keys.len()),
                    keys,
                });
            }
            step();
        }
        Ok(differing)
    }
}

impl Answers {
    fn new(facts: Facts, differences: usize) -> Self {
        Answers {
            facts,
            causes: vec![Vec::new(); differences],
        }
    }

    /// Records which answers of a server change if only this cause is toggled.
    fn note(&mut self, cause: Cause, keys: &[Key], facts: &Facts) {
        for (key, causes) in keys.iter().zip(&mut self.causes) {
            if facts.get(key) != self.facts.get(key) {
                causes.push(cause);
            }
        }
    }
}

impl Differing {
    /// Whether at least one cause is known for every differing answer of the server after the upgrade. A cause is known if this server's
    /// answer changes when only this cause is reverted.
    fn is_explained(&self) -> bool {
        self.after.causes.iter().all(|causes| !causes.is_empty())
    }

    fn changes(self) -> (Subject, Vec<Change>) {
        let causes = self.after.causes.into_iter().zip(self.before.causes);
        let causes = causes.map(|(undone, made)| if undone.is_empty() { made } else { undone });
        let changes = self.keys.into_iter().zip(causes).map(|(key, causes)| {
            let before = self.before.facts.get(&key).map(str::to_owned);
            let after = self.after.facts.get(&key).map(str::to_owned);
            Change::new(key, before, after, causes)
        });
        (self.subject, changes.collect())
    }
}

impl<'u> ApiServer<'u> {
    /// A server with all kinds that the server `base` serves. To find a cause, `server` differs from `base` by this cause.
    fn new(upgrade: &'u Upgrade, server: Server, base: Server) -> Self {
        ApiServer {
            upgrade,
            server,
            serves: base.version(),
            rules: OnceCell::new(),
            policies: OnceCell::new(),
            state: OnceCell::new(),
        }
    }

    /// The server's answers; empty for objects that only policies read.
    fn facts(&self, subject: Subject) -> Result<Facts, InputError> {
        let bug = |error: &dyn std::fmt::Display| InputError::new("", error);
        let Upgrade {
            objects, requests, ..
        } = self.upgrade;
        let object = match subject {
            Subject::Object(position) => objects.get(position),
            Subject::Request(position) => {
                let state = built(&self.state, || stored(self.server, objects));
                let state = state.map_err(|error| bug(&error))?;
                let request = requests.get(position);
                return Ok(request.map_or_else(Facts::default, |each| sample::facts(state, each)));
            }
        };
        Ok(match object {
            Some((_, Known::Definition(definition))) => {
                let rules = built(&self.rules, || Rules::new(self.server));
                rules.map_err(|error| bug(&error))?.facts(definition)
            }
            Some((object, Known::Registration { resource, is_own })) => {
                let definitions = objects.iter().filter_map(|(_, known)| match known {
                    Known::Definition(definition) => Some(&**definition),
                    Known::Registration { .. } | Known::Other => None,
                });
                let built_in = self.upgrade.built_in(self.server);
                let policies = built(&self.policies, || {
                    Policies::new(self.server, built_in, definitions)
                });
                let mut facts = policies.map_err(|error| bug(&error))?.facts(resource);
                let error = unserved_kind(object, self.serves);
                if let Some(error) = error.filter(|_| !is_own) {
                    facts.add(Topic::Creation, "apiVersion", error);
                }
                facts
            }
            Some((_, Known::Other)) | None => Facts::default(),
        })
    }
}

/// The error for an object whose kind a version of Kubernetes does not serve in the object's `apiVersion`; `None` if the version serves it.
fn unserved_kind(object: &Json, version: KubeVersion) -> Option<String> {
    let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    no_matches(api_version, kind, version)
}

/// The contents of a cell, built when they are first needed.
fn built<T, E>(cell: &OnceCell<T>, build: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
    if let Some(built) = cell.get() {
        return Ok(built);
    }
    let built = build()?;
    Ok(cell.get_or_init(|| built))
}

/// The state of a server with these objects in its storage.
fn stored(server: Server, objects: &[(Json, Known)]) -> Result<State, String> {
    let mut store = Store::of_stored(server)?;
    let origin = Origin::new("storage");
    for (object, _) in objects {
        let object = Object::sent(origin.clone(), object);
        store.handle(Event::Applied(object));
    }
    let state = store.publish();
    let problems: Vec<String> = state.problems().map(ToString::to_string).collect();
    match problems.is_empty() {
        true => Ok(state),
        false => Err(problems.join("\n")),
    }
}
