//! Decides a request by all policies that match it (apiserver `pkg/admission/plugin/policy/validating/dispatcher.go`).

mod state;

use std::cell::Cell;

use gavel_engine::value::Arena;

use crate::annotations::Annotations;
use crate::compiled::CompiledPolicy;
use crate::compiled_binding::CompiledBinding;
use crate::decision::{Decision, namespace_not_found};
use crate::evaluation::Session;
use crate::index::Snapshot;
use crate::matching::{Matched, Matcher};
use crate::options::Options;
use crate::outcome::Evaluation;
use crate::params::Found;
use crate::request::AdmissionRequest;

pub(crate) use state::{Dispatch, Objects, param_value};

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

impl<'a> Dispatch<'a> {
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
                let matched = matcher.policy_matches(self.request(), self.surroundings())?;
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
        let (request, observer) = (self.request(), self.observer());
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
            let converted = match self.is_as_sent(matched) || params.all().is_empty() {
                true => Ok(()),
                false => self.objects(matched).map(|_| ()),
            };
            if let Err(error) = converted {
                let error = format!("failed to convert object version: {error}");
                decision.misconfigured(policy, Some(binding), &error, observer);
                continue;
            }
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
                    let _ = self.work().ask();
                }
                observer.evaluated(policy.name(), binding.name(), param, found);
                if !is_silent {
                    decision.enforce(policy, binding, found, &mut annotations, self.server());
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
}
