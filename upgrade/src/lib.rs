//! Rehearses an upgrade of the API server: it computes the answers of two API servers about definitions, policies, webhooks and sample
//! requests. If the answers differ, it toggles each row of the table of differences between versions, one at a time, to find the causes.
//! Layer 5: this crate does no IO and reads no clock.
//!
//! [`Upgrade`] takes the objects and requests, and returns the changes. Use it before an upgrade or a rollback; `gavel upgrade-check` is
//! this crate on the command line.
//!
//! ```
//! use gavel_upgrade::Upgrade;
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut upgrade = Upgrade::new("1.36".parse()?, "1.37".parse()?);
//! upgrade.add(&json!({
//!     "apiVersion": "admissionregistration.k8s.io/v1",
//!     "kind": "ValidatingAdmissionPolicy",
//!     "metadata": {"name": "names"},
//!     "spec": {"validations": [{"expression": "object.metadata.name.startsWith('web')"}]},
//! }))?;
//! for (_object, changes) in upgrade.changes(|| ())? {
//!     for change in changes {
//!         println!("{}: {:?}", change.field, change.effect());
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! This crate knows the differences between Kubernetes 1.34 and 1.37. For older versions,
//! it only knows which functions they lack. The comparison covers what Gavel reproduces: CEL, definitions and admission policies.

mod cause;
mod change;
mod definition;
mod expressions;
mod facts;
mod policy;
mod sample;
mod upgrade;

pub use cause::Cause;
pub use change::{Change, Effect};
pub use facts::Topic;
pub use upgrade::{InputError, Subject, Upgrade};
