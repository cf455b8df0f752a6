//! Decides a request by all policies that match it (apiserver `pkg/admission/plugin/policy/validating/dispatcher.go`).

use std::cell::{Cell, OnceCell};
use std::ptr;
use std::sync::Arc;

use gavel_engine::value::{Arena, Value};
use gavel_golang::work::Work;
use gavel_libraries::authorizer::{Authorizer, CachingAuthorizer, NoOpinion, ResourceAttributes};
use gavel_libraries::kubernetes::authorizer::{AuthorizerValue, ResourceCheck};

use crate::annotations::Annotations;
use crate::api::ParamKind;
use crate::cel::{Inputs, Runner};
use crate::compiled::{CompiledPolicy, Reads};
use crate::compiled_binding::CompiledBinding;
use crate::decision::{Decision, namespace_not_found};
use crate::evaluation::Session;
use crate::fields::{fields_of, text_field};
use crate::index::Snapshot;
use crate::kept::KeptObject;
use crate::matching::{Matched, Matcher, Surroundings};
use crate::namespace::Namespace;
use crate::observer::Observer;
use crate::options::Options;
use crate::outcome::Evaluation;
use crate::params::{Found, ParamSelection, ParamSource};
use crate::request::AdmissionRequest;
use crate::resource::GroupVersionKind;

/// The units of work that the decision counts before each evaluation, however short the evaluation is: the interrupt is checked once for 16
/// evaluations. A long evaluation also checks the interrupt itself.
const WORK_PER_EVALUATION: usize = 1 << 13;

/// The cluster-scoped kinds of the core group, except ComponentStatus, which cannot be watched.
const CLUSTER_KINDS: [&str; 3] = ["Namespace", "Node", "PersistentVolume"];

/// Decides a request as an API server does, by all policies with bindings; requests for exempt resources are allowed. An invalid policy
/// does not prevent the evaluation of other policies.
///
/// After an interrupt, each remaining binding that matches the request fails, and the policy's `failurePolicy` decides.
pub fn dispatch(
    snapshot: &Snapshot,
    request: &AdmissionRequest<'_>,
    options: &Options<'_>,
) -> Decision {
    match request.is_exempt() {
        true => Decision::default(),
        false => {
            let hooks = snapshot.hooks(request);
            decide(hooks, snapshot, request, options)
        }
    }
}

/// Decides a request by the given policies and bindings, even if its resource is exempt. The snapshot provides the params, namespaces and
/// equivalent resources.
pub fn decide<'a, B: Iterator<Item = &'a CompiledBinding> + Clone>(
    mut hooks: impl Iterator<Item = (&'a CompiledPolicy, B)>,
    snapshot: &Snapshot,
    request: &AdmissionRequest<'_>,
    options: &Options<'_>,
) -> Decision {
    let mut decision = Decision::default();
    let mut memory = MEMORY.take().unwrap_or_default();
    let Memory {
        request: arena,
        evaluation,
    } = &mut *memory;
    let asked = {
        let dispatch = Dispatch::new(snapshot, request, options, arena);
        let mut latest = None;
        hooks.try_for_each(|(policy, bindings)| {
            let matched = dispatch.matched(policy, &mut latest);
            dispatch.ask(policy, matched, bindings, evaluation, &mut decision)
        })
    };
    memory.request.reset();
    memory.evaluation.policy.reset();
    memory.evaluation.param.reset();
    MEMORY.set(Some(memory));
    match asked {
        Ok(()) => {
            decision.publish_failures();
            decision.close(request);
        }
        Err(message) => {
            decision.status = Some(namespace_not_found(request.namespace, message));
        }
    }
    decision
}

/// The state that all policies of a request share.
pub(crate) struct Dispatch<'a> {
    snapshot: &'a Snapshot,
    request: &'a AdmissionRequest<'a>,
    options: &'a Options<'a>,
    /// Counts the work of the decision, and checks the host's interrupt from time to time.
    work: Work<'a>,
    arena: &'a Arena,
    authorizer_values: OnceCell<(Value<'a>, Value<'a>)>,
    /// The value of `request` for policies that match the request's own resource.
    request_value: OnceCell<Value<'a>>,
    /// The objects for policies that match the request's own kind.
    objects: OnceCell<Objects<'a>>,
    /// The inputs of the latest policy that matched the request's own kind, with the flags that say which inputs the policy reads. The
    /// next policy uses the same inputs if its flags are equal, as they mostly are.
    inputs: Cell<Option<(Reads, &'a Inputs<'a>)>>,
    namespace: OnceCell<Result<Option<&'a Namespace>, String>>,
    /// The value of `namespaceObject` for audit annotations, then its value for all other expressions.
    namespace_values: OnceCell<[Value<'a>; 2]>,
}

thread_local! {
    /// The memory of the last decision on this thread, for reuse by the next decision.
    static MEMORY: Cell<Option<Box<Memory>>> = const { Cell::new(None) };
}

/// The memory that a decision allocates.
#[derive(Default)]
struct Memory {
    /// The arena for values that all policies share.
    request: Arena,
    evaluation: EvaluationMemory,
}

/// The memory of evaluations, which is reused for each policy. It is empty between evaluations.
#[derive(Default)]
struct EvaluationMemory {
    /// The arena for values that do not depend on params.
    policy: Arena,
    /// The arena for the values of one binding and one param.
    param: Arena,
    /// The results for one binding and param.
    found: Evaluation,
}

/// The object and the old object, converted to the kind that a policy matches.
type Objects<'a> = [Value<'a>; 2];

