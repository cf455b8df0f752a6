//! Answers of a live source, collected while a request waits. A decision that lacks an answer stops at once. The answer is fetched without
//! blocking a thread, and then the request is decided again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use gavel_apimachinery::names;
use gavel_libraries::authorizer::{self, Authorizer, AuthorizerAttributes};
use gavel_policy::{AdmissionRequest, GroupVersionKind, GroupVersionResource, Options, Snapshot};
use gavel_state::{Found, Live, State};
use tokio::time::timeout_at;

use super::observe::Checks;
use crate::evaluation::{Flow, Outcome, Turn};
use crate::status::ApiError;

/// The answers that a request has already, and the question that is still open.
#[derive(Debug)]
pub(crate) struct Answers {
    live: Arc<dyn Live>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    decisions: HashMap<AuthorizerAttributes, authorizer::Decision>,
    objects: HashMap<(GroupVersionResource, String), Found>,
    /// The resource of a kind; `None` if no API serves the kind, or if the look-up failed.
    resources: HashMap<GroupVersionKind, Option<String>>,
    lacking: Option<Lacking>,
}

/// A question that must be answered before the request can be decided.
#[derive(Debug, Clone)]
enum Lacking {
    Decision(Box<AuthorizerAttributes>),
    Object(GroupVersionResource, String),
    Resource(GroupVersionKind),
}

impl Answers {
    /// Starts without any answers.
    pub(super) fn new(live: Arc<dyn Live>) -> Self {
        Answers {
            live,
            known: Mutex::default(),
        }
    }

    /// Whether a decision needed an answer that the cluster has not given yet. The decision must then be discarded.
    pub(crate) fn is_lacking(&self) -> bool {
        self.lock().lacking.is_some()
    }

    /// The snapshot with which a request is decided; `None` if the request's namespace has to be fetched first.
    fn snapshot(&self, state: &State, request: &AdmissionRequest<'_>) -> Option<Snapshot> {
        let Some(name) = state.unknown_namespace(request) else {
            return Some(state.snapshot(request));
        };
        if !state.has_bindings() {
            return Some(state.snapshot(request));
        }
        // API servers do not validate the namespace in the path of a request, but no namespace with an invalid name exists.
        if !names::dns1123_label(name.as_bytes()).is_empty() {
            return Some(state.snapshot_with(None));
        }
        let namespace = self.object(&namespaces(), name)?.ok().flatten();
        Some(state.snapshot_with(namespace.as_deref()))
    }

    /// Looks up a cluster-scoped object; `None` if the object has to be fetched first.
    pub(super) fn object(&self, resource: &GroupVersionResource, name: &str) -> Option<Found> {
        let mut known = self.lock();
        let key = (resource.clone(), name.to_owned());
        let found = known.objects.get(&key).cloned();
        if found.is_none() {
            known.lacking = Some(Lacking::Object(key.0, key.1));
        }
        found
    }

    /// The plural name of the resource that serves a kind. `Some(None)`: no resource serves the kind. `None`: the name has to be fetched
    /// first.
    pub(super) fn resource(&self, kind: &GroupVersionKind) -> Option<Option<String>> {
        let mut known = self.lock();
        let found = known.resources.get(kind).cloned();
        if found.is_none() {
            known.lacking = Some(Lacking::Resource(kind.clone()));
        }
        found
    }

