//! The rules of a schema, held against an object (apiextensions-apiserver `pkg/apiserver/schema/cel/validation.go`).

use std::ops::ControlFlow;

use gavel_apimachinery::field::Path;
use gavel_engine::value::Json;
use gavel_golang::work::Interrupt;
use gavel_schema::correlate::Correlated;

mod evaluate;
mod node;
mod ratchet;
mod report;
mod walk;

pub use evaluate::COST_BUDGET;
pub(crate) use node::RuleNode;

use evaluate::Subject;
use ratchet::Ratchet;
use report::Report;
use walk::RuleWalk;

impl RuleNode {
    /// Runs the rules of a whole object, with what it was if it is updated, and a budget in cost units.
    pub(crate) fn run<'d>(
        &'d self,
        object: &'d Json,
        was: Option<Correlated<'_, 'd>>,
        budget: i64,
        interrupt: Interrupt<'_>,
    ) -> Report {
        let subject = Subject {
            path: &Path::root(),
            node: self,
            value: object,
            old: was.map(Correlated::old_value).filter(|old| !old.is_null()),
            ratchet: was.map(Ratchet::new).unwrap_or_default(),
        };
        run(&subject, budget, interrupt)
    }

    /// Runs the rules of a part of an object, such as a default, that lies at `path`. What is wrong is so whether or not
    /// it was before.
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
        run(&subject, budget, None)
    }
}

fn run(subject: &Subject<'_, '_>, budget: i64, interrupt: Interrupt<'_>) -> Report {
    let mut walk = RuleWalk::new(budget, interrupt);
    let (ControlFlow::Continue(()) | ControlFlow::Break(())) = walk.visit(subject);
    walk.report
}
