//! The formats of names and labels in Kubernetes (apimachinery `pkg/util/validation`, `pkg/api/validate/content`). Lengths are in
//! bytes.

use crate::field::Error;
use crate::server::{Difference, Server};

const MAX_LABEL: usize = 63;
const MAX_SUBDOMAIN: usize = 253;

const LABEL_RULE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_1035_RULE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const KEY_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// The longest prefix of a generated name, in bytes.
const MAX_GENERATED_PREFIX: usize = 58;

/// The errors of a text, in Kubernetes' words. An empty list means that the text is valid.
pub type Faults = Vec<String>;

/// A function that validates a name, or the prefix of a name that the server completes.
pub type NameRule = fn(&str, is_prefix: bool) -> Faults;

/// The name that is assumed for an object with this `generateName`: the prefix and `22222`. An API server chooses the last five characters
/// at random (apiserver `pkg/storage/names`).
pub fn generated_name(prefix: &str) -> String {
    let end = prefix.floor_char_boundary(MAX_GENERATED_PREFIX);
    let (prefix, _) = prefix.split_at_checked(end).unwrap_or((prefix, ""));
    format!("{prefix}22222")
}

/// Validates a name or a prefix as a domain name of RFC 1123. This is a [`NameRule`].
pub fn subdomain_name(text: &str, is_prefix: bool) -> Faults {
    match is_prefix {
        true => dns1123_subdomain(&as_name(text)),
        false => dns1123_subdomain(text.as_bytes()),
    }
}

/// Validates a name or a prefix as a segment of a URL's path. This is a [`NameRule`].
pub fn path_segment(text: &str, is_prefix: bool) -> Faults {
    if !is_prefix && matches!(text, "." | "..") {
        return vec![format!("may not be '{text}'")];
    }
    let unwanted = ["/", "%"].iter().filter(|part| text.contains(**part));
    unwanted
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}

/// Validates a label of RFC 1123.
pub fn dns1123_label(text: &[u8]) -> Faults {
    let mut faults = too_long(text, MAX_LABEL, "characters");
    if !is_label(text) {
        let rule = match is_subdomain(text) {
            true => "must not contain dots",
            false => LABEL_RULE,
        };
        faults.push(rule.to_owned());
    }
    faults
}

/// Validates a domain name of RFC 1123.
pub fn dns1123_subdomain(text: &[u8]) -> Faults {
    subdomain(text, "characters")
}

fn subdomain(text: &[u8], unit: &str) -> Faults {
    let mut faults = too_long(text, MAX_SUBDOMAIN, unit);
    if !is_subdomain(text) {
        faults.push(SUBDOMAIN_RULE.to_owned());
    }
    faults
}

/// Validates a label of RFC 1035, which begins with a letter.
pub fn dns1035_label(text: &[u8]) -> Faults {
    let mut faults = too_long(text, MAX_LABEL, "characters");
    if !(is_label(text) && text.first().is_some_and(u8::is_ascii_lowercase)) {
        faults.push(LABEL_1035_RULE.to_owned());
    }
    faults
}

/// Turns a prefix into a text that can be validated as a name. As in upstream, if the prefix ends with a dash, an `a` replaces its last two
/// bytes.
pub fn as_name(prefix: &str) -> Vec<u8> {
    match prefix.as_bytes() {
        [start @ .., _, b'-'] => [start, b"a"].concat(),
        text => text.to_vec(),
    }
}

