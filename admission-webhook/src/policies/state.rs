//! One state.
use super::manifests::Object;
use crate::telemetry::Metrics;

#[derive(Debug)]
pub(crate) struct State {}

impl State {
    pub(super) fn new(objects: Vec<Object>) -> Result<Self, Vec<String>> {
        let mut problems = Vec::new();
        for o in &objects { if o.text("kind").is_empty() || o.metadata("name").is_empty() { problems.push(o.problem("kind", "x")); } }
        if problems.is_empty() { Ok(State {}) } else { Err(problems) }
    }
    pub(super) fn announce(&self, metrics: &Metrics) { metrics.set_objects("x", 0); }
}
