//! Objects of Kubernetes' built-in kinds as API servers hold them: decoded into Go types, with all defaults.

mod complete;
mod containers;
mod defaults;
mod dependent;
mod fields;
mod image;
mod kubernetes;
mod typed;

#[cfg(test)]
mod tests;

pub use complete::complete;
pub use kubernetes::Kubernetes;
pub use typed::{convert, decoding_error};
