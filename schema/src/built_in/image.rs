//! Derives the default pull policy from an image reference (distribution `reference`).

use std::sync::LazyLock;

use gavel_golang::regex::Regex;

/// The pattern of image references: `name`, `name:tag`, `name@digest` or `name:tag@digest`.
const REFERENCE: &str = concat!(
    "^(?:(?:",
    r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*",
    r"|\[(?:[a-fA-F0-9:]+)\])(?::[0-9]+)?/)?",
    r"[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*)*",
    r"(?::[\w][\w.-]{0,127})?",
    r"(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*[:][0-9A-Fa-f]{32,})?$",
);

/// The length limit of a name with its host, in bytes.
const MAX_NAME: usize = 255;

/// The prefix of an image name without a host.
const HOST: &str = "docker.io/library/";

/// The default pull policy of an image: `Always` for the tag `latest`, which may refer to another image later, and otherwise
/// `IfNotPresent`.
pub(super) fn pull_policy(image: &str) -> &'static str {
    match tag(image) {
        Some("latest") => "Always",
        _ => "IfNotPresent",
    }
}

/// The tag of a reference: `latest` if the reference has neither a tag nor a digest. `None` if the reference is invalid, or has a digest
/// but no tag.
fn tag(image: &str) -> Option<&str> {
    static REGEX: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(REFERENCE).ok());
    let is_identifier = image.len() == 64 && image.bytes().all(is_lower_hex);
    let is_reference = REGEX.as_ref().is_some_and(|regex| regex.is_match(image));
    if is_identifier || !is_reference {
        return None;
    }
    let (rest, digest) = match image.split_once('@') {
        Some((rest, digest)) => (rest, Some(digest)),
        None => (image, None),
    };
    if !digest.is_none_or(is_digest) {
        return None;
    }
    let last = rest.rsplit('/').next().unwrap_or(rest);
    let tag = last.split_once(':').map(|(_, tag)| tag);
    let tagged = tag.map_or(0, |tag| tag.len().saturating_add(1));
    let first = rest.split_once('/').map(|(first, _)| first);
    let has_host = first.is_some_and(|first| {
        first.contains(['.', ':']) || first == "localhost" || first.contains(char::is_uppercase)
    });
    let host = match (has_host, first) {
        (true, _) => "",
        (false, Some(_)) => "docker.io/",
        (false, None) => HOST,
    };
    let length = rest.len().saturating_sub(tagged).saturating_add(host.len());
    match tag {
        _ if length > MAX_NAME => None,
        Some(tag) => Some(tag),
        None => digest.is_none().then_some("latest"),
    }
}

/// Whether a text is a digest: `sha256`, `sha384` or `sha512`, and a lower-case hexadecimal hash of that algorithm's length.
fn is_digest(digest: &str) -> bool {
    let (kind, hash) = digest.split_once(':').unwrap_or_default();
    let length = match kind {
        "sha256" => 64,
        "sha384" => 96,
        "sha512" => 128,
        _ => return false,
    };
    hash.len() == length && hash.bytes().all(is_lower_hex)
}

fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_those_that_images_are_pulled_by() {
        let digest = format!("web@sha256:{}", "a".repeat(64));
        let (tagged, short) = (digest.replace('@', ":1@"), "web@sha256:abc");
        for (image, expected) in [
            ("web", Some("latest")),
            ("web:1.2", Some("1.2")),
            ("ghcr.io/shop/web:latest", Some("latest")),
            ("localhost:5000/web", Some("latest")),
            ("localhost:5000", Some("5000")),
            (digest.as_str(), None),
            (tagged.as_str(), Some("1")),
            (short, None),
            ("", None),
            ("Web", None),
            ("Host/web", Some("latest")),
            ("web:", None),
            ("a b", None),
            (&"a".repeat(64), None),
            (&"z".repeat(300), None),
        ] {
            assert_eq!(tag(image), expected, "{image}");
        }
    }
}
