//! Cost units: ranges before an evaluation, exact numbers during it (cel-go `checker/cost.go`,
//! `interpreter/runtimecost.go`).
//!
//! A cost unit has no dimension; Kubernetes' limits and budgets are given in it. The same formula serves the estimate,
//! which gives it ranges of sizes, and the tracker, which gives it exact ones.

mod call;
pub mod formulas;
mod range;
#[cfg(test)]
mod tests;

pub use call::{CallEstimate, CallSite, Cost, Formula, Track, tracked_size};
pub use range::{CostEstimate, SizeEstimate};

/// Of a variable, a selection or an index.
pub const STEP: u64 = 1;
/// Of a list literal.
pub const LIST: u64 = 10;
/// Of a map literal.
pub const MAP: u64 = 30;
/// Of a struct literal.
pub const STRUCT: u64 = 40;
/// Per code point or byte that is read.
pub const TRAVERSAL_FACTOR: f64 = 0.1;
/// Per code point of a regular expression.
pub const REGEX_FACTOR: f64 = 0.25;
