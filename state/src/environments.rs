//! The CEL environments in which expressions are compiled.

use std::sync::{Arc, LazyLock};

use gavel_crd::rule::RuleEnvs;
use gavel_libraries::{EnvSet, Server};
use gavel_policy::validation::Validator;

/// The CEL environments of an API server.
pub(crate) struct Environments {
    /// The environments in which policies are compiled.
    pub(crate) set: EnvSet,
    /// The environments for the validation rules of new CustomResourceDefinitions.
    pub(crate) rules: RuleEnvs,
}

impl Environments {
    /// Builds the environments of a server.
    fn new(server: Server) -> Result<Self, String> {
        let text = |error: &dyn std::error::Error| error.to_string();
        let set = EnvSet::new(server).map_err(|error| text(&error))?;
        let rules = RuleEnvs::new(server.compatible()).map_err(|error| text(&error))?;
        Ok(Environments { set, rules })
    }

    /// A validator for new policies that requests write.
    pub(crate) fn validator(&self) -> Result<Validator, String> {
        let validator = Validator::new(self.set.server().compatible());
        let validator = validator.map_err(|error| error.to_string())?;
        Ok(validator.of_a_running_server())
    }
}

/// The environments of an API server. Building them is slow, so the environments of the default server are cached.
pub(crate) fn environments(server: Server) -> Result<Arc<Environments>, String> {
    static USUAL: LazyLock<Result<Arc<Environments>, String>> =
        LazyLock::new(|| Environments::new(Server::default()).map(Arc::new));
    match server == Server::default() {
        true => USUAL.clone(),
        false => Environments::new(server).map(Arc::new),
    }
}
