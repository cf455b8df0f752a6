//! Webhooks that an API server calls: their URLs and services (apiserver `pkg/util/webhook/validation.go`).

use gavel_golang::url::Url;

use crate::field::{Error, Errors, Path};
use crate::names::dns1123_subdomain;

const FORM: &str = "; desired format: https://host[/path]";

/// Validates how an API server calls a webhook: by a URL or by a service.
///
/// ```
/// use gavel_apimachinery::field::Path;
/// use gavel_apimachinery::webhook;
///
/// let errors = webhook::check_client(Some("http://example.com/convert?x"), None, &Path::new("client"));
/// assert_eq!(errors[0].to_string(), "client.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]");
/// assert_eq!(errors.len(), 2);
/// ```
pub fn check_client(
    url: Option<&str>,
    service: Option<ServiceReference<'_>>,
    path: &Path<'_>,
) -> Vec<Error> {
    match (url, service) {
        (Some(url), None) => check_url(url, &path.child("url")),
        (None, Some(service)) => service.check(&path.child("service")),
        _ => {
            let detail = "exactly one of url or service is required";
            vec![Error::required(path, detail)]
        }
    }
}

fn check_url(url: &str, path: &Path<'_>) -> Vec<Error> {
    let url = match Url::parse_reference(url) {
        Ok(url) => url,
        Err(error) => {
            let detail = format!("url must be a valid URL: {error}{FORM}");
            return vec![Error::required(path, detail)];
        }
    };
    let mut errors = Vec::new();
    let mut refuse = |value: &str, detail: &str| errors.push(Error::invalid(path, value, detail));
    if url.scheme() != "https" {
        let detail = format!("'https' is the only allowed URL scheme{FORM}");
        refuse(url.scheme(), &detail);
    }
    if url.host().is_empty() {
        refuse("", &format!("host must be specified{FORM}"));
    }
    if let Some(user) = url.user() {
        refuse(user, "user information is not permitted in the URL");
    }
    if !url.fragment().is_empty() {
        refuse(&url.fragment(), "fragments are not permitted in the URL");
    }
    if !url.raw_query().is_empty() {
        refuse(
            url.raw_query(),
            "query parameters are not permitted in the URL",
        );
    }
    errors
}

/// A reference to the service of a webhook.
#[derive(Debug, Clone, Copy)]
pub struct ServiceReference<'a> {
    /// The namespace of the service.
    pub namespace: &'a str,
    /// The name of the service.
    pub name: &'a str,
    /// The path of the URL.
    pub path: Option<&'a str>,
    /// The port of the service.
    pub port: i32,
}

impl ServiceReference<'_> {
    fn check(self, path: &Path<'_>) -> Vec<Error> {
        let mut errors = Errors::default();
        // Upstream names the wrong field: `name` if the namespace is empty, and `namespace` if the name is empty.
        for (value, field) in [(self.namespace, "name"), (self.name, "namespace")] {
            if value.is_empty() {
                errors.push(Error::required(&path.child(field), ""));
            }
        }
        if !(1..=65535).contains(&self.port) {
            let detail = "port is not valid: must be between 1 and 65535, inclusive";
            errors.push(Error::invalid(&path.child("port"), self.port, detail));
        }
        if let Some(text) = self.path {
            check_path(text, &path.child("path"), &mut errors);
        }
        errors.into_vec()
    }
}

fn check_path(text: &str, path: &Path<'_>, errors: &mut Errors) {
    if text.is_empty() || text == "/" {
        return;
    }
    let mut refuse = |detail: String| errors.push(Error::invalid(path, text, detail));
    if text == "//" {
        return refuse("segment[0] may not be empty".to_owned());
    }
    if !text.starts_with('/') {
        refuse("must start with a '/'".to_owned());
    }
    // Upstream assumes that the first byte is a slash, and does not check it.
    let steps = text.as_bytes().get(1..).unwrap_or_default();
    let steps = steps.strip_suffix(b"/").unwrap_or(steps);
    for (n, step) in steps.split(|byte| *byte == b'/').enumerate() {
        if step.is_empty() {
            refuse(format!("segment[{n}] may not be empty"));
            continue;
        }
        for fault in dns1123_subdomain(step) {
            refuse(format!("segment[{n}]: {fault}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_a_host_and_no_more_than_a_path() {
        let check = |url: &str, expected: &[&str]| {
            let errors = check_url(url, &Path::new("url"));
            let details: Vec<_> = errors.iter().map(|error| error.detail.as_str()).collect();
            assert_eq!(details, expected, "{url}");
        };
        check("https://example.com:443/a", &[]);
        check(
            "https://u:p@example.com/?q#f",
            &[
                "user information is not permitted in the URL",
                "fragments are not permitted in the URL",
                "query parameters are not permitted in the URL",
            ],
        );
        check(
            "",
            &[
                "'https' is the only allowed URL scheme; desired format: https://host[/path]",
                "host must be specified; desired format: https://host[/path]",
            ],
        );
        check(
            "https://a b/",
            &[
                "url must be a valid URL: parse \"https://a b/\": invalid character \" \" in host name; desired format: https://host[/path]",
            ],
        );
    }

    #[test]
    fn steps_of_paths_are_domain_names() {
        let check = |path: &str, faults: usize| {
            let service = ServiceReference {
                namespace: "a",
                name: "b",
                path: Some(path),
                port: 443,
            };
            assert_eq!(service.check(&Path::new("service")).len(), faults, "{path}");
        };
        check("", 0);
        check("/", 0);
        check("/a/b.c/", 0);
        check("//", 1);
        check("a", 2);
        check("/a//b", 1);
        check("/A/b_", 2);
    }

    #[test]
    fn errors_that_repeat_a_long_path_are_limited() {
        let path = "/".repeat(1 << 14);
        let service = ServiceReference {
            namespace: "a",
            name: "b",
            path: Some(&path),
            port: 443,
        };
        assert!(service.check(&Path::new("service")).len() < 1 << 11);
    }
}
