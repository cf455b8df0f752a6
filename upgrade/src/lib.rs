//! What an upgrade of the API server changes: definitions, policies, webhooks and sample requests are given to two API
//! servers, and where the answers differ, the rows of the table of differences are toggled until the cause is found. Layer 5:
//! no IO, no clock.

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
