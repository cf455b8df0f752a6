//! The rules of a schema, held against an object (apiextensions-apiserver `pkg/apiserver/schema/cel/validation.go`).

use std::ops::ControlFlow;

use gavel_apimachinery::field::Path;
use gavel_engine::value::Json;
use gavel_schema::JsonSchema;
use gavel_schema::correlate::Correlated;

mod evaluate;
mod node;
mod ratchet;
mod report;
mod walk;

pub use evaluate::Interrupt;
pub(super) use node::RuleNode;

use evaluate::Subject;
use ratchet::Ratchet;
use report::Report;
use walk::Walk;

impl RuleNode {
    /// Runs the rules of a whole object, with what it was if it is updated, and a budget in cost units.
    pub(super) fn run<'d>(
        &self,
        schema: &'d JsonSchema,
        object: &'d Json,
        was: Option<Correlated<'_, 'd>>,
        budget: i64,
        interrupt: Interrupt<'_>,
    ) -> Report {
        let mut walk = Walk::new(budget, interrupt);
        let subject = Subject {
            path: &Path::root(),
            schema,
            value: object,
            old: was.map(Correlated::old_value).filter(|old| !old.is_null()),
            ratchet: was.map(Ratchet::new).unwrap_or_default(),
        };
        let (ControlFlow::Continue(()) | ControlFlow::Break(())) = walk.visit(self, &subject);
        walk.report
    }
}
