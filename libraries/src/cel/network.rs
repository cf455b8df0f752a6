//! IP addresses and networks, as the specification's conformance cases know them.
//!
//! An address is never kept as an IPv4-mapped IPv6 one: `::ffff:c0a8:1` is 192.168.0.1, and the dotted spelling
//! `::ffff:192.168.0.1` is refused.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use gavel_engine::cost::Cost;
use gavel_engine::decl::{CallContext, Function, Implementation, Overload};
use gavel_engine::error::EvalError;
use gavel_engine::golang::quote::quote;
use gavel_engine::value::{Arena, Opaque, Value};

/// The name of the type of addresses.
pub const IP: &str = "net.IP";
/// The name of the type of networks.
pub const CIDR: &str = "net.CIDR";

/// The functions.
#[rustfmt::skip] // A table: a row a line.
pub const NETWORK: &[Overload] = &[
    row("isIP", "is_ip", "(string) -> bool", is_ip, "isIP('10.0.0.1')"),
    row("isCIDR", "is_cidr", "(string) -> bool", is_cidr, "isCIDR('10.0.0.0/8')"),
    row("ip", "string_to_ip", "(string) -> net.IP()", ip, "ip('::1') != ip('::2')"),
    row("ip", "cidr_ip", "net.CIDR().() -> net.IP()", cidr_ip, "cidr('10.0.0.1/8').ip() == ip('10.0.0.1')"),
    row("ip.isCanonical", "ip_is_canonical", "(string) -> bool", is_canonical, "!ip.isCanonical('2001:DB8::1')"),
    row("cidr", "string_to_cidr", "(string) -> net.CIDR()", cidr, "cidr('10.0.0.0/8') != cidr('10.0.0.0/9')"),
    row("string", "ip_to_string", "(net.IP()) -> string", to_text, "string(ip('2001:DB8::1')) == '2001:db8::1'"),
    row("string", "cidr_to_string", "(net.CIDR()) -> string", to_text, "string(cidr('10.0.0.0/8')) == '10.0.0.0/8'"),
    row("family", "ip_family", "net.IP().() -> int", family, "ip('::1').family() == 6"),
    row("isUnspecified", "ip_is_unspecified", "net.IP().() -> bool", is_unspecified, "ip('0.0.0.0').isUnspecified()"),
    row("isLoopback", "ip_is_loopback", "net.IP().() -> bool", is_loopback, "ip('127.0.0.1').isLoopback()"),
    row("isLinkLocalMulticast", "ip_is_link_local_multicast", "net.IP().() -> bool", is_link_local_multicast, "ip('224.0.0.1').isLinkLocalMulticast()"),
    row("isLinkLocalUnicast", "ip_is_link_local_unicast", "net.IP().() -> bool", is_link_local_unicast, "ip('fe80::1').isLinkLocalUnicast()"),
    row("isGlobalUnicast", "ip_is_global_unicast", "net.IP().() -> bool", is_global_unicast, "ip('192.168.0.1').isGlobalUnicast()"),
    row("containsIP", "cidr_contains_ip", "net.CIDR().(net.IP()) -> bool", contains_ip, "cidr('10.0.0.0/8').containsIP(ip('10.0.0.1'))"),
    row("containsIP", "cidr_contains_ip_string", "net.CIDR().(string) -> bool", contains_ip, "cidr('10.0.0.0/8').containsIP('10.0.0.1')"),
    row("containsCIDR", "cidr_contains_cidr", "net.CIDR().(net.CIDR()) -> bool", contains_cidr, "cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))"),
    row("containsCIDR", "cidr_contains_cidr_string", "net.CIDR().(string) -> bool", contains_cidr, "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')"),
    row("masked", "cidr_masked", "net.CIDR().() -> net.CIDR()", masked, "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')"),
    row("prefixLength", "cidr_prefix_length", "net.CIDR().() -> int", prefix_length, "cidr('10.0.0.0/8').prefixLength() == 8"),
];

const fn row(
    function: &'static str,
    id: &'static str,
    signature: &'static str,
    body: Function,
    example: &'static str,
) -> Overload {
    Overload {
        function,
        id,
        signature,
        implementation: Implementation::Typed(body),
        cost: Cost::ONE,
        example,
    }
}

/// An address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ip(IpAddr);

/// A network: an address, whose bits past the prefix may be set, and the length of the prefix in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cidr {
    address: IpAddr,
    prefix: u8,
}

