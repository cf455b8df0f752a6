//! Validates the client configurations of webhooks (apiserver `pkg/util/webhook/validation.go`).

use gavel_apimachinery::field::{Error, Errors, Path};
use gavel_apimachinery::names;
use gavel_golang::url::Url;

use crate::api::{ServiceReference, WebhookClientConfig};

/// Appends the errors of a webhook's client configuration.
pub(super) fn client_config(errors: &mut Errors, client: &WebhookClientConfig, path: &Path<'_>) {
    match (&client.url, &client.service) {
        (Some(text), None) => url(errors, text, &path.child("url")),
        (None, Some(one)) => service(errors, one, &path.child("service")),
        _ => errors.push(Error::required(
            path,
            "exactly one of url or service is required",
        )),
    }
}

const FORM: &str = "; desired format: https://host[/path]";

fn url(errors: &mut Errors, text: &str, path: &Path<'_>) {
    let url = match Url::parse_reference(text) {
        Ok(url) => url,
        Err(error) => {
            let detail = format!("url must be a valid URL: {error}{FORM}");
            return errors.push(Error::required(path, detail));
        }
    };
    if url.scheme() != "https" {
        let detail = format!("'https' is the only allowed URL scheme{FORM}");
        errors.push(Error::invalid(path, url.scheme(), detail));
    }
    if url.host().is_empty() {
        errors.push(Error::invalid(
            path,
            "",
            format!("host must be specified{FORM}"),
        ));
    }
    if let Some(user) = url.user() {
        let detail = "user information is not permitted in the URL";
        errors.push(Error::invalid(path, user, detail));
    }
    let fragment = url.fragment();
    if !fragment.is_empty() {
        let detail = "fragments are not permitted in the URL";
        errors.push(Error::invalid(path, &*fragment, detail));
    }
    if !url.raw_query().is_empty() {
        let detail = "query parameters are not permitted in the URL";
        errors.push(Error::invalid(path, url.raw_query(), detail));
    }
}

fn service(errors: &mut Errors, service: &ServiceReference, path: &Path<'_>) {
    // Upstream swaps the two field names in these errors.
    for (value, name) in [(&service.namespace, "name"), (&service.name, "namespace")] {
        if value.is_empty() {
            errors.push(Error::required(&path.child(name), ""));
        }
    }
    let port = service.port.unwrap_or_default();
    if !(1..=65_535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(Error::invalid(&path.child("port"), port, detail));
    }
    if let Some(text) = &service.path {
        service_path(errors, text, &path.child("path"));
    }
}

fn service_path(errors: &mut Errors, text: &str, path: &Path<'_>) {
    if matches!(text, "" | "/") {
        return;
    }
    let mut report = |detail: String| errors.push(Error::invalid(path, text, detail));
    if text == "//" {
        return report("segment[0] may not be empty".to_owned());
    }
    if !text.starts_with('/') {
        report("must start with a '/'".to_owned());
    }
    // Upstream drops the first byte, even if it is not a slash.
    let segments = text.as_bytes().get(1..).unwrap_or_default();
    let segments = segments.strip_suffix(b"/").unwrap_or(segments);
    for (n, segment) in segments.split(|byte| *byte == b'/').enumerate() {
        if segment.is_empty() {
            report(format!("segment[{n}] may not be empty"));
            continue;
        }
        for fault in names::dns1123_subdomain(segment) {
            report(format!("segment[{n}]: {fault}"));
        }
    }
}
