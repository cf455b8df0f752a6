//! IP addresses and MAC addresses as Go's `net` reads them. IPv4 addresses and CIDRs may have leading zeros, which `k8s.io/utils/net`
//! allows.

use gavel_golang::netip::{bit_length, parse_address};

use std::net::IpAddr;

/// An address as Go's `net.ParseIP` reads it.
pub(super) fn parse_ip(text: &str) -> Option<IpAddr> {
    let parsed = parse_address(text).ok()?;
    (!parsed.has_zone).then_some(parsed.address)
}

/// Reads an IP address whose numbers may begin with zeros.
fn parse_sloppy(text: &str) -> Option<IpAddr> {
    let mut plain = String::with_capacity(text.len());
    for part in text.split_inclusive(['.', ':']) {
        let digits = part.trim_end_matches(['.', ':']);
        let stripped = part.trim_start_matches('0');
        // A number of only zeros becomes one zero.
        if !digits.is_empty() && digits.bytes().all(|byte| byte == b'0') {
            plain.push('0');
        }
        plain.push_str(stripped);
    }
    parse_ip(&plain)
}

/// Whether upstream treats the text as an IPv4 address. This includes IPv6 addresses that end in an IPv4 address, such as
/// `::ffff:10.0.0.1`.
pub(super) fn is_ipv4(text: &str) -> bool {
    text.contains('.') && parse_sloppy(text).is_some()
}

pub(super) fn is_ipv6(text: &str) -> bool {
    text.contains(':') && parse_ip(text).is_some()
}

pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let Some(address) = parse_sloppy(address) else {
        return false;
    };
    let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    let bits = length.trim_start_matches('0');
    // A length of only zeros is 0.
    let bits = if bits.is_empty() {
        Ok(0)
    } else {
        bits.parse::<u8>()
    };
    digits && bits.is_ok_and(|bits| bits <= bit_length(address))
}

/// Whether the text is a MAC address of 6, 8 or 20 bytes: `01:23:45:67:89:ab`, `01-23-45-67-89-ab`, `0123456789ab` or `0123.4567.89ab`.
pub(super) fn is_mac(text: &str) -> bool {
    let groups = |separator, digits, counts: [usize; 3]| {
        let group = |group: &str| {
            group.len() == digits && group.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        counts.contains(&text.split(separator).count()) && text.split(separator).all(group)
    };
    match (text.as_bytes().get(2), text.as_bytes().get(4)) {
        (Some(b':'), _) => groups(':', 2, [6, 8, 20]),
        (Some(b'-'), _) => groups('-', 2, [6, 8, 20]),
        (_, Some(b'.')) => groups('.', 4, [3, 4, 10]),
        _ => {
            matches!(text.len(), 12 | 16 | 40) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        }
    }
}
