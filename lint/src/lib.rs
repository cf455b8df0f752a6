//! What is wrong with policies, definitions and the other places where Kubernetes takes CEL, before a cluster sees them:
//! what an API server refuses, and what it accepts and is probably not meant so. Layer 4: no IO.
//!
//! [`Linter`] finds [`Problem`](gavel_manifest::Problem)s in documents. What each rule finds is a row of
//! [`rules::RULES`].

mod apis;
mod bounds;
mod builtin;
mod configuration;
mod context;
mod cost;
mod definition;
mod expressions;
mod kinds;
mod linter;
mod meant;
mod messages;
mod page;
mod policy;
mod references;
mod refusal;
mod registration;
mod resources;
pub mod rules;
mod said_by_schema;
mod selection;
mod spelling;
mod stricter;
mod suppression;
mod types;
mod unclosed;

pub use bounds::share;
pub use context::{Linter, Options};
pub use cost::{Figure, ObjectCost, RuleCost, TotalCost};
pub use meant::{explain_syntax, help};
pub use page::document as rules_document;
pub use selection::Selection;
pub use spelling::nearest;
pub use suppression::Suppressions;
