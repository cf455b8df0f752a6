//! Stores the objects that decide requests: policies, bindings, params, namespaces, CustomResourceDefinitions and RBAC objects. Layer 4: no
//! IO, no clock, no HTTP.
//!
//! A [`Store`] handles [`Event`]s from any number of origins, such as files and clusters, and stores the last valid version of every
//! object. [`Store::publish`] builds a [`State`] from the current objects. A state is immutable: a server replaces it by swapping a
//! pointer, and requests in flight continue with the state that they began with.
//!
//! ```
//! use gavel_libraries::Server;
//! use gavel_state::{Event, Object, Origin, Store};
//! use serde_json::json;
//!
//! let mut store = Store::new(Server::default())?;
//! let cluster = Origin::new("cluster");
//! let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"stage": "prod"}}});
//! store.handle(Event::Applied(Object::sent(cluster, &namespace)));
//! assert_eq!(store.publish().counts().namespaces, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate watches nothing: hosts send events. All objects are held in memory, so hosts should send only the objects that policies read.

mod building;
mod definitions;
mod environments;
mod equivalents;
mod live;
mod object;
mod prepare;
mod registrations;
mod state;
mod store;
mod unseen;

pub use definitions::{Definitions, Findings};
pub use live::{Answer, Found, Live, Published};
pub use object::{Object, ObjectKey, Origin, as_built_in};
pub use prepare::Sort;
pub use registrations::{NamedParams, Registrations};
pub use state::{Counts, Rejection, State};
pub use store::{Event, Store};
pub use unseen::Unseen;
