//! What names and labels in Kubernetes look like (apimachinery `pkg/util/validation`, `pkg/api/validate/content`) and
//! other formats of texts (kube-openapi `pkg/validation/strfmt`). Lengths are in bytes.

use std::sync::LazyLock;

use gavel_engine::golang::regex::Regex;

const MAX_LABEL: usize = 63;
const MAX_SUBDOMAIN: usize = 253;

const LABEL_RULE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_1035_RULE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const KEY_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_RULE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// What is wrong with a text, worded as Kubernetes words it; nothing where it is valid.
pub type Faults = Vec<String>;

/// What is wrong with a name, or with a prefix that more is appended to.
pub type NameRule = fn(&str, is_prefix: bool) -> Faults;

/// Of a name that is a domain name as in RFC 1123, or of its prefix: a [`NameRule`].
pub fn subdomain_name(text: &str, is_prefix: bool) -> Faults {
    match is_prefix {
        true => dns1123_subdomain(&as_name(text)),
        false => dns1123_subdomain(text.as_bytes()),
    }
}

/// Of a name that can be a part of the path of a URL, or of its prefix: a [`NameRule`].
pub fn path_segment(text: &str, is_prefix: bool) -> Faults {
    if !is_prefix && matches!(text, "." | "..") {
        return vec![format!("may not be '{text}'")];
    }
    let unwanted = ["/", "%"].iter().filter(|part| text.contains(**part));
    unwanted
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}

/// Of a label as in RFC 1123.
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

/// Of a domain name as in RFC 1123.
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

/// Of a label as in RFC 1035, which starts with a letter.
pub fn dns1035_label(text: &[u8]) -> Faults {
    let mut faults = too_long(text, MAX_LABEL, "characters");
    if !(is_label(text) && text.first().is_some_and(u8::is_ascii_lowercase)) {
        faults.push(LABEL_1035_RULE.to_owned());
    }
    faults
}

/// The text of a prefix, which may end with a dash, as a whole name. Upstream puts an `a` for the last two bytes.
pub fn as_name(prefix: &str) -> Vec<u8> {
    match prefix.as_bytes() {
        [start @ .., _, b'-'] => [start, b"a"].concat(),
        text => text.to_vec(),
    }
}

/// Of a label's key, with or without a domain in front.
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

/// Of a label's value.
pub fn label_value(text: &str) -> Faults {
    let mut faults = too_long(text.as_bytes(), MAX_LABEL, "bytes");
    if !text.is_empty() && !is_key(text) {
        faults.push(LABEL_VALUE_RULE.to_owned());
    }
    faults
}

/// The text with each letter lower, as Go does it: letter by letter.
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

/// `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
fn is_label(text: &[u8]) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(|byte| is_lower(*byte));
    is_end(text.first())
        && is_end(text.last())
        && text.iter().all(|byte| is_lower(*byte) || *byte == b'-')
}

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Whether the text is labels with dots between them, however long.
pub fn is_subdomain(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'.').all(is_label)
}

/// `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`
fn is_key(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    is_end(bytes.first()) && is_end(bytes.last()) && bytes.iter().all(is_inner)
}

/// Whether this is a UUID, with or without dashes.
pub fn is_uuid(text: &str) -> bool {
    let mut rest = text.as_bytes();
    for (group, digits) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if group > 0 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
        match rest.split_at_checked(digits) {
            Some((digits, after)) if digits.iter().all(u8::is_ascii_hexdigit) => rest = after,
            _ => return false,
        }
    }
    rest.is_empty()
}

/// Whether this is base64 of the standard alphabet, padded, of at least one byte. The last bits are not looked at.
pub fn is_base64(text: &str) -> bool {
    let text = text.as_bytes();
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    let digits = text
        .len()
        .checked_sub(padding)
        .and_then(|end| text.get(..end))
        .unwrap_or_default();
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    padding <= 2
        && !digits.is_empty()
        && text.len().is_multiple_of(4)
        && digits.iter().all(is_digit)
}

/// Whether this is a date, `2006-01-02`.
pub fn is_date(text: &str) -> bool {
    let number = |digits: &[u8]| {
        let text = str::from_utf8(digits)
            .ok()
            .filter(|_| digits.iter().all(u8::is_ascii_digit))?;
        text.parse::<u32>().ok()
    };
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else {
        return false;
    };
    let date = (
        number(&[*y1, *y2, *y3, *y4]),
        number(&[*m1, *m2]),
        number(&[*d1, *d2]),
    );
    let (Some(year), Some(month), Some(day)) = date else {
        return false;
    };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Whether upstream takes this for a date and time: what follows a second `t` is not looked at, nor are offsets.
pub fn is_date_time(text: &str) -> bool {
    static CLOCK: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            "^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?([zZ]|[+-][0-9]{2}:[0-9]{2})$",
        )
        .ok()
    });
    let mut parts = text.split(['t', 'T']);
    match (parts.next(), parts.next()) {
        (Some(date), Some(clock)) => {
            is_date(date)
                && CLOCK
                    .as_ref()
                    .is_some_and(|pattern| pattern.is_match(clock))
        }
        _ => false,
    }
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

    #[test]
    fn other_formats_are_as_lax_as_upstream() {
        let check = |valid: fn(&str) -> bool, cases: &[(&str, bool)]| {
            for (text, expected) in cases {
                assert_eq!(valid(text), *expected, "{text}");
            }
        };
        check(
            is_uuid,
            &[
                ("123e4567-E89B-12d3-a456-426614174000", true),
                ("123e4567e89b12d3a456426614174000", true),
                ("123e4567--e89b12d3a456426614174000", false),
                ("", false),
            ],
        );
        check(
            is_base64,
            &[
                ("", false),
                ("aGk=", true),
                ("aG==", true),
                ("a===", false),
                ("aGk", false),
                ("a-_=", false),
            ],
        );
        check(
            is_date,
            &[
                ("2024-02-29", true),
                ("2023-02-29", false),
                ("0000-02-29", true),
                ("2024-13-01", false),
                ("2024-1-01", false),
                ("2024-01-00", false),
            ],
        );
        check(
            is_date_time,
            &[
                ("2024-02-29T00:00:00Z", true),
                ("2024-02-29t23:59:59x5+99:99tt", true),
                ("2024-02-29T00:00:60Z", false),
                ("2024-02-29T24:00:00Z", false),
                ("2024-02-29T00:00:00", false),
                ("2024-02-29", false),
            ],
        );
    }
}
