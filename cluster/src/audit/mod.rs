//! Evaluates policies over existing objects, as if each object were created now.

mod judge;
mod pages;
mod plan;
mod reports;
mod run;
mod shard;

pub use judge::{Audited, Finding, Outcome, judge};
pub use reports::Reports;
pub use run::{Audit, AuditError, Observer, Summary};
pub use shard::Shard;
