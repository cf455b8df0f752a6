//! Discovery: finds the resource of a kind.

use std::time::Duration;

use kube::Client;
use kube::core::ApiResource;
use tokio::time::timeout;

use crate::kinds::resource;

/// The timeout of a discovery request.
const PATIENCE: Duration = Duration::from_secs(5);

/// A kind that an API serves.
#[derive(Debug, Clone)]
pub(crate) struct Served {
    pub(crate) resource: ApiResource,
    pub(crate) namespaced: bool,
}

/// Finds a kind, which may be in lower case, as in a `paramKind`; `None` if no API serves it. Unlike API servers (client-go
/// `restmapper/discovery.go`), does not accept the kinds of lists: an API server cannot list their objects.
///
/// # Errors
///
/// The API server is unreachable, or answers with an error other than 404.
pub(crate) async fn find(
    client: &Client,
    api_version: &str,
    kind: &str,
) -> kube::Result<Option<Served>> {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let listed = async {
        match group {
            "" => client.list_core_api_resources(version).await,
            _ => client.list_api_group_resources(api_version).await,
        }
    };
    let listed = timeout(PATIENCE, listed).await;
    let listed = match listed.unwrap_or_else(|late| Err(kube::Error::Service(late.into()))) {
        Ok(listed) => listed,
        Err(kube::Error::Api(status)) if status.code == 404 => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut resources = listed.resources.into_iter();
    let found = resources.find(|found| {
        let has_kind = found.kind == kind || found.kind.to_ascii_lowercase() == kind;
        has_kind && !found.name.contains('/')
    });
    Ok(found.map(|found| Served {
        resource: resource(group, version, kind, &found.name),
        namespaced: found.namespaced,
    }))
}
