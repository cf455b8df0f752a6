//! CEL's extension libraries, and the environments of each Kubernetes version. Layer 1: on the engine alone, no IO.

pub mod authorizer;
mod base_env;
pub mod cel;
mod cel_env;
mod cost;
mod env_set;
pub mod kubernetes;
pub mod reference;
#[cfg(test)]
mod testing;
mod validation;
mod version;

pub use base_env::{FEATURES, Feature, Gated};
pub use cel_env::{CEL_FEATURES, cel_env};
pub use env_set::EnvSet;
pub use version::{KubeVersion, VersionError};
