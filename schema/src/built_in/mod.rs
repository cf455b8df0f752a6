//! Reads objects of Kubernetes' built-in kinds as API servers do: decodes them into Go types and sets all defaults.

mod complete;
mod containers;
mod deep_equal;
mod defaults;
mod dependent;
mod fields;
mod image;
mod kubernetes;
mod nested;
mod scope;
mod typed;

#[cfg(test)]
mod tests;

pub use complete::{complete, is_always_set};
pub use deep_equal::structs_equal;
pub use kubernetes::Kubernetes;
pub use nested::{Nested, each_nested};
pub use scope::is_cluster_scoped;
pub use typed::{DecodingError, convert, decoding_error};
