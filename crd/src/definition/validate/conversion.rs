//! The validation of the conversion between versions.

use gavel_apimachinery::field::{Error, Errors, Path};
use gavel_apimachinery::names::dns1035_label;
use gavel_apimachinery::webhook::{self, ServiceReference};
use gavel_engine::value::Json;

use crate::definition::{ClientConfig, Conversion, Definition};

const STRATEGIES: [&str; 2] = ["None", "Webhook"];
/// The versions of ConversionReview that the API server supports.
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];

/// Checks a conversion. With `require_known_review`, the webhook must support a review version that the API server supports.
pub(super) fn check(
    conversion: Option<&Conversion>,
    require_known_review: bool,
    path: &Path<'_>,
    errors: &mut Errors,
) {
    let Some(Conversion { strategy, webhook }) = conversion else {
        return;
    };
    let strategy_path = path.child("strategy");
    if strategy.is_empty() {
        errors.push(Error::required(&strategy_path, ""));
    } else if !STRATEGIES.contains(&strategy.as_str()) {
        errors.push(Error::not_supported(&strategy_path, strategy, &STRATEGIES));
    }
    let client = webhook
        .as_ref()
        .and_then(|webhook| webhook.client_config.as_ref());
    let reviews = webhook
        .as_ref()
        .map(|webhook| &*webhook.conversion_review_versions);
    let reviews = reviews.unwrap_or_default();
    let (client_path, reviews_path) = (
        path.child("webhookClientConfig"),
        path.child("conversionReviewVersions"),
    );
    if strategy != "Webhook" {
        let detail = "should not be set when strategy is not set to Webhook";
        if client.is_some() {
            errors.push(Error::forbidden(&client_path, detail));
        }
        if !reviews.is_empty() {
            errors.push(Error::forbidden(&reviews_path, detail));
        }
        return;
    }
    match client {
        None => {
            let detail = "required when strategy is set to Webhook";
            errors.push(Error::required(&client_path, detail));
        }
        Some(client) => check_client(client, &client_path, errors),
    }
    check_reviews(reviews, require_known_review, &reviews_path, errors);
}

fn check_client(client: &ClientConfig, path: &Path<'_>, errors: &mut Errors) {
    let service = client.service.as_ref().map(|service| ServiceReference {
        namespace: &service.namespace,
        name: &service.name,
        path: service.path.as_deref(),
        port: service.port.unwrap_or_default(),
    });
    errors.extend(webhook::check_client(client.url.as_deref(), service, path));
}

fn check_reviews(reviews: &[String], require_known: bool, path: &Path<'_>, errors: &mut Errors) {
    if reviews.is_empty() {
        errors.push(Error::required(path, ""));
        return;
    }
    for (n, review) in reviews.iter().enumerate() {
        let path = path.index(n);
        if reviews.iter().take(n).any(|before| before == review) {
            errors.push(Error::invalid(&path, review, "duplicate version"));
            continue;
        }
        for fault in dns1035_label(review.as_bytes()) {
            errors.push(Error::invalid(&path, review, fault));
        }
    }
    if require_known && !reviews.iter().any(|review| is_known(review)) {
        let all: Json = reviews.iter().map(String::as_str).collect();
        let detail = format!("must include at least one of {}", REVIEWS.join(", "));
        errors.push(Error::invalid(path, all, detail));
    }
}

fn is_known(review: &str) -> bool {
    REVIEWS.contains(&review)
}

impl Definition {
    /// Whether the webhook supports a review version that the API server supports. Also true if there is no webhook, or if it lists no
    /// review versions.
    pub(super) fn has_known_review(&self) -> bool {
        let webhook = self.spec.conversion.as_ref();
        let webhook = webhook.and_then(|conversion| conversion.webhook.as_ref());
        webhook.is_none_or(|webhook| {
            let reviews = &webhook.conversion_review_versions;
            reviews.is_empty() || reviews.iter().any(|review| is_known(review))
        })
    }
}
