//! IP addresses as Go's `net/netip` reads and sorts them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::quote::quote;

/// An address, as `netip.ParseAddr` returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedAddress {
    /// The address. An address written as `::ffff:1.2.3.4` is a version 6 address.
    pub address: IpAddr,
    /// Whether the address had a zone: `fe80::1%eth0`.
    pub has_zone: bool,
}

/// The error for a text that is not an address, displayed in Go's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseAddressError<'t> {
    text: &'t [u8],
    fault: AddressFault<'t>,
}

/// The message, and the part of the text that was not read. This part is empty if Go does not print it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AddressFault<'t> {
    message: &'static str,
    at: &'t [u8],
}

impl fmt::Display for ParseAddressError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AddressFault { message, at } = self.fault;
        write!(f, "ParseAddr({}): {message}", quote(self.text))?;
        match at {
            [] => Ok(()),
            at => write!(f, " (at {})", quote(at)),
        }
    }
}

/// Reads an address (`netip.ParseAddr`).
///
/// # Errors
///
/// The text is not an address.
pub fn parse_address(
    text: &(impl AsRef<[u8]> + ?Sized),
) -> Result<ParsedAddress, ParseAddressError<'_>> {
    let text = text.as_ref();
    let first = text.iter().find(|byte| matches!(byte, b'.' | b':' | b'%'));
    let parsed = match first {
        Some(b'.') => parse_v4(text).map(|octets| ParsedAddress {
            address: IpAddr::V4(Ipv4Addr::from(octets)),
            has_zone: false,
        }),
        Some(b':') => parse_v6_with_zone(text),
        Some(_) => fault("missing IPv6 address", &[]),
        None => fault("unable to parse IP", &[]),
    };
    parsed.map_err(|fault| ParseAddressError { text, fault })
}

fn fault<'t, T>(message: &'static str, at: &'t [u8]) -> Result<T, AddressFault<'t>> {
    Err(AddressFault { message, at })
}

fn parse_v4(text: &[u8]) -> Result<[u8; 4], AddressFault<'_>> {
    let mut octets = [0; 4];
    let mut later = octets.iter_mut();
    let mut octet = later.next();
    // The octet read so far; `None` before its first digit.
    let mut value: Option<u8> = None;
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        match byte {
            b'0'..=b'9' => {
                if value == Some(0) {
                    return fault("IPv4 field has octet with leading zero", &[]);
                }
                let digit = byte.saturating_sub(b'0');
                let next = value.unwrap_or(0).checked_mul(10);
                value = next.and_then(|value| value.checked_add(digit));
                if value.is_none() {
                    return fault("IPv4 field has value >255", &[]);
                }
            }
            b'.' => {
                let (Some(read), [_, ..]) = (value.take(), after) else {
                    return fault("IPv4 field must have at least one digit", rest);
                };
                let (Some(current), Some(next)) = (octet, later.next()) else {
                    return fault("IPv4 address too long", &[]);
                };
                *current = read;
                octet = Some(next);
            }
            _ => return fault("unexpected character", rest),
        }
        rest = after;
    }
    match (octet, later.next()) {
        (Some(last), None) => *last = value.unwrap_or(0),
        _ => return fault("IPv4 address too short", &[]),
    }
    Ok(octets)
}

fn parse_v6_with_zone(text: &[u8]) -> Result<ParsedAddress, AddressFault<'_>> {
    let zone = text.iter().position(|byte| *byte == b'%');
    let (address, zone) = text.split_at(zone.unwrap_or(text.len()));
    if zone == b"%" {
        return fault("zone must be a non-empty string", &[]);
    }
    let address = IpAddr::V6(Ipv6Addr::from(parse_v6(address)?));
    let has_zone = !zone.is_empty();
    Ok(ParsedAddress { address, has_zone })
}

/// The groups of an IPv6 address that is being parsed.
#[derive(Default)]
struct AddressGroups {
    groups: [u16; 8],
    read: usize,
    /// The number of groups before `::`; `None` if the address has no `::`.
    ellipsis: Option<usize>,
}

