//! IP addresses (apiserver `pkg/cel/library/ip.go`).

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::net::IpAddr;

use gavel_engine::body;
use gavel_engine::cost::formulas::nth;
use gavel_engine::cost::{CallEstimate, Cost, SizeEstimate, TRAVERSAL_FACTOR};
use gavel_engine::decl::{CallContext, Form, Overload, Yield, row};
use gavel_engine::error::EvalError;
use gavel_engine::value::{Opaque, OpaqueKey, Value};
use gavel_golang::netip::{
    bit_length, is_global_unicast, is_link_local_multicast, is_link_local_unicast, is_mapped,
    parse_address,
};
use gavel_golang::quote::quote;

use smallvec::SmallVec;

use super::values::cidr::Prefix;
use crate::cost::PARSING;

/// The name of the type of addresses.
pub const IP: &str = "net.IP";

/// The cost of `ip.isCanonical`: the text is read, written and compared.
const CANONICAL: Cost = Cost::sizes(canonical_cost).of_name();

/// The functions of IP addresses.
#[rustfmt::skip] // One row per line.
pub const IPS: &[Overload] = &[
    row("ip", "string_to_ip", "(string) -> net.IP()", body!(ip::<Kubernetes>), "ip('127.0.0.1') != ip('127.0.0.2')").form(Form::Parse).cost(PARSING),
    row("isIP", "is_ip", "(string) -> bool", body!(is_ip::<Kubernetes>), "isIP('::1') && !isIP('::ffff:127.0.0.1')").cost(PARSING),
    row("ip.isCanonical", "ip_is_canonical", "(string) -> bool", body!(is_canonical::<Kubernetes>), "ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD')").cost(CANONICAL),
    row("string", "ip_to_string", "(net.IP()) -> string", body!(text), "string(ip('2001:DB8::1')) == '2001:db8::1'").form(Form::Conversion).yields(Yield::Printed),
    row("family", "ip_family", "net.IP().() -> int", body!(family::<Kubernetes>), "ip('::1').family() == 6").cost(Cost::ONE.of_name()),
    row("isUnspecified", "ip_is_unspecified", "net.IP().() -> bool", body!(is_unspecified::<Kubernetes>), "ip('0.0.0.0').isUnspecified()").cost(Cost::ONE.of_name()),
    row("isLoopback", "ip_is_loopback", "net.IP().() -> bool", body!(is_loopback::<Kubernetes>), "ip('127.0.0.1').isLoopback()").cost(Cost::ONE.of_name()),
    row("isLinkLocalMulticast", "ip_is_link_local_multicast", "net.IP().() -> bool", body!(link_local_multicast::<Kubernetes>), "ip('224.0.0.1').isLinkLocalMulticast()").cost(Cost::ONE.of_name()),
    row("isLinkLocalUnicast", "ip_is_link_local_unicast", "net.IP().() -> bool", body!(link_local_unicast::<Kubernetes>), "ip('fe80::1').isLinkLocalUnicast()").cost(Cost::ONE.of_name()),
    row("isGlobalUnicast", "ip_is_global_unicast", "net.IP().() -> bool", body!(global_unicast::<Kubernetes>), "ip('192.168.0.1').isGlobalUnicast()").cost(Cost::ONE.of_name()),
];

/// Creates the error for an invalid text. The message quotes the text, which may be long, so it is built only if needed.
pub(crate) type Refusal<'t> = Box<dyn FnOnce() -> EvalError + 't>;

/// The rules for addresses and networks in which Kubernetes and CEL's specification differ.
pub(crate) trait Rules: fmt::Debug + Clone + Copy + Send + Sync + 'static {
    /// Reads an address.
    fn parse_address(text: &str) -> Result<IpAddr, Refusal<'_>>;

    /// Reads a network.
    fn parse_network(text: &str) -> Result<Prefix, Refusal<'_>>;

    /// The error of `containsIP` for a text that is not an address.
    fn refuse_contained(refusal: Refusal<'_>) -> EvalError;

    /// The result of comparing an address or network with a value of another type.
    fn equals_another_type() -> Result<bool, EvalError>;
}

/// How the Kubernetes library parses addresses, and the messages of its errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kubernetes;

