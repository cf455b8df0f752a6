//! The connection to the API server: with a kubeconfig, or with the service account of the pod.

use std::path::PathBuf;

use gavel_libraries::Server;
use kube::Client;
use kube::api::GetParams;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::core::Request;
use serde_json::Value as Json;

/// The cluster to connect to, and the account to use.
#[derive(Debug, Clone, Default)]
pub struct Target {
    /// The kubeconfig. `None` means `$KUBECONFIG`, `~/.kube/config` or the account of the pod: the first that exists.
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig; `None` is the current context.
    pub context: Option<String>,
}

/// Why the API server cannot be contacted.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConnectError(String);

impl ConnectError {
    fn new(error: impl std::fmt::Display) -> Self {
        ConnectError(format!("the cluster cannot be reached: {error}"))
    }
}

/// Makes a client; sends no request yet.
///
/// # Errors
///
/// The kubeconfig cannot be used, or there is neither a kubeconfig nor a service account of a pod.
pub(crate) async fn connect(target: &Target) -> Result<Client, ConnectError> {
    let options = KubeConfigOptions {
        context: target.context.clone(),
        ..KubeConfigOptions::default()
    };
    let mut config = match &target.kubeconfig {
        Some(path) => {
            let read = Kubeconfig::read_from(path).map_err(ConnectError::new)?;
            let config = Config::from_custom_kubeconfig(read, &options).await;
            config.map_err(ConnectError::new)?
        }
        None if target.context.is_some() => {
            let config = Config::from_kubeconfig(&options).await;
            config.map_err(ConnectError::new)?
        }
        None => Config::infer().await.map_err(ConnectError::new)?,
    };
    if config.root_cert_file.is_none() {
        config.root_cert_file = authority(target);
    }
    Client::try_from(config).map_err(ConnectError::new)
}

/// The path of the certificate authority's file that a kubeconfig names. Gavel reads this file again from time to time, like the authority
/// of a pod's account.
fn authority(target: &Target) -> Option<PathBuf> {
    let read = match &target.kubeconfig {
        Some(path) => Kubeconfig::read_from(path),
        None => Kubeconfig::read(),
    };
    let read = read.ok()?;
    let wanted = target.context.as_ref().or(read.current_context.as_ref())?;
    let context = read
        .contexts
        .iter()
        .find(|context| context.name == *wanted)?;
    let name = &context.context.as_ref()?.cluster;
    let cluster = read.clusters.iter().find(|cluster| cluster.name == *name)?;
    let cluster = cluster.cluster.as_ref()?;
    match cluster.certificate_authority_data {
        Some(_) => None,
        None => cluster.certificate_authority.as_ref().map(PathBuf::from),
    }
}

/// The version of the API server. If its text cannot be parsed, the newest version that Gavel knows.
pub(crate) async fn version(client: &Client) -> kube::Result<Server> {
    let info = client.apiserver_version().await?;
    let digits = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit());
        text.get(..end.unwrap_or(text.len()))
            .unwrap_or_default()
            .to_owned()
    };
    let version = format!("{}.{}", digits(&info.major), digits(&info.minor));
    Ok(version.parse().unwrap_or_else(|_| {
        let server = Server::default();
        tracing::warn!(%version, used = %server, "unknown version of the API server; the newest known version is used");
        server
    }))
}

/// An object by its path; `None` if it does not exist.
pub(crate) async fn get(client: &Client, path: &str, name: &str) -> kube::Result<Option<Json>> {
    let request = Request::new(path).get(name, &GetParams::default());
    let request = request.map_err(kube::Error::BuildRequest)?;
    match client.request(request).await {
        Ok(object) => Ok(Some(object)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error),
    }
}
