//! The connection to the API server: with a kubeconfig, or with the service account of the pod.

use std::path::PathBuf;

use gavel_libraries::Server;
use kube::Client;
use kube::api::GetParams;
use kube::config::{Config, InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError};
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

/// The configuration of a client.
///
/// # Errors
///
/// The kubeconfig cannot be used, or there is neither a kubeconfig nor a service account of a pod.
pub(crate) async fn config(target: &Target) -> Result<Config, ConnectError> {
    let error = match of_kubeconfig(target).await {
        Ok(config) => return Ok(config),
        Err(error) => error,
    };
    if target.kubeconfig.is_some() || target.context.is_some() {
        return Err(ConnectError::new(error));
    }
    Config::incluster().map_err(|account| {
        let account = match account {
            InClusterError::ReadEnvironmentVariable(_) => "the process is not in a pod".to_owned(),
            account => account.to_string(),
        };
        ConnectError::new(format_args!(
            "{error}; {account}; --kubeconfig FILE selects a cluster, and --policies PATH reads manifests instead of a cluster"
        ))
    })
}

/// Reads the kubeconfig that the target names.
async fn of_kubeconfig(target: &Target) -> Result<Config, String> {
    let read = match &target.kubeconfig {
        Some(path) => Kubeconfig::read_from(path),
        None => Kubeconfig::read(),
    };
    let kubeconfig = read.map_err(described)?;
    let options = KubeConfigOptions {
        context: target.context.clone(),
        ..KubeConfigOptions::default()
    };
    let root_cert_file = authority(&kubeconfig, target);
    let names = kubeconfig.contexts.iter();
    let names: Vec<String> = names.map(|context| context.name.clone()).collect();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let mut config = config.map_err(|error| match error {
        KubeconfigError::LoadContext(name) => format!(
            "the kubeconfig has no context {name:?}; its contexts are: {}",
            names.join(", ")
        ),
        error => described(error),
    })?;
    config.root_cert_file = config.root_cert_file.or(root_cert_file);
    Ok(config)
}

fn described(error: KubeconfigError) -> String {
    match error {
        KubeconfigError::ReadConfig(error, path) => {
            format!("the kubeconfig {} cannot be read: {error}", path.display())
        }
        KubeconfigError::FindPath => "there is no kubeconfig".to_owned(),
        error => error.to_string(),
    }
}

/// Makes a client; sends no request yet.
///
/// # Errors
///
/// The certificates or credentials of the configuration cannot be used.
pub(crate) fn connect(config: Config) -> Result<Client, ConnectError> {
    Client::try_from(config).map_err(ConnectError::new)
}

/// The path of the file with the certificate authority, if the kubeconfig names such a file. Gavel reads this file again from time to time,
/// like the authority of a pod's account.
fn authority(read: &Kubeconfig, target: &Target) -> Option<PathBuf> {
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

/// The version of the API server. If the text of the version cannot be parsed, returns the newest version that Gavel knows.
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

/// The object `name` of the collection at `path`; `None` if it does not exist.
pub(crate) async fn get(client: &Client, path: &str, name: &str) -> kube::Result<Option<Json>> {
    let request = Request::new(path).get(name, &GetParams::default());
    let request = request.map_err(kube::Error::BuildRequest)?;
    match client.request(request).await {
        Ok(object) => Ok(Some(object)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes an object. Returns false if it has changed since it was read, or if another client has created it.
pub(crate) async fn put(
    client: &Client,
    request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
) -> kube::Result<bool> {
    let request = request.map_err(kube::Error::BuildRequest)?;
    match client.request::<Json>(request).await {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
        Err(error) => Err(error),
    }
}

/// The body of a request.
pub(crate) fn bytes(value: &Json) -> kube::Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(kube::Error::SerdeError)
}
