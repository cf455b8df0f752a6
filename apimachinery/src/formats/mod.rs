//! The formats of strings in custom resources (kube-openapi `pkg/validation/strfmt`, apiextensions-apiserver
//! `pkg/apiserver/validation/formats.go`).

use std::sync::LazyLock;

use gavel_golang::regex::Regex;
use gavel_golang::url::Url;

use crate::names::{dns1123_label, dns1123_subdomain};
use crate::version::KubeVersion;

mod address;
mod email;
mod encoding;
mod numbers;
mod time;

pub use encoding::{is_base64, is_uuid};
pub use time::{is_date, is_date_time};

use encoding::{RFC_4122, is_object_id, is_uuid_of};

/// A format with which an API server validates texts.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    row: &'static FormatRow,
}

#[derive(Debug)]
struct FormatRow {
    /// The name without dashes.
    name: &'static str,
    /// The first version of Kubernetes with this format.
    since: KubeVersion,
    is_valid: fn(&str) -> bool,
}

/// All formats.
#[rustfmt::skip] // One row per line.
const FORMATS: &[FormatRow] = &[
    row("bsonobjectid", is_object_id),
    row("byte", is_base64),
    row("cidr", address::is_cidr),
    row("creditcard", numbers::is_credit_card),
    row("date", is_date),
    row("datetime", is_date_time),
    row("duration", time::is_duration),
    row("email", email::is_email),
    row("hexcolor", is_hex_color),
    row("hostname", is_hostname),
    row("ipv4", address::is_ipv4),
    row("ipv6", address::is_ipv6),
    row("isbn", |text| numbers::is_isbn10(text) || numbers::is_isbn13(text)),
    row("isbn10", numbers::is_isbn10),
    row("isbn13", numbers::is_isbn13),
    FormatRow { since: KubeVersion::v1(34), ..row("k8slongname", |text| dns1123_subdomain(text.as_bytes()).is_empty()) },
    FormatRow { since: KubeVersion::v1(34), ..row("k8sshortname", |text| dns1123_label(text.as_bytes()).is_empty()) },
    row("mac", address::is_mac),
    row("password", |_| true),
    row("rgbcolor", is_rgb_color),
    row("ssn", numbers::is_social_security_number),
    row("uri", |text| Url::check_request_uri(text).is_ok()),
    row("uuid", is_uuid),
    row("uuid3", |text| is_uuid_of(text, b'3', None)),
    row("uuid4", |text| is_uuid_of(text, b'4', RFC_4122)),
    row("uuid5", |text| is_uuid_of(text, b'5', RFC_4122)),
];

const fn row(name: &'static str, is_valid: fn(&str) -> bool) -> FormatRow {
    FormatRow {
        name,
        since: KubeVersion::v1(0),
        is_valid,
    }
}

impl Format {
    /// Finds a format by its name, with or without dashes. `None` if this version of Kubernetes does not know the format.
    pub fn named(name: &str, version: KubeVersion) -> Option<Format> {
        let name = name.replace('-', "");
        let row = FORMATS.iter().find(|row| row.name == name)?;
        (row.since <= version).then_some(Format { row })
    }

    /// Whether a text has this format.
    pub fn is_valid(self, text: &str) -> bool {
        (self.row.is_valid)(text)
    }
}

fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the text is a color such as `rgb(0, 128, 255)`.
fn is_rgb_color(text: &str) -> bool {
    const SPACES: &[char] = &['\t', '\n', '\x0c', '\r', ' '];
    let inner = text
        .strip_prefix("rgb(")
        .and_then(|rest| rest.strip_suffix(')'));
    let is_part = |part: &str| match part.trim_matches(SPACES).as_bytes() {
        [b'0'] => true,
        [b'1'..=b'9', later @ ..] if later.len() < 3 && later.iter().all(u8::is_ascii_digit) => {
            part.trim_matches(SPACES).parse::<u8>().is_ok()
        }
        _ => false,
    };
    inner.is_some_and(|inner| inner.split(',').count() == 3 && inner.split(',').all(is_part))
}

fn is_hostname(text: &str) -> bool {
    // The pattern is copied from upstream.
    static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$").ok()
    });
    text.len() <= 255
        && text.split('.').all(|label| label.len() <= 63)
        && PATTERN
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(text))
}

#[cfg(test)]
mod tests;
