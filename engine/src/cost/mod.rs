//! Costs: ranges before an evaluation, exact numbers during it (cel-go `checker/cost.go`, `interpreter/runtimecost.go`).
//!
//! A cost unit has no dimension; Kubernetes' limits and budgets are given in cost units. The estimator and the tracker use the same
//! formulas: the estimator applies them to ranges of sizes, the tracker to exact sizes.

mod call;
pub mod formulas;
mod range;
#[cfg(test)]
mod tests;

pub use call::{CallEstimate, CallSite, Cost, Formula, Track, tracked_size};
pub(crate) use call::{of_texts, traversal_of};
pub use range::{CostEstimate, SizeEstimate};

/// The cost of a variable, a selection or an index, in cost units.
pub const STEP: u64 = 1;
/// The cost of a list literal, in cost units.
pub const LIST: u64 = 10;
/// The cost of a map literal, in cost units.
pub const MAP: u64 = 30;
/// The cost of a struct literal, in cost units.
pub const STRUCT: u64 = 40;
/// The cost per code point or byte that is read, in cost units.
pub const TRAVERSAL_FACTOR: f64 = 0.1;
/// The factor for each code point of a regular expression. The factors of all code points together multiply the cost of reading the text.
pub const REGEX_FACTOR: f64 = 0.25;