    /// Fetches the missing answer.
    ///
    /// # Errors
    ///
    /// 500 if a namespace cannot be looked up, or if no answer is missing.
    pub(super) async fn fetch(&self, deadline: Instant) -> Result<(), ApiError> {
        let lacking = self.lock().lacking.take();
        let lacking = lacking.ok_or_else(|| ApiError::internal("no decision was reached"))?;
        let late = "context deadline exceeded";
        match lacking {
            Lacking::Decision(question) => {
                let answer = timeout_at(deadline.into(), self.live.authorize(&question)).await;
                let answer = answer.unwrap_or_else(|_| authorizer::Decision {
                    error: Some(late.to_owned()),
                    ..authorizer::Decision::default()
                });
                self.lock().decisions.insert(*question, answer);
            }
            Lacking::Object(resource, name) => {
                let found = self.live.object(&resource, &name);
                let found = timeout_at(deadline.into(), found).await;
                let found = found.unwrap_or_else(|_| Err(late.to_owned()));
                if resource == namespaces()
                    && let Err(error) = found
                {
                    return Err(ApiError::internal(error));
                }
                self.lock().objects.insert((resource, name), found);
            }
            Lacking::Resource(kind) => {
                let found = timeout_at(deadline.into(), self.live.resource(&kind)).await;
                let found = found.unwrap_or_else(|_| Err(late.to_owned()));
                let found = found.unwrap_or_else(|error| {
                    tracing::warn!(kind = %kind.kind, error, "the resource could not be looked up");
                    None
                });
                self.lock().resources.insert(kind, found);
            }
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn namespaces() -> GroupVersionResource {
    GroupVersionResource {
        group: "".into(),
        version: "v1".into(),
        resource: "namespaces".into(),
    }
}

impl Authorizer for Answers {
    fn authorize(&self, attributes: &AuthorizerAttributes) -> authorizer::Decision {
        let mut known = self.lock();
        if let Some(decision) = known.decisions.get(attributes) {
            return decision.clone();
        }
        if let Some(decision) = self.live.known(attributes) {
            known.decisions.insert(attributes.clone(), decision.clone());
            return decision;
        }
        known.lacking = Some(Lacking::Decision(Box::new(attributes.clone())));
        authorizer::Decision::default()
    }
}

/// Why an attempt has no result.
pub(super) enum NoAnswer {
    /// An answer is missing; the request is decided again with the answer.
    Lacking,
    /// The time limit has passed.
    Stopped(Flow),
}

impl<T> From<NoAnswer> for Outcome<T> {
    fn from(none: NoAnswer) -> Self {
        match none {
            NoAnswer::Lacking => Outcome::Lacking,
            NoAnswer::Stopped(flow) => Outcome::Unfinished(flow),
        }
    }
}

/// An attempt to decide a request by policies.
pub(super) struct Attempt<'a> {
    turn: &'a Turn,
    answers: Option<&'a Arc<Answers>>,
    authorizer: Arc<dyn Authorizer>,
}

impl<'a> Attempt<'a> {
    /// An attempt with the policies of a state.
    pub(super) fn new(state: &State, turn: &'a Turn, answers: Option<&'a Arc<Answers>>) -> Self {
        let authorizer = match answers.filter(|answers| answers.live.decides_access()) {
            Some(answers) => Arc::clone(answers) as Arc<dyn Authorizer>,
            None => Arc::clone(state.authorizer()),
        };
        Attempt {
            turn,
            answers,
            authorizer,
        }
    }

    /// The authorizer that policies consult.
    pub(super) fn authorizer(&self) -> &dyn Authorizer {
        &*self.authorizer
    }

    /// Evaluates the policies of a state. Returns the decision, and what the policies add to metrics and log.
    ///
    /// # Errors
    ///
    /// The decision does not count: an answer is missing, or the attempt was interrupted.
    pub(super) fn decide<'s, T>(
        &'s self,
        state: &'s State,
        request: &'s AdmissionRequest<'_>,
        decide: impl FnOnce(&Snapshot, &Options<'_>) -> T,
    ) -> Result<(T, Checks<'s>), NoAnswer> {
        let checks = Checks::new(state, self.turn, request.uid);
        let interrupt = || self.turn.is_over() || self.is_lacking();
        let options = Options {
            interrupt: Some(&interrupt),
            authorizer: Some(&self.authorizer),
            observer: &checks,
            ..Options::default()
        };
        let snapshot = match self.answers {
            Some(answers) => answers.snapshot(state, request),
            None => Some(state.snapshot(request)),
        };
        let decided = snapshot.map(|snapshot| decide(&snapshot, &options));
        match decided.filter(|_| !self.is_lacking()) {
            None => Err(NoAnswer::Lacking),
            Some(_) if !self.turn.counts() => {
                let flow = Flow::new(&request.user.name, &checks.stopped());
                Err(NoAnswer::Stopped(flow))
            }
            Some(decided) => Ok((decided, checks)),
        }
    }

    fn is_lacking(&self) -> bool {
        self.answers.is_some_and(|answers| answers.is_lacking())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use gavel_engine::value::{Arena, Json};
    use gavel_libraries::Server;
    use gavel_state::{Answer, Event, Object, Origin, Store};
    use serde_json::json;

    use super::*;

    /// A source that answers no question.
    #[derive(Debug)]
    pub(crate) struct Silent;

    impl Live for Silent {
        fn decides_access(&self) -> bool {
            false
        }

        fn known(&self, _: &AuthorizerAttributes) -> Option<authorizer::Decision> {
            None
        }

        fn authorize<'a>(
            &'a self,
            _: &'a AuthorizerAttributes,
        ) -> Answer<'a, authorizer::Decision> {
            Box::pin(async { authorizer::Decision::default() })
        }

        fn object<'a>(&'a self, _: &'a GroupVersionResource, _: &'a str) -> Answer<'a, Found> {
            Box::pin(async { Err("no answer".to_owned()) })
        }

