//! Validates the client configurations of webhooks.

use gavel_apimachinery::field::{Error, Errors, Path};
use gavel_apimachinery::webhook::{self, ServiceReference};

use crate::api::WebhookClientConfig;

/// Appends the errors of a webhook's client configuration.
pub(super) fn client_config(errors: &mut Errors, client: &WebhookClientConfig, path: &Path<'_>) {
    match (&client.url, &client.service) {
        (Some(url), None) => errors.extend(webhook::check_url(url, &path.child("url"))),
        (None, Some(service)) => {
            // Upstream swaps the name and the namespace.
            let service = ServiceReference {
                namespace: &service.name,
                name: &service.namespace,
                path: service.path.as_deref(),
                port: service.port.unwrap_or_default(),
            };
            errors.extend(service.check(&path.child("service")));
        }
        _ => errors.push(Error::required(
            path,
            "exactly one of url or service is required",
        )),
    }
}
