//! Rehearses an upgrade of the API server: definitions, policies, webhooks and sample requests are given to two API servers. If
//! their answers differ, the rows of the table of differences are toggled until the cause is found. Layer 5: no IO, no clock.
//!
//! [`Upgrade`] takes the objects and requests and gives the changes, and has an example. Use it before an upgrade or a rollback;
//! `gavel upgrade-check` is this crate on the command line. The differences between Kubernetes 1.34 and 1.37 are known; of older
//! versions, only which functions they lack. Compared is what Gavel reproduces: CEL, definitions and admission policies.

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