impl<'a> Dispatch<'a> {
    /// The state of one decision. Values that policies share live in the arena.
    pub(crate) fn new(
        snapshot: &'a Snapshot,
        request: &'a AdmissionRequest<'a>,
        options: &'a Options<'a>,
        arena: &'a Arena,
    ) -> Self {
        let work = Work::new(options.interrupt);
        // The result is not needed here: if the interrupt returns true, `work` checks it again before the first evaluation, which then
        // fails.
        let _ = work.ask();
        Dispatch {
            snapshot,
            request,
            options,
            work,
            arena,
            authorizer_values: OnceCell::new(),
            request_value: OnceCell::new(),
            objects: OnceCell::new(),
            inputs: Cell::new(None),
            namespace: OnceCell::new(),
            namespace_values: OnceCell::new(),
        }
    }

    pub(crate) fn request(&self) -> &'a AdmissionRequest<'a> {
        self.request
    }

    pub(crate) fn arena(&self) -> &'a Arena {
        self.arena
    }

    pub(crate) fn observer(&self) -> &'a dyn Observer {
        self.options.observer
    }

    pub(crate) fn cost_budget(&self) -> Option<i64> {
        self.options.cost_budget
    }

    /// The namespaces and equivalent resources, which matching needs besides the request.
    pub(crate) fn surroundings(&self) -> Surroundings<'a> {
        Surroundings {
            namespaces: self.snapshot.namespaces(),
            equivalents: self.snapshot.equivalents(),
        }
    }

    /// Determines whether a policy matches the request. `latest` holds the latest matcher and its result, because many policies have the
    /// same match constraints.
    fn matched<'b>(
        &self,
        policy: &'b CompiledPolicy,
        latest: &mut Option<(&'b Matcher, Option<Matched<'a>>)>,
    ) -> Result<Option<Matched<'a>>, String> {
        let matcher = &policy.matcher;
        match latest {
            Some((known, matched)) if known.is_same(matcher) => Ok(*matched),
            _ => {
                let matched = matcher.policy_matches(self.request, self.surroundings())?;
                *latest = Some((matcher, matched));
                Ok(matched)
            }
        }
    }

    /// Evaluates a policy for each of its bindings, and adds the results to the decision. `matched` tells whether the policy matches.
    ///
    /// # Errors
    ///
    /// The namespace of the request does not exist. The caller must deny the request, regardless of failure policies.
    fn ask<'b>(
        &self,
        policy: &'b CompiledPolicy,
        matched: Result<Option<Matched<'a>>, String>,
        bindings: impl Iterator<Item = &'b CompiledBinding> + Clone,
        memory: &mut EvaluationMemory,
        decision: &mut Decision,
    ) -> Result<(), String> {
        let (request, observer) = (self.request, self.options.observer);
        let around = self.surroundings();
        observer.policy_matched(policy.name(), &matched);
        let matched = match matched {
            Ok(Some(matched)) => matched,
            Ok(None) => return Ok(()),
            Err(error) => {
                decision.misconfigured(policy, None, &error, observer);
                return Ok(());
            }
        };
        let kind = policy.policy().spec.param_kind.as_ref();
        if let Err(error) = self.check_param_kind(kind) {
            decision.misconfigured(policy, None, &error, observer);
            return Ok(());
        }
        let selections = bindings
            .clone()
            .filter_map(|binding| binding.params.as_ref());
        let known = self.params_of(kind, selections);
        // The previous policy may have used the arena; `decide` resets it after the last policy.
        if memory.policy.allocated_bytes() > 0 {
            memory.policy.reset();
        }
        let shared = &memory.policy;
        let is_repeated = known.is_some() || bindings.size_hint() != (1, Some(1));
        let mut session = None;
        let mut annotations = Annotations::default();
        for binding in bindings {
            let matches = binding.matcher.binding_matches(request, around);
            observer.binding_matched(policy.name(), binding.name(), &matches);
            let mut is_interrupted = self.is_interrupted();
            let params = match matches {
                Ok(false) => continue,
                // An interrupted binding fails anyway, so its params, which may be many, are not collected.
                Ok(true) if is_interrupted => Ok(Found::One(None)),
                Ok(true) => self.collect(kind, known.as_ref(), binding.params.as_ref()),
                Err(error) => Err(error),
            };
            let params = match params {
                Ok(params) => params,
                Err(error) => {
                    decision.misconfigured(policy, Some(binding), &error, observer);
                    continue;
                }
            };
            let session = match &session {
                Some(session) => session,
                None => session.insert(self.session(policy, matched, is_repeated, shared)?),
            };
            for &param in params.all() {
                is_interrupted = is_interrupted || self.is_interrupted();
                let found = &mut memory.found;
                match is_interrupted {
                    true => policy.fail("operation interrupted".to_owned(), found),
                    false => {
                        let (runner, budget) = (self.runner(&memory.param), self.cost_budget());
                        let params = param_value(param, &memory.param);
                        session.evaluate(params, &runner, budget, found);
                    }
                }
                let is_silent = found.is_silent();
                if !is_silent && found.has_failed() {
                    // The failure may be an interrupt, after which the next evaluation must fail too.
                    let _ = self.work.ask();
                }
                observer.evaluated(policy.name(), binding.name(), param, found);
                if !is_silent {
                    let server = self.options.server;
                    decision.enforce(policy, binding, found, &mut annotations, server);
                }
                found.clear();
                if memory.param.allocated_bytes() > 0 {
                    memory.param.reset();
                }
                if is_interrupted {
                    break;
                }
            }
        }
        annotations.publish(policy.name(), decision);
        Ok(())
    }

    /// Begins the evaluation of a policy. Values that other policies cannot share are allocated in `arena`.
    ///
    /// # Errors
    ///
    /// The namespace of the request does not exist.
    #[inline(never)]
    fn session<'b>(
        &'b self,
        policy: &'b CompiledPolicy,
        matched: Matched<'a>,
        is_repeated: bool,
        arena: &'b Arena,
    ) -> Result<Session<'b>, String> {
        let namespace = self.namespace()?;
        let inputs = self.shared_inputs(policy.reads(), matched, namespace, arena);
        let runner = self.runner(arena);
        Ok(Session::new(policy, inputs, runner, is_repeated))
    }

    /// Checks that the API server serves the kind of a policy's params. A kind is assumed to be served unless the host has set
    /// `ParamFault::NotFound`.
    pub(crate) fn check_param_kind(&self, kind: Option<&ParamKind>) -> Result<(), String> {
        let params = |kind| self.snapshot.params(kind).0.map(|params| (params, kind));
        let known = kind.and_then(params);
        known.map_or(Ok(()), |(params, kind)| params.check_found(kind))
    }

    /// The source of the params for a policy with this `paramKind`; `None` if the policy has no `paramKind`.
    ///
    /// If the snapshot does not know whether the kind is namespaced, the kind counts as namespaced in two cases: it belongs to the core
    /// group and is not one of `CLUSTER_KINDS`, or the `paramRef` of a binding sets a namespace.
    pub(crate) fn params_of<'b>(
        &self,
        kind: Option<&ParamKind>,
        mut selections: impl Iterator<Item = &'b ParamSelection>,
    ) -> Option<ParamSource<'a>> {
        let kind = kind?;
        let (params, is_namespaced) = self.snapshot.params(kind);
        let of_core = kind.api_version == "v1" && !CLUSTER_KINDS.contains(&kind.kind.as_str());
        let is_namespaced = is_namespaced
            .unwrap_or_else(|| of_core || selections.any(ParamSelection::has_namespace));
        let namespace = self.request.namespace;
        Some(ParamSource::new(params, is_namespaced, namespace))
    }

    /// The params that a binding selects. If the policy has no `paramKind` or the binding has no `paramRef`, the policy is evaluated once
    /// for the binding, with `None`.
    pub(crate) fn collect(
        &self,
        kind: Option<&ParamKind>,
        source: Option<&ParamSource<'a>>,
        selection: Option<&ParamSelection>,
    ) -> Result<Found<'a>, String> {
        let (Some(kind), Some(source), Some(selection)) = (kind, source, selection) else {
            return Ok(Found::One(None));
        };
        (source.params).map_or(Ok(()), |params| params.check_synced(kind))?;
        selection.collect(source)
    }

    /// The namespace of the request's object, if it has one. A Namespace object has none, although its requests contain a namespace name.
    pub(crate) fn namespace(&self) -> Result<Option<&'a Namespace>, String> {
        let find = || {
            let GroupVersionKind {
                group,
                version,
                kind,
            } = &self.request.kind;
            let is_namespace = group.is_empty() && version == "v1" && kind == "Namespace";
            let name = &self.request.namespace;
            if is_namespace || name.is_empty() {
                return Ok(None);
            }
            self.snapshot.namespaces().find(name).map(Some)
        };
        self.namespace.get_or_init(find).clone()
    }

    /// Whether a policy matches the request's own kind and not an equivalent kind. Most policies do, and they share the objects of the
    /// request.
    fn is_as_sent(&self, matched: Matched<'_>) -> bool {
        ptr::eq(matched.kind, &self.request.kind)
    }

    /// The object and the old object in the kind that a policy matches. All policies share the objects in the request's own kind.
    fn objects(&self, matched: Matched<'a>) -> Objects<'a> {
        let AdmissionRequest {
            object, old_object, ..
        } = self.request;
        let convert = || [object, old_object].map(|each| as_kind(*each, matched.kind, self.arena));
        match self.is_as_sent(matched) {
            true => *self.objects.get_or_init(convert),
            false => convert(),
        }
    }

    /// The inputs of a policy's expressions, except params. Inputs that other policies cannot share are allocated in `arena`.
    fn shared_inputs<'b>(
        &'b self,
        reads: Reads,
        matched: Matched<'a>,
        namespace: Option<&'a Namespace>,
        arena: &'b Arena,
    ) -> &'b Inputs<'b> {
        if !self.is_as_sent(matched) {
            let objects = self.objects(matched);
            return arena
                .bump()
                .alloc(self.inputs_of(reads, matched, objects, namespace, arena));
        }
        if let Some((known, inputs)) = self.inputs.get()
            && known == reads
        {
            return inputs;
        }
        let objects = self.objects(matched);
        let inputs = self.inputs_of(reads, matched, objects, namespace, self.arena);
        let inputs: &'a Inputs<'a> = self.arena.bump().alloc(inputs);
        self.inputs.set(Some((reads, inputs)));
        inputs
    }

    /// The inputs of a policy's expressions, except params. Inputs that no expression reads are not built.
    pub(crate) fn inputs_of<'b>(
        &self,
        reads: Reads,
        matched: Matched<'b>,
        [object, old_object]: Objects<'b>,
        namespace: Option<&'a Namespace>,
        arena: &'b Arena,
    ) -> Inputs<'b>
    where
        'a: 'b,
    {
        let request = |resource| match reads.request {
            false => Value::NULL,
            true if self.is_as_sent(matched) => {
                let sent = self.request;
                let make = || sent.value(&sent.kind, &sent.resource, self.arena);
                *self.request_value.get_or_init(make)
            }
            true => self.request.value(matched.kind, resource, arena),
        };
        let [whole, exposed] = match namespace {
            Some(namespace) if reads.namespace => *self
                .namespace_values
                .get_or_init(|| namespace.values(self.arena)),
            _ => [Value::NULL; 2],
        };
        Inputs {
            object,
            old_object,
            request: request(matched.resource),
            original_request: request(&self.request.resource),
            namespace_object: exposed,
            whole_namespace: whole,
            authorizer: reads.authorizer.then(|| self.authorizer()),
        }
    }

    /// The values of `authorizer` and `authorizer.requestResource`. All policies share them and their cached answers.
    fn authorizer(&self) -> (Value<'a>, Value<'a>) {
        let make = || authorizer_values(self.request, self.options.authorizer, self.arena);
        *self.authorizer_values.get_or_init(make)
    }

    pub(crate) fn runner<'b>(&'b self, arena: &'b Arena) -> Runner<'b> {
        Runner {
            arena,
            interrupt: self.options.interrupt,
            observer: self.options.observer,
        }
    }

    /// The work counter of the decision, which checks the interrupt of the request.
    pub(crate) fn work(&self) -> &Work<'a> {
        &self.work
    }

    /// Whether the decision is interrupted before the next evaluation. The interrupt is checked only once for several evaluations: it
    /// usually reads the clock, which takes up to 50 ns, as long as a short evaluation.
    fn is_interrupted(&self) -> bool {
        self.work.spend(WORK_PER_EVALUATION).is_err()
    }
}

