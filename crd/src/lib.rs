//! CustomResourceDefinitions: their rules compiled and costed, their objects validated. Layer 3: no IO, no clock.
//!
//! [`definition`] validates a definition as the API server does when it is written. [`CompiledCrd`] compiles it once; from then on it
//! decodes, defaults, prunes and validates objects, from any number of threads:
//!
//! ```
//! use gavel_crd::{CompiledCrd, definition::Definition, resource::COST_BUDGET};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let definition = Definition::read(&json!({
//!     "metadata": {"name": "shops.example.com"},
//!     "spec": {
//!         "group": "example.com",
//!         "names": {"kind": "Shop", "plural": "shops"},
//!         "scope": "Namespaced",
//!         "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
//!             "type": "object",
//!             "properties": {"spec": {
//!                 "type": "object",
//!                 "properties": {"replicas": {"type": "integer"}},
//!                 "x-kubernetes-validations": [{"rule": "self.replicas <= 5", "message": "at most 5 replicas"}],
//!             }},
//!         }}}],
//!     },
//! }))?;
//! let compiled = CompiledCrd::compile(&definition)?;
//! let shop = json!({
//!     "apiVersion": "example.com/v1", "kind": "Shop",
//!     "metadata": {"name": "main", "namespace": "default"},
//!     "spec": {"replicas": 7},
//! });
//! let outcome = compiled.validate("v1", &shop, None, COST_BUDGET)?;
//! let errors: Vec<_> = outcome.errors().map(|error| error.to_string()).collect();
//! assert_eq!(errors, ["spec: Invalid value: at most 5 replicas"]);
//! # Ok(())
//! # }
//! ```
//!
//! With an old object, transition rules run and unchanged parts are ratcheted. Conversion between versions is left to the host.

pub mod decode;
pub mod definition;
mod error_size;
pub mod resource;
pub mod rule;

pub use resource::CompiledCrd;