/// Validates a label's key, such as `app` or `example.com/app`.
pub fn qualified_name(text: &str) -> Faults {
    let mut faults = Faults::new();
    let name = match text.split_once('/') {
        None => text,
        Some((_, name)) if name.contains('/') => {
            return vec![format!(
                "a valid label key {KEY_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
        Some(("", name)) => {
            faults.push("prefix part must be non-empty".to_owned());
            name
        }
        Some((prefix, name)) => {
            let prefix = subdomain(prefix.as_bytes(), "bytes");
            faults.extend(prefix.iter().map(|fault| format!("prefix part {fault}")));
            name
        }
    };
    if name.is_empty() {
        faults.push("name part must be non-empty".to_owned());
    }
    let too_long = too_long(name.as_bytes(), MAX_LABEL, "bytes");
    faults.extend(too_long.iter().map(|fault| format!("name part {fault}")));
    if !is_key(name) {
        faults.push(format!("name part {KEY_RULE}"));
    }
    faults
}

/// Validates a label's value.
pub fn label_value(text: &str) -> Faults {
    let mut faults = too_long(text.as_bytes(), MAX_LABEL, "bytes");
    if !text.is_empty() && !is_key(text) {
        faults.push(LABEL_VALUE_RULE.to_owned());
    }
    faults
}

/// Rewords the errors of [`qualified_name`] and [`label_value`] for servers without [`Difference::LengthLimitsAreInBytes`], which word
/// the same rules differently.
pub fn reword(errors: &mut [Error], server: Server) {
    if !server.has(Difference::LengthLimitsAreInBytes) {
        for error in errors {
            error.detail = as_before(&error.detail);
        }
    }
}

/// The message of a server without [`Difference::LengthLimitsAreInBytes`].
pub fn as_before(fault: &str) -> String {
    let fault = fault.replace(
        "a valid label key must consist",
        "a qualified name must consist",
    );
    match fault.strip_suffix(" bytes") {
        Some(start) if start.contains("must be no more than ") => format!("{start} characters"),
        _ => fault,
    }
}

/// The text in lower case. As in Go, each character becomes one character.
pub fn lower_case(text: &str) -> String {
    text.chars()
        .filter_map(|c| c.to_lowercase().next())
        .collect()
}

fn too_long(text: &[u8], most: usize, unit: &str) -> Faults {
    match text.len() > most {
        true => vec![format!("must be no more than {most} {unit}")],
        false => Faults::new(),
    }
}

/// Whether the text matches `[a-z0-9]([-a-z0-9]*[a-z0-9])?`.
fn is_label(text: &[u8]) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(|byte| is_lower(*byte));
    is_end(text.first())
        && is_end(text.last())
        && text.iter().all(|byte| is_lower(*byte) || *byte == b'-')
}

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Whether the text consists of labels separated by dots. The length is not checked.
fn is_subdomain(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'.').all(is_label)
}

/// Whether the text matches `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`.
fn is_key(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    is_end(bytes.first()) && is_end(bytes.last()) && bytes.iter().all(is_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lower_case() {
        for (text, label, subdomain, label_1035) in [
            ("a", true, true, true),
            ("1-a", true, true, false),
            ("a.b", false, true, false),
            ("a..b", false, false, false),
            ("-a", false, false, false),
            ("a-", false, false, false),
            ("A", false, false, false),
            ("é", false, false, false),
            ("a\n", false, false, false),
            ("", false, false, false),
        ] {
            let text = text.as_bytes();
            let found = (
                dns1123_label(text),
                dns1123_subdomain(text),
                dns1035_label(text),
            );
            let found = (found.0.is_empty(), found.1.is_empty(), found.2.is_empty());
            assert_eq!(found, (label, subdomain, label_1035), "{text:?}");
        }
    }

    #[test]
    fn lengths_come_first() {
        let long = "A".repeat(254);
        let faults = dns1123_label(long.as_bytes());
        assert_eq!(faults, ["must be no more than 63 characters", LABEL_RULE]);
        let faults = qualified_name(&format!("{long}/{long}"));
        let expected = [
            "prefix part must be no more than 253 bytes",
            "name part must be no more than 63 bytes",
        ];
        assert_eq!([faults[0].as_str(), faults[2].as_str()], expected);
        assert_eq!(dns1123_label(b"a.b"), ["must not contain dots"]);
    }

    #[test]
    fn prefixes_may_end_with_a_dash() {
        for (text, expected) in [
            ("ab-", "aa"),
            ("1-", "a"),
            ("-", "-"),
            ("a", "a"),
            ("a.-", "aa"),
        ] {
            assert_eq!(as_name(text), expected.as_bytes(), "{text}");
        }
    }

    #[test]
    fn path_segments_hold_no_slash() {
        for (text, is_prefix, faults) in [
            ("a b", false, 0),
            (".", false, 1),
            ("..", false, 1),
            ("..", true, 0),
            ("a/b", true, 1),
            ("a/b%", false, 2),
            ("", false, 0),
        ] {
            assert_eq!(path_segment(text, is_prefix).len(), faults, "{text}");
        }
    }

    #[test]
    fn keys_may_have_a_domain() {
        for (text, faults) in [
            ("a", 0),
            ("a/b", 0),
            ("a/b/c", 1),
            ("/b", 1),
            ("a/", 2),
            ("/", 3),
            ("", 2),
            ("A/b", 1),
        ] {
            assert_eq!(qualified_name(text).len(), faults, "{text}");
        }
    }
}