        fn resource<'a>(
            &'a self,
            _: &'a GroupVersionKind,
        ) -> Answer<'a, Result<Option<String>, String>> {
            Box::pin(async { Err("no answer".to_owned()) })
        }

        fn age(&self) -> Option<Duration> {
            None
        }

        fn notes(&self) -> Vec<String> {
            Vec::new()
        }
    }

    /// A state with one policy, which matches all requests, and its binding.
    fn state(kind: &str, mut policy: Json, binding: Json) -> State {
        let mut store = Store::new(Server::default()).unwrap();
        policy["matchConstraints"] = json!({"resourceRules": [
            {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]},
        ]});
        for (kind, spec) in [
            (kind.to_owned(), policy),
            (format!("{kind}Binding"), binding),
        ] {
            let object = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "p"}, "spec": spec});
            store.handle(Event::Applied(Object::sent(
                Origin::new("cluster"),
                &object,
            )));
        }
        store.publish()
    }

    #[test]
    fn namespaces_with_invalid_names_are_not_fetched() {
        let validating = state(
            "ValidatingAdmissionPolicy",
            json!({"validations": [{"expression": "true"}]}),
            json!({"policyName": "p", "validationActions": ["Deny"]}),
        );
        let patch = json!({"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'remove', path: '/a'}]"}});
        let mutating = state(
            "MutatingAdmissionPolicy",
            json!({"mutations": [patch], "reinvocationPolicy": "Never"}),
            json!({"policyName": "p"}),
        );
        let none = Store::new(Server::default()).unwrap().publish();
        for (state, namespace, is_fetched) in [
            (&validating, "shop", true),
            (&mutating, "shop", true),
            (&none, "shop", false),
            (&validating, "a.b", false),
            (&validating, "../pods", false),
            (&validating, "a?b", false),
        ] {
            let kind = json!({"group": "", "version": "v1", "kind": "PodExecOptions"});
            let resource = json!({"group": "", "version": "v1", "resource": "pods"});
            let request = json!({
                "uid": "1", "operation": "CONNECT", "kind": kind, "resource": resource, "subResource": "exec", "name": "a", "namespace": namespace,
                "object": {"apiVersion": "v1", "kind": "PodExecOptions"},
            });
            let arena = Arena::new();
            let request = AdmissionRequest::read((&request).into(), &arena).unwrap();
            let answers = Answers::new(Arc::new(Silent));
            assert_eq!(
                answers.snapshot(state, &request).is_none(),
                is_fetched,
                "{namespace}"
            );
            assert_eq!(answers.is_lacking(), is_fetched, "{namespace}");
        }
    }
}