impl Rules for Kubernetes {
    fn parse_address(text: &str) -> Result<IpAddr, Refusal<'_>> {
        match parse_address(text) {
            Err(error) => Err(Box::new(move || {
                let text = quote(text);
                EvalError::new(format!(
                    "IP Address {text} parse error during conversion from string: {error}"
                ))
            })),
            Ok(parsed) if parsed.has_zone => Err(zoned(text)),
            Ok(parsed) if is_mapped(parsed.address) => Err(mapped(text, "")),
            Ok(parsed) => Ok(parsed.address),
        }
    }

    fn parse_network(text: &str) -> Result<Prefix, Refusal<'_>> {
        // Upstream's message contains this text twice.
        const CONTEXT: &str = "network address parse error during conversion from string: ";
        match Prefix::parse(text) {
            Err(error) => Err(Box::new(move || {
                EvalError::new(format!("{CONTEXT}{CONTEXT}{error}"))
            })),
            Ok(prefix) if is_mapped(prefix.address) => Err(mapped(text, CONTEXT)),
            Ok(prefix) => Ok(prefix),
        }
    }

    fn refuse_contained(_: Refusal<'_>) -> EvalError {
        EvalError::no_such_overload()
    }

    fn equals_another_type() -> Result<bool, EvalError> {
        Err(EvalError::no_such_overload())
    }
}

/// The error for addresses with a zone.
pub(crate) fn zoned(text: &str) -> Refusal<'_> {
    Box::new(move || {
        let text = quote(text);
        EvalError::new(format!("IP address {text} with zone value is not allowed"))
    })
}

/// The error for IPv4-mapped IPv6 addresses.
pub(crate) fn mapped<'t>(text: &'t str, context: &'static str) -> Refusal<'t> {
    Box::new(move || {
        let text = quote(text);
        EvalError::new(format!(
            "{context}IPv4-mapped IPv6 address {text} is not allowed"
        ))
    })
}

/// The octets of an address: 4 or 16, so that addresses of different families have different keys.
pub(super) fn key_of(address: IpAddr) -> SmallVec<[u8; 24]> {
    match address {
        IpAddr::V4(address) => SmallVec::from_slice(&address.octets()),
        IpAddr::V6(address) => SmallVec::from_slice(&address.octets()),
    }
}

/// An address as a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ip<R> {
    pub(crate) address: IpAddr,
    rules: PhantomData<R>,
}

impl<R: Rules> Ip<R> {
    pub(crate) fn new(address: IpAddr) -> Self {
        let rules = PhantomData;
        Ip { address, rules }
    }
}

impl<R: Rules> Opaque for Ip<R> {
    fn type_name(&self) -> &'static str {
        IP
    }

    fn key(&self) -> OpaqueKey {
        OpaqueKey::Value(key_of(self.address))
    }

    fn wrapped_go_type(&self) -> Option<&'static str> {
        Some("netip.Addr")
    }

    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        match other.as_opaque::<Self>() {
            Some(other) => Ok(self.address == other.address),
            None => R::equals_another_type(),
        }
    }

    /// The number of bytes of the address.
    fn size(&self) -> Option<u64> {
        Some(u64::from(bit_length(self.address)) / 8)
    }

    fn to_text(&self) -> Cow<'_, str> {
        Cow::Owned(self.address.to_string())
    }
}

pub(crate) fn ip<'a, R: Rules>(call: &CallContext<'a>, text: &str) -> Result<Value<'a>, EvalError> {
    let address = R::parse_address(text).map_err(|refuse| refuse())?;
    Ok(call.arena.opaque(Ip::<R>::new(address)))
}

pub(crate) fn is_ip<R: Rules>(text: &str) -> bool {
    R::parse_address(text).is_ok()
}

pub(crate) fn is_canonical<R: Rules>(text: &str) -> Result<bool, EvalError> {
    let address = R::parse_address(text).map_err(|refuse| refuse())?;
    Ok(address.to_string() == text)
}

/// The text of an address or a network.
pub(crate) fn text<'a>(call: &CallContext<'a>, value: &'a dyn Opaque) -> &'a str {
    call.arena.bump().alloc_str(&value.to_text())
}

pub(crate) fn family<R: Rules>(ip: &Ip<R>) -> i64 {
    if ip.address.is_ipv4() { 4 } else { 6 }
}

pub(crate) fn is_unspecified<R: Rules>(ip: &Ip<R>) -> bool {
    ip.address.is_unspecified()
}

pub(crate) fn is_loopback<R: Rules>(ip: &Ip<R>) -> bool {
    ip.address.is_loopback()
}

pub(crate) fn link_local_multicast<R: Rules>(ip: &Ip<R>) -> bool {
    is_link_local_multicast(ip.address)
}

pub(crate) fn link_local_unicast<R: Rules>(ip: &Ip<R>) -> bool {
    is_link_local_unicast(ip.address)
}

pub(crate) fn global_unicast<R: Rules>(ip: &Ip<R>) -> bool {
    is_global_unicast(ip.address)
}

fn canonical_cost(sizes: &[SizeEstimate]) -> CallEstimate {
    CallEstimate::new(nth(sizes, 0).costs(2.0 * TRAVERSAL_FACTOR))
}
