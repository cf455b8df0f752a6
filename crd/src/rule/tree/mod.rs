//! Runs the rules of a schema on an object (apiextensions-apiserver `pkg/apiserver/schema/cel/validation.go`).

use std::ops::ControlFlow;

use gavel_apimachinery::field::Path;
use gavel_engine::value::Json;
use gavel_golang::work::Interrupt;
use gavel_schema::correlate::Correlated;

mod evaluate;
mod limits;
mod node;
mod ratchet;
mod report;
mod schema_rules;
mod walk;

pub use evaluate::{COST_BUDGET, PER_CALL_LIMIT, RuleObserver};
pub use limits::RuleLimits;
pub(crate) use node::RuleNode;
pub use schema_rules::{RuleFindings, SchemaRules};

use evaluate::Subject;
use ratchet::Ratchet;
use report::Report;
use walk::RuleWalk;

impl RuleNode {
    /// Runs the rules on a whole object. `was` is the object before an update; `budget` is in cost units.
    pub(crate) fn run<'d>(
        &'d self,
        object: &'d Json,
        was: Option<Correlated<'_, 'd>>,
        budget: i64,
        interrupt: Interrupt<'_>,
        observer: RuleObserver<'_>,
    ) -> Report {
        let subject = Subject {
            path: &Path::root(),
            node: self,
            value: object,
            old: was.map(Correlated::old_value).filter(|old| !old.is_null()),
            ratchet: was.map(Ratchet::new).unwrap_or_default(),
        };
        let limits = RuleLimits {
            budget,
            interrupt,
            ..RuleLimits::default()
        };
        run(&subject, &limits, observer)
    }

    /// Runs the rules on a part of an object, such as a default, at `path`. Errors are not ratcheted.
    pub(crate) fn run_on_part<'d>(
        &'d self,
        path: &Path<'_>,
        value: &'d Json,
        old: Option<&'d Json>,
        budget: i64,
    ) -> Report {
        let subject = Subject {
            path,
            node: self,
            value,
            old,
            ratchet: Ratchet::default(),
        };
        let limits = RuleLimits {
            budget,
            ..RuleLimits::default()
        };
        run(&subject, &limits, None)
    }
}

fn run(subject: &Subject<'_, '_>, limits: &RuleLimits<'_>, observer: RuleObserver<'_>) -> Report {
    let mut walk = RuleWalk::new(limits.budget, limits.per_call, limits.interrupt, observer);
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) = walk.visit(subject);
    walk.report
}
