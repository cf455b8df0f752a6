//! The parts that all of Kubernetes' API shares, whatever the resource: versions, names and formats, field paths, validation
//! errors, label selectors, JSON as Go writes it. Follows `k8s.io/apimachinery`. Layer 1: no CEL, no IO.
//!
//! It also has the table of differences between the answers of API servers of different versions. Code asks a [`server::Server`] for a
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
pub mod status;
pub mod version;
pub mod webhook;
