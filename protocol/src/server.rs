//! The API server that a request is about: `server`, and the language that it offers, `k8sVersion`.

use gavel_engine::value::Json;
use gavel_libraries::{KubeVersion, Server};

use crate::environment::kubernetes_version;
use crate::request::{Fields, RequestError};

/// The server of requests that name none.
const DEFAULT: KubeVersion = KubeVersion::v1(36);

/// The API server that options name by `server` and `k8sVersion`: 1.36 where they name none. `default` makes it offer a language
/// where they do not name one.
///
/// # Errors
///
/// A version is no text, or is not known.
pub fn server_of(options: &Json, default: fn(Server) -> Server) -> Result<Server, RequestError> {
    let named = ["server", "k8sVersion"]
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), options.get(key)?.clone())));
    Fields::try_from(Json::Object(named.collect()))?.server_or(default)
}

impl Fields {
    /// The server, which offers all that it knows where the request does not say otherwise.
    pub(super) fn server(&mut self) -> Result<Server, RequestError> {
        self.server_or(|server| server)
    }

    /// The same for expressions of definitions and policies, which the version before must understand.
    pub(super) fn compatible_server(&mut self) -> Result<Server, RequestError> {
        self.server_or(Server::compatible)
    }

    fn server_or(&mut self, default: fn(Server) -> Server) -> Result<Server, RequestError> {
        let server = self.version("server")?.unwrap_or(DEFAULT);
        if server < Server::OLDEST {
            return Err(RequestError(format!(
                "server: Kubernetes {server} is not known; known are {} to {}",
                Server::OLDEST,
                KubeVersion::NEWEST
            )));
        }
        let server = Server::new(server);
        let language = self.version("k8sVersion")?;
        Ok(language.map_or_else(|| default(server), |language| server.offering(language)))
    }

    fn version(&mut self, key: &str) -> Result<Option<KubeVersion>, RequestError> {
        let text = self.text(key)?;
        let version = text.map(|text| kubernetes_version(&text)).transpose();
        version.map_err(|error| RequestError(error).within(key))
    }
}
