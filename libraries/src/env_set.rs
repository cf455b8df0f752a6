//! The environments of an API server (apiserver `pkg/cel/environment/environment.go`).

use gavel_apimachinery::server::Server;
use gavel_engine::env::Env;
use gavel_engine::types::TypeTextError;

use crate::base_env::base_env;

/// What new expressions may use, which is what a version offers, and what stored ones may, which is all that the server
/// knows: they may have been written by a later version.
#[derive(Debug, Clone)]
pub struct EnvSet {
    server: Server,
    new_expressions: Env,
    stored_expressions: Env,
}

impl EnvSet {
    /// The environments of an API server. Cheap, but for the first time.
    ///
    /// # Errors
    ///
    /// Never, but for faults in the tables of functions.
    pub fn new(server: Server) -> Result<EnvSet, TypeTextError> {
        let known = server.version();
        Ok(EnvSet {
            server,
            new_expressions: base_env(server.offering(server.language().min(known)))?,
            stored_expressions: base_env(server.offering(known.max(Server::OLDEST)))?,
        })
    }

    /// The server.
    pub fn server(&self) -> Server {
        self.server
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
