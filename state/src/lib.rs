//! What a server knows: policies, bindings, params, namespaces, definitions and RBAC. Layer 4: no IO, no clock, no HTTP.
//!
//! A [`Store`] takes in an [`Event`] after another, of any number of origins (files, the watch of a cluster), and keeps the
//! last good version of every object. [`Store::publish`] makes a [`State`] of what is known: immutable, swapped as one
//! pointer, and what requests are decided by.

mod definitions;
mod environments;
mod object;
mod prepare;
mod state;
mod store;
mod unseen;

pub use definitions::{Definitions, Findings};
pub use object::{Object, ObjectKey, Origin};
pub use state::{Counts, State};
pub use store::{Event, Store};
