//! The types that the libraries of Kubernetes bring.

pub mod cidr;
pub mod format;
pub mod semver;
pub mod url;
