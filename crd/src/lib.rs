//! Compiles CustomResourceDefinitions, computes the cost of their rules, and validates their objects. Layer 3: no IO, no clock.
//!
//! [`definition`] validates a definition as the API server does on create and update. A [`CompiledCrd`] is compiled once. Any number of
//! threads can then use it to decode, default, prune and validate objects:
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
//! If the host passes the old object, transition rules run, and unchanged values that violate the schema are tolerated (ratcheting).
//! Conversion between versions is left to the host.
//!
//! The rules of one object cost at most the budget that the host passes, and compute at most 64 MiB beyond the object. The evaluation of
//! rules has no deadline unless the host sets [`ValidateOptions::interrupt`](resource::ValidateOptions::interrupt).

pub mod decode;
pub mod definition;
pub mod resource;
pub mod rule;

pub use resource::CompiledCrd;
