//! Differences between the expected and the actual results of a test.

use gavel_engine::value::Json;
use gavel_policy::mutating::difference;

use super::{Decision, Expected, Question, Validated, metadata};
use crate::trace::Step;
use crate::world::{Action, Ruling};
use gavel_policy::PolicyDecisionEvaluation;

/// A result that differs from a test's expectation.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The name of the result: `decision`, `message`, `message of the CustomResourceDefinition NAME`, `warnings`, `auditAnnotations[KEY]`,
    /// `object`, `stored` or `patch`.
    pub what: String,
    /// The expected value; null for the messages of an unexpected denial.
    pub expected: Json,
    /// The actual value.
    pub actual: Json,
}

/// What decided about the request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decided<'r> {
    pub(super) ruling: &'r Ruling,
    pub(super) validated: Option<&'r Validated>,
    pub(super) steps: &'r [Step],
    /// As in [`Test::is_bare`](super::Test::is_bare).
    pub(super) is_bare: bool,
}

impl<'r> Decided<'r> {
    /// The validation by the definition, if the definition rejects the object.
    fn invalid(&self) -> Option<&'r Validated> {
        self.validated
            .filter(|validated| validated.status.is_some())
    }
}

/// The decision about the request.
pub(super) fn decision(decided: Decided<'_>) -> Decision {
    let Decided { ruling, steps, .. } = decided;
    if let Some(invalid) = decided.invalid() {
        return match invalid.fails() {
            true => Decision::Error,
            false => Decision::Deny,
        };
    }
    let failed = |step: &Step| match step {
        Step::Evaluated { evaluation, .. } => {
            let mut decisions = evaluation.decisions.iter();
            decisions.any(|decision| {
                decision.denies && decision.evaluation == PolicyDecisionEvaluation::Error
            })
        }
        Step::Failed { denies, .. } => *denies,
        _ => false,
    };
    let is_false = |step: &Step| match step {
        Step::Evaluated { evaluation, .. } => {
            let mut decisions = evaluation.decisions.iter();
            decisions.any(|decision| decision.evaluation == PolicyDecisionEvaluation::Deny)
        }
        _ => false,
    };
    let is_evaluated = |step: &Step| matches!(step, Step::Evaluated { .. });
    // A mutating policy only denies if it fails; validating policies are not evaluated then.
    let failed =
        steps.iter().any(failed) || ruling.status.is_some() && !steps.iter().any(is_evaluated);
    let denied = steps.iter().any(is_false);
    if decided.is_bare {
        // As in kaptest, an error wins over a false validation, and audit annotations do not count.
        return match ruling.is_examined {
            _ if failed => Decision::Error,
            _ if denied => Decision::Deny,
            true => Decision::Allow,
            false => Decision::Skip,
        };
    }
    match &ruling.status {
        Some(_) if failed && !denied => Decision::Error,
        Some(_) => Decision::Deny,
        None if ruling.is_examined => Decision::Allow,
        None => Decision::Skip,
    }
}

