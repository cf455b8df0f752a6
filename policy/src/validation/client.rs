//! Validates the client configurations of webhooks.

use gavel_apimachinery::field::{Errors, Path};
use gavel_apimachinery::webhook::{ServiceReference, check_client};

use crate::api::WebhookClientConfig;

/// Appends the errors of a webhook's client configuration.
pub(super) fn client_config(errors: &mut Errors, client: &WebhookClientConfig, path: &Path<'_>) {
    let service = client.service.as_ref().map(|service| ServiceReference {
        namespace: &service.namespace,
        name: &service.name,
        path: service.path.as_deref(),
        port: service.port.unwrap_or_default(),
    });
    errors.extend(check_client(client.url.as_deref(), service, path));
}
