//! IP addresses and networks, as the conformance tests of the specification define them.
//!
//! There are no IPv4-mapped IPv6 addresses: the address `::ffff:c0a8:1` is read as 192.168.0.1, and the dotted spelling
//! `::ffff:192.168.0.1` is rejected. Networks are rejected in both spellings.

use std::net::IpAddr;

use gavel_engine::body;
use gavel_engine::decl::{Form, Overload, Yield, row};
use gavel_engine::error::EvalError;
use gavel_golang::netip::{is_mapped, parse_address};
use gavel_golang::quote::quote;

use crate::kubernetes::cidr::{
    cidr, cidr_ip, contains_cidr, contains_cidr_text, contains_ip, contains_ip_text, is_cidr,
    masked, prefix_length,
};
use crate::kubernetes::ip::{
    Refusal, Rules, family, global_unicast, ip, is_canonical, is_ip, is_loopback, is_unspecified,
    link_local_multicast, link_local_unicast, mapped, text, zoned,
};
use crate::kubernetes::values::cidr::Prefix;

/// The functions of the specification's network library.
#[rustfmt::skip] // One row per line.
pub const NETWORK: &[Overload] = &[
    row("isIP", "is_ip", "(string) -> bool", body!(is_ip::<Specification>), "isIP('10.0.0.1')"),
    row("isCIDR", "is_cidr", "(string) -> bool", body!(is_cidr::<Specification>), "isCIDR('10.0.0.0/8')"),
    row("ip", "string_to_ip", "(string) -> net.IP()", body!(ip::<Specification>), "ip('::1') != ip('::2')"),
    row("ip", "cidr_ip", "net.CIDR().() -> net.IP()", body!(cidr_ip::<Specification>), "cidr('10.0.0.1/8').ip() == ip('10.0.0.1')"),
    row("ip.isCanonical", "ip_is_canonical", "(string) -> bool", body!(is_canonical::<Specification>), "!ip.isCanonical('2001:DB8::1')"),
    row("cidr", "string_to_cidr", "(string) -> net.CIDR()", body!(cidr::<Specification>), "cidr('10.0.0.0/8') != cidr('10.0.0.0/9')"),
    row("string", "ip_to_string", "(net.IP()) -> string", body!(text), "string(ip('2001:DB8::1')) == '2001:db8::1'").form(Form::Conversion).yields(Yield::Printed),
    row("string", "cidr_to_string", "(net.CIDR()) -> string", body!(text), "string(cidr('10.0.0.0/8')) == '10.0.0.0/8'").form(Form::Conversion).yields(Yield::Printed),
    row("family", "ip_family", "net.IP().() -> int", body!(family::<Specification>), "ip('::1').family() == 6"),
    row("isUnspecified", "ip_is_unspecified", "net.IP().() -> bool", body!(is_unspecified::<Specification>), "ip('0.0.0.0').isUnspecified()"),
    row("isLoopback", "ip_is_loopback", "net.IP().() -> bool", body!(is_loopback::<Specification>), "ip('127.0.0.1').isLoopback()"),
    row("isLinkLocalMulticast", "ip_is_link_local_multicast", "net.IP().() -> bool", body!(link_local_multicast::<Specification>), "ip('224.0.0.1').isLinkLocalMulticast()"),
    row("isLinkLocalUnicast", "ip_is_link_local_unicast", "net.IP().() -> bool", body!(link_local_unicast::<Specification>), "ip('fe80::1').isLinkLocalUnicast()"),
    row("isGlobalUnicast", "ip_is_global_unicast", "net.IP().() -> bool", body!(global_unicast::<Specification>), "ip('192.168.0.1').isGlobalUnicast()"),
    row("containsIP", "cidr_contains_ip", "net.CIDR().(net.IP()) -> bool", body!(contains_ip::<Specification>), "cidr('10.0.0.0/8').containsIP(ip('10.0.0.1'))"),
    row("containsIP", "cidr_contains_ip_string", "net.CIDR().(string) -> bool", body!(contains_ip_text::<Specification>), "cidr('10.0.0.0/8').containsIP('10.0.0.1')"),
    row("containsCIDR", "cidr_contains_cidr", "net.CIDR().(net.CIDR()) -> bool", body!(contains_cidr::<Specification>), "cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))"),
    row("containsCIDR", "cidr_contains_cidr_string", "net.CIDR().(string) -> bool", body!(contains_cidr_text::<Specification>), "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')"),
    row("masked", "cidr_masked", "net.CIDR().() -> net.CIDR()", body!(masked::<Specification>), "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')"),
    row("prefixLength", "cidr_prefix_length", "net.CIDR().() -> int", body!(prefix_length::<Specification>), "cidr('10.0.0.0/8').prefixLength() == 8"),
];

/// How CEL's specification parses addresses and networks, and the messages of its errors.
#[derive(Debug, Clone, Copy)]
struct Specification;

impl Rules for Specification {
    fn parse_address(text: &str) -> Result<IpAddr, Refusal<'_>> {
        match parse_address(text) {
            Err(_) => Err(Box::new(move || {
                let text = quote(text);
                EvalError::new(format!(
                    "IP Address {text} parse error during conversion from string"
                ))
            })),
            Ok(parsed) if parsed.has_zone => Err(zoned(text)),
            Ok(parsed) if is_mapped(parsed.address) && text.contains('.') => Err(mapped(text, "")),
            Ok(parsed) => Ok(parsed.address.to_canonical()),
        }
    }

    fn parse_network(text: &str) -> Result<Prefix, Refusal<'_>> {
        match Prefix::parse(text) {
            Err(_) => Err(Box::new(move || {
                let text = quote(text);
                EvalError::new(format!(
                    "CIDR {text} parse error during conversion from string"
                ))
            })),
            Ok(prefix) if is_mapped(prefix.address) => Err(mapped(text, "")),
            Ok(prefix) => Ok(prefix),
        }
    }

    fn refuse_contained(refuse: Refusal<'_>) -> EvalError {
        refuse()
    }

    fn equals_another_type() -> Result<bool, EvalError> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_addresses_strictly() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let read = Specification::parse_address(text).map(|address| address.to_string());
            let read = read.map_err(|refuse| refuse().message().to_owned());
            assert_eq!(read.as_deref().map_err(String::as_str), expected, "{text}");
        };
        check("192.168.0.1", Ok("192.168.0.1"));
        check("2001:DB8::68", Ok("2001:db8::68"));
        check("::ffff:c0a8:1", Ok("192.168.0.1"));
        check(
            "::ffff:192.168.0.1",
            Err("IPv4-mapped IPv6 address \"::ffff:192.168.0.1\" is not allowed"),
        );
        check(
            "fe80::1%en0",
            Err("IP address \"fe80::1%en0\" with zone value is not allowed"),
        );
        for text in ["192.168.0.1.0", "192.168.00.1", "", "2001:db8:::68", "::%"] {
            let message =
                format!("IP Address \"{text}\" parse error during conversion from string");
            check(text, Err(&message));
        }
    }
}
