//! The environments of a Kubernetes version (apiserver `pkg/cel/environment/environment.go`).

use gavel_apimachinery::version::KubeVersion;
use gavel_engine::env::Env;
use gavel_engine::types::TypeTextError;

use crate::base_env::base_env;

/// What new expressions may use, which is what a version offers, and what stored ones may, which is everything: they may
/// have been written by a later version.
#[derive(Debug, Clone)]
pub struct EnvSet {
    new_expressions: Env,
    stored_expressions: Env,
}

impl EnvSet {
    /// The environments of a version. Cheap, but for the first time.
    pub fn new(version: KubeVersion) -> Result<EnvSet, TypeTextError> {
        Ok(EnvSet {
            new_expressions: base_env(version)?,
            stored_expressions: base_env(version.max(KubeVersion::REFERENCE))?,
        })
    }

    /// For expressions that are written or changed.
    pub fn new_expressions(&self) -> &Env {
        &self.new_expressions
    }

    /// For expressions that are there already.
    pub fn stored_expressions(&self) -> &Env {
        &self.stored_expressions
    }
}
