//! The environments of an API server (apiserver `pkg/cel/environment/environment.go`).

use gavel_apimachinery::server::Server;
use gavel_engine::env::{Env, EnvBuilder};
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

    /// These environments after a change of both, for example with additional functions.
    ///
    /// ```
    /// use gavel_engine::types::Type;
    /// use gavel_libraries::EnvSet;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let kubernetes = EnvSet::new("1.36".parse()?)?;
    /// let extended = kubernetes.extended(|env| env.variable("limit", Type::Int))?;
    /// assert!(extended.new_expressions().compile("limit > 1").is_ok());
    /// assert!(extended.stored_expressions().compile("limit > 1").is_ok());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The type of an added declaration is malformed.
    pub fn extended(
        self,
        extend: impl Fn(EnvBuilder) -> EnvBuilder,
    ) -> Result<EnvSet, TypeTextError> {
        Ok(EnvSet {
            server: self.server,
            new_expressions: extend(self.new_expressions.extend()).build()?,
            stored_expressions: extend(self.stored_expressions.extend()).build()?,
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
