//! The HTTP handlers: reviews, health, metrics, and errors in Kubernetes' words.

use std::sync::Arc;

use crate::config::Limits;
use crate::evaluation::Evaluations;
use crate::policies::Policies;
use crate::telemetry::Metrics;

pub(crate) mod answers;
mod body;
mod deadline;
mod health;
mod invalid;
mod metrics;
mod mutate;
mod observe;
mod review;
pub(crate) mod routes;
mod validate;
mod writer;

/// The state that handlers share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) policies: Policies,
    pub(crate) health: health::Health,
    pub(crate) metrics: Arc<Metrics>,
    bodies: body::BodyLimits,
    evaluations: Evaluations,
}

impl App {
    pub(crate) fn new(policies: Policies, metrics: Arc<Metrics>, limits: &Limits) -> Self {
        App {
            policies,
            health: health::Health::default(),
            bodies: body::BodyLimits::new(limits.body, limits.memory),
            evaluations: Evaluations::new(limits, Arc::clone(&metrics)),
            metrics,
        }
    }
}
