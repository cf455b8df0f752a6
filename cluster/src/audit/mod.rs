//! Evaluates policies over existing objects, as if each object were created now.

mod object;
mod pages;
mod plan;
mod reports;
mod run;
mod shard;

pub use object::{Audited, Finding, Outcome, audit_object};
pub use reports::Reports;
pub use run::{Audit, AuditError, Observer, Summary};
pub use shard::Shard;