/// The differences from the expected results.
pub(super) fn differences(
    expected: &Expected,
    question: &Question,
    decided: Decided<'_>,
) -> Vec<Difference> {
    let ruling = decided.ruling;
    let mut found = Vec::new();
    let mut differ = |what: &str, expected: Json, actual: Json| {
        found.push(Difference {
            what: what.to_owned(),
            expected,
            actual,
        });
    };
    let became = decision(decided);
    let unexpected = expected.decision.filter(|wanted| match decided.is_bare {
        true => *wanted != became,
        false => !agree(*wanted, became, expected.excludes_errors),
    });
    if let Some(wanted) = unexpected {
        differ("decision", wanted.name().into(), became.name().into());
    }
    let messages = messages(decided);
    let invalid = decided.invalid();
    let message = match invalid {
        Some(invalid) => format!(
            "message of the CustomResourceDefinition {}",
            invalid.definition
        ),
        None => "message".to_owned(),
    };
    // The status of an invalid object lists all errors in one message.
    let whole = invalid.and_then(|invalid| invalid.status.as_ref());
    let whole = whole.map(|status| &status.message);
    let contain = |wanted: &str| {
        let mut messages = messages.iter().chain(whole);
        messages.any(|message| message.contains(wanted))
    };
    match &expected.message {
        Some(wanted) if !contain(wanted) => {
            differ(&message, wanted.as_str().into(), messages.into());
        }
        None if unexpected.is_some() && !messages.is_empty() => {
            differ(&message, Json::Null, messages.into());
        }
        _ => {}
    }
    if let Some(wanted) = &expected.warnings {
        let warnings = &ruling.warnings;
        let is_same = wanted.len() == warnings.len()
            && wanted
                .iter()
                .zip(warnings)
                .all(|(wanted, warning)| warning.contains(wanted));
        if !is_same {
            differ("warnings", wanted.clone().into(), warnings.clone().into());
        }
    }
    for (key, wanted) in &expected.audit_annotations {
        let actual = ruling.audit_annotations.get(key);
        if actual != Some(wanted) {
            let what = format!("auditAnnotations[{key}]");
            differ(&what, wanted.as_str().into(), actual.cloned().into());
        }
    }
    let (before, namespace) = match question {
        Question::Review(request) => {
            let namespace = request.get("namespace").and_then(Json::as_str);
            let object = request.get("object").cloned().unwrap_or_default();
            (object, namespace.unwrap_or_default())
        }
        Question::Missing(_) => (Json::Null, ""),
        Question::Subject {
            object, namespace, ..
        } => match metadata(object, "namespace") {
            "" => (object.clone(), namespace.as_str()),
            own => (object.clone(), own),
        },
    };
    let after = ruling.mutated.as_ref().unwrap_or(&before);
    if let Some(wanted) = &expected.object {
        let (mut wanted, mut after) = (wanted.clone(), after.clone());
        forget_namespace(&mut wanted, &mut after, namespace);
        if !difference(&wanted, &after).is_empty() {
            differ("object", wanted, after);
        }
    }
    if let Some(wanted) = &expected.stored {
        // An invalid object is not stored.
        let valid = decided.validated.filter(|each| each.status.is_none());
        let stored = valid.and_then(|valid| valid.prepared.clone());
        let (mut wanted, mut stored) = (wanted.clone(), stored.unwrap_or_default());
        forget_namespace(&mut wanted, &mut stored, namespace);
        if !difference(&wanted, &stored).is_empty() {
            differ("stored", wanted, stored);
        }
    }
    if let Some(wanted) = &expected.patch {
        let mut before = before.clone();
        let mut after = after.clone();
        forget_namespace(&mut before, &mut after, namespace);
        let patch = Json::Array(difference(&before, &after));
        if patch != *wanted {
            differ("patch", wanted.clone(), patch);
        }
    }
    found
}

/// Whether the actual decision satisfies the expected one. An actual `skip` also satisfies an expected `allow`, and an actual `error` also
/// satisfies an expected `deny`, unless that is excluded.
fn agree(wanted: Decision, became: Decision, excludes_errors: bool) -> bool {
    match wanted {
        Decision::Allow => matches!(became, Decision::Allow | Decision::Skip),
        Decision::Deny if !excludes_errors => matches!(became, Decision::Deny | Decision::Error),
        Decision::Deny | Decision::Error | Decision::Skip => wanted == became,
    }
}

/// The messages of the definition that rejects the object, or those of the findings that deny the request; if there are none, the message of
/// the decision's status.
pub(super) fn messages(decided: Decided<'_>) -> Vec<String> {
    let ruling = decided.ruling;
    if let Some(invalid) = decided.invalid() {
        return invalid.messages.clone();
    }
    let denials = ruling
        .findings
        .iter()
        .filter(|finding| finding.action == Action::Deny);
    let mut messages: Vec<String> = denials.map(|finding| finding.message.clone()).collect();
    if decided.is_bare {
        // Such a world does not know the actions of bindings, so that it has no findings.
        let decisions = decided.steps.iter().flat_map(|step| match step {
            Step::Evaluated { evaluation, .. } => evaluation.decisions.as_slice(),
            _ => &[],
        });
        messages.extend(
            decisions
                .filter(|each| each.denies)
                .map(|each| each.message.clone()),
        );
    }
    if let (true, Some(status)) = (messages.is_empty(), &ruling.status) {
        messages.push(status.message.clone());
    }
    messages
}

/// Removes the namespace of the request from `metadata.namespace` if only one of the two objects has it: the request sets the namespace, and
/// an expected object may omit it. Another namespace stays, because a policy must have set it.
fn forget_namespace(one: &mut Json, other: &mut Json, namespace: &str) {
    let named = |object: &Json| object.pointer("/metadata/namespace").cloned();
    let object = match (named(one), named(other)) {
        (Some(named), None) if named == namespace => one,
        (None, Some(named)) if named == namespace => other,
        _ => return,
    };
    if let Some(Json::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("namespace");
    }
}
