//! Networks as Go's `net/netip` reads and compares them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use gavel_golang::netip::{ParseAddressError, bit_length, parse_address};
use gavel_golang::quote::quote;

/// A network: an address, whose bits past the prefix may be set, and the length of the prefix in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// The address.
    pub address: IpAddr,
    /// The length of the prefix: at most the address' length.
    pub bits: u8,
}

/// The error for a text that is not a network, displayed in Go's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsePrefixError<'t> {
    text: &'t str,
    fault: Fault<'t>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault<'t> {
    NoSlash,
    Address(ParseAddressError<'t>),
    Zone,
    Bits(&'t str),
    OutOfRange,
}

impl fmt::Display for ParsePrefixError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "netip.ParsePrefix({}): ", quote(self.text))?;
        match self.fault {
            Fault::NoSlash => f.write_str("no '/'"),
            Fault::Address(error) => error.fmt(f),
            Fault::Zone => f.write_str("IPv6 zones cannot be present in a prefix"),
            Fault::Bits(bits) => write!(f, "bad bits after slash: {}", quote(bits)),
            Fault::OutOfRange => f.write_str("prefix length out of range"),
        }
    }
}

impl Prefix {
    /// Reads a network (`netip.ParsePrefix`).
    ///
    /// # Errors
    ///
    /// The text is not a network.
    pub fn parse(text: &str) -> Result<Prefix, ParsePrefixError<'_>> {
        parse(text).map_err(|fault| ParsePrefixError { text, fault })
    }

    /// The network that contains only this address.
    pub fn of(address: IpAddr) -> Prefix {
        let bits = bit_length(address);
        Prefix { address, bits }
    }

    /// The network with the bits past the prefix cleared.
    pub(crate) fn masked(self) -> Prefix {
        let past = bit_length(self.address).saturating_sub(self.bits).into();
        let address = match self.address {
            IpAddr::V4(v4) => {
                let mask = u32::MAX.checked_shl(past).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & mask))
            }
            IpAddr::V6(v6) => {
                let mask = u128::MAX.checked_shl(past).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & mask))
            }
        };
        Prefix { address, ..self }
    }

    /// Whether this network contains all addresses of another network of the same family.
    pub fn contains(self, inner: Prefix) -> bool {
        let widened = Prefix {
            bits: self.bits,
            ..inner
        };
        self.address.is_ipv4() == inner.address.is_ipv4()
            && self.bits <= inner.bits
            && widened.masked() == self.masked()
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

fn parse(text: &str) -> Result<Prefix, Fault<'_>> {
    let (address, length) = text.rsplit_once('/').ok_or(Fault::NoSlash)?;
    let parsed = parse_address(address).map_err(Fault::Address)?;
    if parsed.has_zone {
        return Err(Fault::Zone);
    }
    let address = parsed.address;
    // The length must not have a sign or leading zeros.
    let bits: u64 = match length.as_bytes() {
        [b'0'] => 0,
        [b'1'..=b'9', ..] => length.parse().map_err(|_| Fault::Bits(length))?,
        _ => return Err(Fault::Bits(length)),
    };
    // Go parses the length as an int, so a length above the greatest int is reported as bad bits, not as out of range.
    let bits = i64::try_from(bits).map_err(|_| Fault::Bits(length))?;
    match u8::try_from(bits) {
        Ok(bits) if bits <= bit_length(address) => Ok(Prefix { address, bits }),
        _ => Err(Fault::OutOfRange),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Prefix {
        Prefix::parse(text).unwrap()
    }

    #[test]
    fn reads_networks_strictly() {
        for text in ["10.1.2.3/8", "::/0", "::1/128", "0.0.0.0/32"] {
            assert_eq!(prefix(text).to_string(), text);
        }
        let check = |text: &str, expected: &str| {
            let fault = Prefix::parse(text).unwrap_err().to_string();
            assert_eq!(fault, format!("netip.ParsePrefix({text:?}): {expected}"));
        };
        check("10.0.0.0", "no '/'");
        check("10/8", "ParseAddr(\"10\"): unable to parse IP");
        check("::1%a/8", "IPv6 zones cannot be present in a prefix");
        for bits in ["", "08", "+8", "-1", "00", "1a", "9223372036854775808"] {
            let text = format!("10.0.0.0/{bits}");
            check(&text, &format!("bad bits after slash: {bits:?}"));
        }
        check("10.0.0.0/33", "prefix length out of range");
        check("::/129", "prefix length out of range");
        check("::/9223372036854775807", "prefix length out of range");
    }

    #[test]
    fn masks_the_bits_past_the_prefix() {
        let check = |text: &str, expected: &str| {
            assert_eq!(prefix(text).masked(), prefix(expected), "{text}");
        };
        check("10.1.2.3/8", "10.0.0.0/8");
        check("255.255.255.255/0", "0.0.0.0/0");
        check("1.2.3.4/32", "1.2.3.4/32");
        check("2001:db8:ffff::1/33", "2001:db8:8000::/33");
        check("ffff::/0", "::/0");
    }

    #[test]
    fn a_network_contains_what_shares_its_prefix() {
        let check = |outer: &str, inner: &str, expected: bool| {
            let contains = prefix(outer).contains(prefix(inner));
            assert_eq!(contains, expected, "{outer} {inner}");
        };
        check("0.0.0.0/0", "255.1.2.3/32", true);
        check("::/0", "0.0.0.0/0", false);
        check("10.1.2.3/8", "10.200.0.0/16", true);
        check("10.0.0.0/8", "11.0.0.0/16", false);
        check("10.0.0.0/8", "10.0.0.0/7", false);
        check("2001:db8::/32", "2001:db8::/33", true);
    }
}