impl Opaque for Ip {
    fn type_name(&self) -> &'static str {
        IP
    }

    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        Ok(address_of(other) == Some(self.0))
    }

    fn to_text<'a>(&self, arena: &'a Arena) -> &'a str {
        arena.bump().alloc_str(&self.0.to_string())
    }
}

impl Opaque for Cidr {
    fn type_name(&self) -> &'static str {
        CIDR
    }

    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        Ok(network_of(other) == Some(*self))
    }

    fn to_text<'a>(&self, arena: &'a Arena) -> &'a str {
        arena
            .bump()
            .alloc_str(&format!("{}/{}", self.address, self.prefix))
    }
}

impl Ip {
    fn parse(text: &str) -> Result<Ip, EvalError> {
        match text.parse() {
            Ok(IpAddr::V6(v6)) => match v6.to_ipv4_mapped() {
                Some(_) if text.contains('.') => Err(mapped(text)),
                Some(v4) => Ok(Ip(IpAddr::V4(v4))),
                None => Ok(Ip(IpAddr::V6(v6))),
            },
            Ok(v4) => Ok(Ip(v4)),
            Err(_) if has_zone(text) => {
                let message = format!("IP address {} with zone value is not allowed", quote(text));
                Err(EvalError::new(message))
            }
            Err(_) => {
                let text = quote(text);
                let message =
                    format!("IP Address {text} parse error during conversion from string");
                Err(EvalError::new(message))
            }
        }
    }
}

impl Cidr {
    fn parse(text: &str) -> Result<Cidr, EvalError> {
        let cidr = text.rsplit_once('/').and_then(|(address, prefix)| {
            let address: IpAddr = address.parse().ok()?;
            // No sign and no leading zeros.
            let plain = prefix == "0" || prefix.starts_with(|c: char| matches!(c, '1'..='9'));
            let prefix = prefix.parse().ok().filter(|_| plain)?;
            (prefix <= bits(address)).then_some(Cidr { address, prefix })
        });
        match cidr {
            Some(Cidr {
                address: IpAddr::V6(v6),
                ..
            }) if v6.to_ipv4_mapped().is_some() => Err(mapped(text)),
            Some(cidr) => Ok(cidr),
            None => {
                let text = quote(text);
                let message = format!("CIDR {text} parse error during conversion from string");
                Err(EvalError::new(message))
            }
        }
    }

    /// The network alone: the bits past the prefix are cleared.
    fn masked(self) -> Cidr {
        let address = match self.address {
            IpAddr::V4(v4) => {
                let mask = u32::MAX
                    .checked_shl(32u32.saturating_sub(self.prefix.into()))
                    .unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & mask))
            }
            IpAddr::V6(v6) => {
                let mask = u128::MAX
                    .checked_shl(128u32.saturating_sub(self.prefix.into()))
                    .unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & mask))
            }
        };
        Cidr { address, ..self }
    }

    fn contains(self, inner: Cidr) -> bool {
        let same_family = self.address.is_ipv4() == inner.address.is_ipv4();
        let widened = Cidr {
            prefix: self.prefix,
            ..inner
        };
        same_family && self.prefix <= inner.prefix && widened.masked() == self.masked()
    }
}

fn mapped(text: &str) -> EvalError {
    EvalError::new(format!(
        "IPv4-mapped IPv6 address {} is not allowed",
        quote(text)
    ))
}

fn has_zone(text: &str) -> bool {
    let parts = text.split_once('%');
    parts.is_some_and(|(address, zone)| !zone.is_empty() && address.parse::<Ipv6Addr>().is_ok())
}

/// The bits of an address.
fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn address_of(value: &Value<'_>) -> Option<IpAddr> {
    match value {
        Value::Opaque(opaque) => opaque.downcast_ref::<Ip>().map(|ip| ip.0),
        _ => None,
    }
}

fn network_of(value: &Value<'_>) -> Option<Cidr> {
    match value {
        Value::Opaque(opaque) => opaque.downcast_ref::<Cidr>().copied(),
        _ => None,
    }
}

fn is_ip<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    text(args).map(|text| Value::Bool(Ip::parse(text).is_ok()))
}

fn is_cidr<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    text(args).map(|text| Value::Bool(Cidr::parse(text).is_ok()))
}

fn ip<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(call.arena.opaque(Ip::parse(text(args)?)?))
}

