//! The API server of a request (`server`), and the language that it offers to new expressions (`k8sVersion`).

use gavel_engine::value::Json;
use gavel_libraries::{KubeVersion, Server};

use crate::environment::version_since;
use crate::request::{Fields, RequestError};

/// The version for requests without `server`.
const DEFAULT: KubeVersion = KubeVersion::v1(36);

/// The API server that the options `server` and `k8sVersion` describe; Kubernetes 1.36 by default. If `k8sVersion` is absent, `default`
/// selects the version whose functions are available to expressions.
///
/// # Errors
///
/// A version is not a string, or is unknown.
pub fn server_of(options: &Json, default: fn(Server) -> Server) -> Result<Server, RequestError> {
    let named = ["server", "k8sVersion"]
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), options.get(key)?.clone())));
    Fields::try_from(Json::Object(named.collect()))?.server_or(default)
}

impl Fields {
    /// Reads the API server. Without `k8sVersion`, expressions can use all functions of the API server's version.
    pub(super) fn server(&mut self) -> Result<Server, RequestError> {
        self.server_or(|server| server)
    }

    /// Reads the API server, for expressions of definitions and policies. Without `k8sVersion`, expressions can use only functions that the
    /// previous version accepts too.
    pub(super) fn compatible_server(&mut self) -> Result<Server, RequestError> {
        self.server_or(Server::compatible)
    }

    fn server_or(&mut self, default: fn(Server) -> Server) -> Result<Server, RequestError> {
        let server = self.version("server", Server::OLDEST)?;
        let server = Server::new(server.unwrap_or(DEFAULT));
        let language = self.version("k8sVersion", KubeVersion::v1(0))?;
        Ok(language.map_or_else(|| default(server), |language| server.offering(language)))
    }

    fn version(
        &mut self,
        key: &str,
        oldest: KubeVersion,
    ) -> Result<Option<KubeVersion>, RequestError> {
        let name = self.name(key)?;
        let version = name.map(|name| version_since(oldest, &name)).transpose();
        version.map_err(|error| RequestError(error).within(key))
    }
}