/// The value of `params` in the arena of the current evaluation.
pub(crate) fn param_value<'a>(param: Option<&'a KeptObject>, arena: &'a Arena) -> Value<'a> {
    param.map_or(Value::NULL, |param| param.value(arena))
}

/// The object with the `apiVersion` and `kind` that a policy matches. All other fields are assumed to be the same in every version.
pub(crate) fn as_kind<'a>(
    object: Value<'a>,
    kind: &'a GroupVersionKind,
    arena: &'a Arena,
) -> Value<'a> {
    let is_object = object.as_map().is_some();
    if !is_object || kind.is(text_field(object, "apiVersion"), text_field(object, "kind")) {
        return object;
    }
    let api_version = arena.bump().alloc_str(&kind.api_version());
    let mut fields = fields_of(object);
    fields.insert("apiVersion", Value::from(&*api_version));
    fields.insert("kind", Value::from(&kind.kind));
    arena.object(fields)
}

/// The values of `authorizer` and `authorizer.requestResource`.
fn authorizer_values<'a>(
    request: &AdmissionRequest<'_>,
    authorizer: Option<&Arc<dyn Authorizer>>,
    arena: &'a Arena,
) -> (Value<'a>, Value<'a>) {
    let authorizer = authorizer.map_or_else(|| Arc::new(NoOpinion) as _, Arc::clone);
    let caching = CachingAuthorizer::new(authorizer);
    let value = AuthorizerValue::new(Arc::clone(&request.user), Arc::new(caching));
    let resource = ResourceAttributes {
        api_group: request.resource.group.to_string(),
        resource: request.resource.resource.to_string(),
        subresource: request.subresource.to_owned(),
        namespace: request.namespace.to_owned(),
        name: request.name.to_owned(),
        ..ResourceAttributes::default()
    };
    let check = ResourceCheck::new(value.clone(), resource);
    (arena.opaque(value), arena.opaque(check))
}