fn cidr<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(call.arena.opaque(Cidr::parse(text(args)?)?))
}

fn is_canonical<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let text = text(args)?;
    Ok(Value::Bool(Ip::parse(text)?.0.to_string() == text))
}

fn text<'a>(args: &[Value<'a>]) -> Result<&'a str, EvalError> {
    match *args {
        [Value::String(text)] => Ok(text),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn to_text<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [Value::Opaque(opaque)] => Ok(Value::String(opaque.to_text(call.arena))),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn family<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    address(args).map(|ip| Value::Int(if ip.is_ipv4() { 4 } else { 6 }))
}

fn is_unspecified<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    address(args).map(|ip| Value::Bool(ip.is_unspecified()))
}

fn is_loopback<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    address(args).map(|ip| Value::Bool(ip.is_loopback()))
}

fn is_link_local_multicast<'a>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    address(args).map(|ip| {
        Value::Bool(match ip {
            IpAddr::V4(v4) => matches!(v4.octets(), [224, 0, 0, _]),
            IpAddr::V6(v6) => matches!(v6.octets(), [0xff, scope, ..] if scope & 0x0f == 2),
        })
    })
}

fn is_link_local_unicast<'a>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    address(args).map(|ip| Value::Bool(link_local(ip)))
}

fn is_global_unicast<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    address(args).map(|ip| {
        let special =
            ip == IpAddr::V4(Ipv4Addr::BROADCAST) || ip.is_unspecified() || ip.is_loopback();
        Value::Bool(!special && !ip.is_multicast() && !link_local(ip))
    })
}

fn link_local(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    }
}

fn address(args: &[Value<'_>]) -> Result<IpAddr, EvalError> {
    let ip = args.first().and_then(address_of);
    ip.ok_or_else(EvalError::no_such_overload)
}

fn cidr_ip<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(call.arena.opaque(Ip(network(args)?.address)))
}

fn masked<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(call.arena.opaque(network(args)?.masked()))
}

fn prefix_length<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    network(args).map(|network| Value::Int(network.prefix.into()))
}

fn contains_ip<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let address = match args.get(1) {
        Some(Value::String(text)) => Some(Ip::parse(text)?.0),
        other => other.and_then(address_of),
    };
    let address = address.ok_or_else(EvalError::no_such_overload)?;
    let alone = Cidr {
        address,
        prefix: bits(address),
    };
    Ok(Value::Bool(network(args)?.contains(alone)))
}

fn contains_cidr<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let inner = match args.get(1) {
        Some(Value::String(text)) => Some(Cidr::parse(text)?),
        other => other.and_then(network_of),
    };
    let inner = inner.ok_or_else(EvalError::no_such_overload)?;
    Ok(Value::Bool(network(args)?.contains(inner)))
}

fn network(args: &[Value<'_>]) -> Result<Cidr, EvalError> {
    let network = args.first().and_then(network_of);
    network.ok_or_else(EvalError::no_such_overload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_addresses_strictly() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let read = Ip::parse(text).map(|ip| ip.0.to_string());
            let read = read.map_err(|error| error.message().to_owned());
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

    #[test]
    fn reads_networks_strictly() {
        for (text, expected) in [
            ("10.0.0.0/8", true),
            ("::/0", true),
            ("10.0.0.0/33", false),
            ("10.0.0.0/", false),
            ("10.0.0.0/08", false),
            ("10.0.0.0/+8", false),
            ("10.0.0.0", false),
            ("fe80::1%en0/24", false),
            ("::ffff:192.168.0.1/24", false),
        ] {
            assert_eq!(Cidr::parse(text).is_ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_network_contains_what_shares_its_prefix() {
        let check = |outer: &str, inner: &str, expected: bool| {
            let (outer, inner) = (Cidr::parse(outer), Cidr::parse(inner));
            let (Ok(outer), Ok(inner)) = (outer, inner) else {
                panic!("not a network");
            };
            assert_eq!(outer.contains(inner), expected, "{outer:?} {inner:?}");
        };
        check("0.0.0.0/0", "255.1.2.3/32", true);
        check("::/0", "0.0.0.0/0", false);
        check("10.1.2.3/8", "10.200.0.0/16", true);
        check("10.0.0.0/8", "11.0.0.0/16", false);
        check("10.0.0.0/8", "10.0.0.0/7", false);
        check("2001:db8::/32", "2001:db8::/33", true);
    }
}
