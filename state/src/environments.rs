//! What expressions are compiled in.

use std::sync::LazyLock;

use gavel_crd::rule::RuleEnvs;
use gavel_engine::env::Env;
use gavel_libraries::{EnvSet, Server};
use gavel_policy::validation::Validator;

/// The environments. Building them takes a while, so they are built once.
pub(crate) struct Environments {
    /// Of policies that run.
    pub(crate) stored: Env,
    /// Of rules that are written anew.
    pub(crate) rules: RuleEnvs,
}

/// The environments of this process.
pub(crate) fn environments() -> Result<&'static Environments, String> {
    static ENVIRONMENTS: LazyLock<Result<Environments, String>> = LazyLock::new(|| {
        let text = |error: &dyn std::error::Error| error.to_string();
        let server = Server::default();
        let set = EnvSet::new(server).map_err(|error| text(&error))?;
        let rules = RuleEnvs::new(server.compatible()).map_err(|error| text(&error))?;
        Ok(Environments {
            stored: set.stored_expressions().clone(),
            rules,
        })
    });
    ENVIRONMENTS.as_ref().map_err(Clone::clone)
}

/// What validates policies that are written anew.
pub(crate) fn validator() -> Result<Validator, String> {
    Validator::new(Server::default().compatible()).map_err(|error| error.to_string())
}
