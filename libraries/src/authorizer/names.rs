//! Names as DNS has them (RFC 1123): lower-case letters, digits and `-`.

/// Whether a text is a DNS label, as names of namespaces are: up to 63 letters, digits and `-`, no `-` at either end.
pub fn is_dns_label(text: &str) -> bool {
    text.len() <= 63 && is_label(text)
}

/// Whether a text is a DNS subdomain: labels between dots, up to 253 bytes.
pub fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= 253 && is_dotted(text)
}

/// Whether a text is labels between dots, however long.
pub(super) fn is_dotted(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_label(text: &str) -> bool {
    let inner = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-');
    !text.is_empty() && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_subdomains() {
        let check = |text: &str, label: bool, subdomain: bool| {
            assert_eq!(is_dns_label(text), label, "{text}");
            assert_eq!(is_dns_subdomain(text), subdomain, "{text}");
        };
        check("a", true, true);
        check("a-1", true, true);
        check("a.b-c", false, true);
        check(&"a".repeat(63), true, true);
        check(&"a".repeat(64), false, true);
        check(&"a.".repeat(126), false, false);
        for text in ["", "-", "-a", "a-", "A", "a_b", "é", "a..b", ".a", "a\n"] {
            check(text, false, false);
        }
    }
}
