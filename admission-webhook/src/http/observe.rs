//! The outcomes of policies, as metrics count them (apiserver `pkg/admission/plugin/policy/validating/dispatcher.go`).

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use gavel_policy::{
    AuditOutcome, Evaluation, KeptObject, Matched, Observer, PolicyDecision,
    PolicyDecisionEvaluation,
};

use crate::evaluation::Turn;
use crate::telemetry::{CheckLabels, Metrics, bounded, enforcement};
use gavel_state::State;

/// Collects the outcomes until it is known whether the decision counts.
pub(super) struct Checks<'s> {
    state: &'s State,
    turn: &'s Turn,
    /// The uid of the request.
    uid: &'s str,
    /// The policy whose evaluation was interrupted: of validating policies the first that ended after the interrupt, of mutating policies
    /// the last that began before it.
    stopped: RefCell<Option<String>>,
    /// When the clock was last read: when the current policy was found to match the request, or after its latest evaluation that denied,
    /// failed or had audit annotations.
    began: Cell<Instant>,
    /// The number of evaluations since the clock was last read.
    evaluations: Cell<u32>,
    found: RefCell<Vec<Check>>,
    /// The policies that could not be evaluated at all and whose `failurePolicy` is `Ignore`, with the errors.
    ignored: RefCell<Vec<(String, String)>>,
}

/// One result of a policy for the metrics.
struct Check {
    labels: CheckLabels,
    took: Duration,
    /// The error of a policy that failed and whose `failurePolicy` is `Ignore`; otherwise `None`.
    failed_open: Option<String>,
}

impl<'s> Checks<'s> {
    pub(super) fn new(state: &'s State, turn: &'s Turn, uid: &'s str) -> Self {
        Checks {
            state,
            turn,
            uid,
            stopped: RefCell::default(),
            began: Cell::new(Instant::now()),
            evaluations: Cell::new(0),
            found: RefCell::default(),
            ignored: RefCell::default(),
        }
    }

    /// The policy whose evaluation was interrupted; empty if none was. Only meaningful after an interrupt.
    pub(super) fn stopped(&self) -> String {
        self.stopped.borrow().clone().unwrap_or_default()
    }

    /// Counts the outcomes, and logs the failures that were ignored because of a `failurePolicy`.
    pub(super) fn count(self, metrics: &Metrics) {
        let uid = self.uid;
        for (policy, error) in self.ignored.into_inner() {
            metrics.failed_open(&policy);
            tracing::warn!(
                uid = bounded(uid),
                policy,
                error = bounded(&error),
                "failed open"
            );
        }
        for check in self.found.into_inner() {
            if let Some(error) = &check.failed_open {
                let (policy, binding) = (&check.labels.policy, &check.labels.policy_binding);
                metrics.failed_open(policy);
                let error = bounded(error);
                tracing::warn!(uid = bounded(uid), policy, binding, error, "failed open");
            }
            metrics.check(&check.labels, check.took);
        }
    }

    fn begin(&self, now: Instant) {
        self.began.set(now);
        self.evaluations.set(0);
    }

    /// The duration that is counted for the evaluation that just ended: the mean duration of all evaluations since the clock was last read.
    /// The clock is not read after each evaluation, because reading it can take as long as an evaluation.
    fn took(&self) -> Duration {
        let now = Instant::now();
        let took = now.saturating_duration_since(self.began.get());
        let evaluations = self.evaluations.get().max(1);
        self.begin(now);
        took.checked_div(evaluations).unwrap_or(took)
    }

    fn note(
        &self,
        (policy, binding): (&str, &str),
        error_type: &'static str,
        action: &'static str,
        took: Duration,
        failed_open: Option<&str>,
    ) {
        let labels = CheckLabels {
            policy: policy.to_owned(),
            policy_binding: binding.to_owned(),
            error_type,
            enforcement_action: action,
        };
        let failed_open = failed_open.map(str::to_owned);
        let check = Check {
            labels,
            took,
            failed_open,
        };
        self.found.borrow_mut().push(check);
    }
}

impl Observer for Checks<'_> {
    fn follows_expressions(&self) -> bool {
        false
    }

    fn policy_matched(&self, _policy: &str, matched: &Result<Option<Matched<'_>>, String>) {
        if let Ok(Some(_)) = matched {
            self.begin(Instant::now());
        }
    }

    fn ignored(&self, policy: &str, _binding: Option<&str>, error: &str) {
        let ignored = (policy.to_owned(), error.to_owned());
        self.ignored.borrow_mut().push(ignored);
    }

    fn refused(&self, policy: &str, binding: Option<&str>, _error: &str) {
        let names = (policy, binding.unwrap_or_default());
        let took = self.began.get().elapsed();
        self.note(names, "invalid_error", "deny", took, None);
    }

    fn invocation(&self, policy: &str, binding: &str, _: Option<&KeptObject>, _: bool) {
        tracing::debug!(uid = bounded(self.uid), policy, binding, "evaluated");
    }

    fn invoking(&self, policy: &str, _position: usize) {
        if !self.turn.was_over() {
            self.stopped.replace(Some(policy.to_owned()));
        }
    }

    fn evaluated(
        &self,
        policy: &str,
        binding: &str,
        _param: Option<&KeptObject>,
        found: &Evaluation,
    ) {
        tracing::debug!(uid = bounded(self.uid), policy, binding, "evaluated");
        if self.turn.was_over() {
            let mut stopped = self.stopped.borrow_mut();
            stopped.get_or_insert_with(|| policy.to_owned());
        }
        self.evaluations.update(|count| count.saturating_add(1));
        let is_noted = |decision: &PolicyDecision| {
            decision.denies || decision.evaluation == PolicyDecisionEvaluation::Error
        };
        let is_admitted = !found.decisions.iter().any(is_noted);
        if is_admitted && found.audit_annotations.is_empty() {
            return;
        }
        let took = self.took();
        let names = (policy, binding);
        for decision in &found.decisions {
            let error = error_type(&decision.message);
            if decision.denies {
                for action in self.state.actions(binding) {
                    self.note(names, error, enforcement(action), took, None);
                }
            } else if decision.evaluation == PolicyDecisionEvaluation::Error {
                self.note(names, error, "allow", took, Some(&decision.message));
            }
        }
        for annotation in &found.audit_annotations {
            if let AuditOutcome::Error(error) = &annotation.outcome {
                self.note(names, error_type(error), "deny", took, None);
            }
        }
    }
}

/// The type of an error, derived from its text as upstream does. A denial without an error is an `invalid_error`.
fn error_type(message: &str) -> &'static str {
    if message.starts_with("compilation") {
        "compile_error"
    } else if message.starts_with("validation failed due to running out of cost budget") {
        "out_of_budget"
    } else {
        "invalid_error"
    }
}
