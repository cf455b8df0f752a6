//! What all resources of the Kubernetes API share: versions, names and formats, field paths, validation errors, label selectors, and JSON
//! as Go writes it. The crate follows `k8s.io/apimachinery`. It is layer 1: no CEL, no IO.
//!
//! The crate also has the table of differences between versions of the API server. Code asks a [`server::Server`] whether it has a
//! difference, never for its version:
//!
//! ```
//! use gavel_apimachinery::server::{Difference, Server};
//!
//! let old: Server = "1.34".parse()?;
//! let new: Server = "1.37".parse()?;
//! assert!(new.has(Difference::RulesShowValues) && !old.has(Difference::RulesShowValues));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod field;
pub mod formats;
pub mod json;
pub mod labels;
pub mod meta;
pub mod names;
pub mod quantity;
pub mod serializer;
pub mod server;
pub mod shape;
pub mod status;
pub mod version;
pub mod webhook;
