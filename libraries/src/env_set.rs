//! The environments of an API server (apiserver `pkg/cel/environment/environment.go`).

use gavel_apimachinery::server::Server;
use gavel_engine::env::Env;
use gavel_engine::types::TypeTextError;

use crate::base_env::base_env;

/// The environments of an API server. The environment of new expressions has the functions of the server's language version. The environment
/// of stored expressions has all functions that the server knows, because a newer server may have stored expressions that use them.
#[derive(Debug, Clone)]
pub struct EnvSet {
    server: Server,
    new_expressions: Env,
    stored_expressions: Env,
}

impl EnvSet {
    /// Builds the environments of an API server. Only the first call for each server is expensive.
    ///
    /// # Errors
    ///
    /// A table of functions is malformed.
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

    /// The environment of expressions that are created or changed.
    pub fn new_expressions(&self) -> &Env {
        &self.new_expressions
    }

    /// The environment of expressions that are already stored.
    pub fn stored_expressions(&self) -> &Env {
        &self.stored_expressions
    }
}