impl AddressGroups {
    fn push(&mut self, group: u16) {
        if let Some(place) = self.groups.get_mut(self.read) {
            *place = group;
            self.read = self.read.saturating_add(1);
        }
    }

    fn missing(&self) -> usize {
        self.groups.len().saturating_sub(self.read)
    }

    /// Replaces `::` by zeros.
    fn finish(mut self) -> Result<[u16; 8], AddressFault<'static>> {
        let missing = self.missing();
        match self.ellipsis {
            None if missing > 0 => fault("address string too short", &[]),
            Some(_) if missing == 0 => {
                fault("the :: must expand to at least one field of zeros", &[])
            }
            ellipsis => {
                let ellipsis = ellipsis.unwrap_or(self.groups.len());
                if let Some(after) = self.groups.get_mut(ellipsis..) {
                    after.rotate_right(missing);
                }
                Ok(self.groups)
            }
        }
    }
}

fn parse_v6(text: &[u8]) -> Result<[u16; 8], AddressFault<'_>> {
    let mut found = AddressGroups::default();
    let mut rest = text;
    if let [b':', b':', after @ ..] = rest {
        found.ellipsis = Some(0);
        rest = after;
        if rest.is_empty() {
            return found.finish();
        }
    }
    while found.missing() > 0 {
        let (group, after) = parse_group(rest)?;
        if let [b'.', ..] = after {
            if found.ellipsis.is_none() && found.missing() != 2 {
                let message =
                    "embedded IPv4 address must replace the final 2 fields of the address";
                return fault(message, rest);
            }
            if found.missing() < 2 {
                let message =
                    "too many hex fields to fit an embedded IPv4 at the end of the address";
                return fault(message, rest);
            }
            let [a, b, c, d] = parse_v4(rest)?;
            found.push(u16::from_be_bytes([a, b]));
            found.push(u16::from_be_bytes([c, d]));
            rest = &[];
            break;
        }
        found.push(group);
        match after {
            [] => {
                rest = after;
                break;
            }
            [b':'] => return fault("colon must be followed by more characters", after),
            [b':', next @ ..] => rest = next,
            _ => return fault("unexpected character, want colon", after),
        }
        if let [b':', after @ ..] = rest {
            if found.ellipsis.is_some() {
                return fault("multiple :: in address", rest);
            }
            found.ellipsis = Some(found.read);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }
    match rest {
        [] => found.finish(),
        _ => fault("trailing garbage after address", rest),
    }
}

/// Reads up to four hexadecimal digits; returns the number and the rest of the text.
fn parse_group(text: &[u8]) -> Result<(u16, &[u8]), AddressFault<'_>> {
    let mut group: u16 = 0;
    let mut rest = text;
    let mut digits = 0;
    while let [byte, after @ ..] = rest {
        let Some(digit) = char::from(*byte).to_digit(16) else {
            break;
        };
        if digits == 4 {
            return fault("each group must have 4 or less digits", text);
        }
        digits = usize::saturating_add(digits, 1);
        group = (group << 4) | u16::try_from(digit).unwrap_or(0);
        rest = after;
    }
    if digits == 0 {
        return fault(
            "each colon-separated field must have at least one digit",
            text,
        );
    }
    Ok((group, rest))
}

/// Whether an address is an IPv4-mapped IPv6 address: `::ffff:1.2.3.4`.
pub fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.to_ipv4_mapped().is_some())
}

/// The length of an address in bits.
pub fn bit_length(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Whether an address is in 224.0.0.0/24, or is an IPv6 multicast address with link-local scope, such as ff02::1.
pub fn is_link_local_multicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => matches!(v4.octets(), [224, 0, 0, _]),
        IpAddr::V6(v6) => matches!(v6.octets(), [0xff, scope, ..] if scope & 0x0f == 2),
    }
}

/// Whether an address is in 169.254.0.0/16 or fe80::/10.
pub fn is_link_local_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}

