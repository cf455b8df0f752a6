//! The types of Kubernetes' libraries.

pub mod cidr;
pub mod format;
pub mod semver;
pub mod url;