/// Whether an address is neither unspecified, loopback, link-local, multicast nor 255.255.255.255. Private addresses are global.
pub fn is_global_unicast(address: IpAddr) -> bool {
    let special = address == IpAddr::V4(Ipv4Addr::BROADCAST)
        || address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast();
    !special && !is_link_local_unicast(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_go_reads() {
        let check = |text: &str, expected: &str, has_zone: bool| {
            let parsed = parse_address(text).unwrap();
            assert_eq!(
                (parsed.address.to_string(), parsed.has_zone),
                (expected.to_owned(), has_zone),
                "{text}"
            );
        };
        check("192.168.0.1", "192.168.0.1", false);
        check("0.0.0.0", "0.0.0.0", false);
        check("::", "::", false);
        check("2001:DB8::68", "2001:db8::68", false);
        check("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8", false);
        check("1:0:0:4:0:0:0:8", "1:0:0:4::8", false);
        check("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8", false);
        check("::1.2.3.4", "::102:304", false);
        check("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304", false);
        check("::ffff:1.2.3.4", "::ffff:1.2.3.4", false);
        check("fe80::1%eth0", "fe80::1", true);
        check("::%%", "::", true);
    }

    #[test]
    fn words_faults_as_go_does() {
        let check = |text: &str, expected: &str| {
            let fault = parse_address(text).unwrap_err().to_string();
            assert_eq!(fault, format!("ParseAddr({text:?}): {expected}"));
        };
        check("", "unable to parse IP");
        check("bad", "unable to parse IP");
        check("%a", "missing IPv6 address");
        check("1.2.3", "IPv4 address too short");
        check("1.2.3.4.5", "IPv4 address too long");
        check("1.2.03.4", "IPv4 field has octet with leading zero");
        check("1.2.256.4", "IPv4 field has value >255");
        let empty = "IPv4 field must have at least one digit";
        check("1..2.3", &format!("{empty} (at \".2.3\")"));
        check("1.2.3.", &format!("{empty} (at \".\")"));
        check("1.2.3.é", "unexpected character (at \"é\")");
        check("::1%", "zone must be a non-empty string");
        check(
            "12345::",
            "each group must have 4 or less digits (at \"12345::\")",
        );
        let no_digit = "each colon-separated field must have at least one digit";
        check("1:::", &format!("{no_digit} (at \":\")"));
        check(":1", &format!("{no_digit} (at \":1\")"));
        check("1:", "colon must be followed by more characters (at \":\")");
        check("1g:2", "unexpected character, want colon (at \"g:2\")");
        check("1::2::3", "multiple :: in address (at \":3\")");
        check(
            "1:2:3:4:5:6:7:8:9",
            "trailing garbage after address (at \"9\")",
        );
        check("1:2", "address string too short");
        check(
            "1:2:3:4::5:6:7:8",
            "the :: must expand to at least one field of zeros",
        );
        check(
            "1:1.2.3.4",
            "embedded IPv4 address must replace the final 2 fields of the address (at \"1.2.3.4\")",
        );
        check(
            "::1:2:3:4:5:6:7:1.2.3.4",
            "too many hex fields to fit an embedded IPv4 at the end of the address (at \"1.2.3.4\")",
        );
        check("::1.2.3", "IPv4 address too short");
    }

    #[test]
    fn sorts_addresses_as_go_does() {
        let check = |text: &str, multicast: bool, link_local: bool, global: bool| {
            let address = parse_address(text).unwrap().address;
            let actual = (
                is_link_local_multicast(address),
                is_link_local_unicast(address),
                is_global_unicast(address),
            );
            assert_eq!(actual, (multicast, link_local, global), "{text}");
        };
        check("224.0.0.1", true, false, false);
        check("224.0.1.1", false, false, false);
        check("ff12::1", true, false, false);
        check("ff03::1", false, false, false);
        check("169.254.169.254", false, true, false);
        check("febf::1", false, true, false);
        check("fec0::1", false, false, true);
        check("192.168.0.1", false, false, true);
        check("fd00::1", false, false, true);
        check("255.255.255.255", false, false, false);
        check("127.1.2.3", false, false, false);
        check("::1", false, false, false);
        check("::", false, false, false);
        check("0.0.0.0", false, false, false);
    }
}
