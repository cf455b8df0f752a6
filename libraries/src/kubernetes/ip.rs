//! IP addresses (apiserver `pkg/cel/library/ip.go`).

use std::fmt;
use std::marker::PhantomData;
use std::net::IpAddr;

use gavel_engine::cost::formulas::nth;
use gavel_engine::cost::{CallEstimate, Cost, SizeEstimate, TRAVERSAL_FACTOR};
use gavel_engine::decl::{CallContext, Overload};
use gavel_engine::error::EvalError;
use gavel_engine::value::{Arena, Opaque, OpaqueKey, Value};
use gavel_golang::netip::{
    bit_length, is_global_unicast, is_link_local_multicast, is_link_local_unicast, is_mapped,
    parse_address,
};
use gavel_golang::quote::quote;

use smallvec::SmallVec;

use super::typed;
use super::values::cidr::Prefix;
use crate::cost::PARSING;

/// The name of the type of addresses.
pub const IP: &str = "net.IP";

/// Of `ip.isCanonical`: the text is read, written and compared.
const CANONICAL: Cost = Cost::sizes(canonical_cost).of_name();

/// The functions.
#[rustfmt::skip] // A table: a row a line.
pub const IPS: &[Overload] = &[
    typed("ip", "string_to_ip", "(string) -> net.IP()", ip::<Kubernetes>, PARSING, "ip('127.0.0.1') != ip('127.0.0.2')"),
    typed("isIP", "is_ip", "(string) -> bool", is_ip::<Kubernetes>, PARSING, "isIP('::1') && !isIP('::ffff:127.0.0.1')"),
    typed("ip.isCanonical", "ip_is_canonical", "(string) -> bool", is_canonical::<Kubernetes>, CANONICAL, "ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD')"),
    typed("string", "ip_to_string", "(net.IP()) -> string", text, Cost::ONE, "string(ip('2001:DB8::1')) == '2001:db8::1'"),
    typed("family", "ip_family", "net.IP().() -> int", family::<Kubernetes>, Cost::ONE.of_name(), "ip('::1').family() == 6"),
    typed("isUnspecified", "ip_is_unspecified", "net.IP().() -> bool", is_unspecified::<Kubernetes>, Cost::ONE.of_name(), "ip('0.0.0.0').isUnspecified()"),
    typed("isLoopback", "ip_is_loopback", "net.IP().() -> bool", is_loopback::<Kubernetes>, Cost::ONE.of_name(), "ip('127.0.0.1').isLoopback()"),
    typed("isLinkLocalMulticast", "ip_is_link_local_multicast", "net.IP().() -> bool", link_local_multicast::<Kubernetes>, Cost::ONE.of_name(), "ip('224.0.0.1').isLinkLocalMulticast()"),
    typed("isLinkLocalUnicast", "ip_is_link_local_unicast", "net.IP().() -> bool", link_local_unicast::<Kubernetes>, Cost::ONE.of_name(), "ip('fe80::1').isLinkLocalUnicast()"),
    typed("isGlobalUnicast", "ip_is_global_unicast", "net.IP().() -> bool", global_unicast::<Kubernetes>, Cost::ONE.of_name(), "ip('192.168.0.1').isGlobalUnicast()"),
];

/// Where the languages differ that know addresses and networks.
pub(crate) trait Rules: fmt::Debug + Clone + Copy + Send + Sync + 'static {
    /// Reads an address.
    fn parse_address(text: &str) -> Result<IpAddr, EvalError>;

    /// Reads a network.
    fn parse_network(text: &str) -> Result<Prefix, EvalError>;

    /// What is said of a text in the place of an address that is looked for in a network.
    fn refuse_contained(error: EvalError) -> EvalError;

    /// Whether an address or network equals a value of another type.
    fn equals_another_type() -> Result<bool, EvalError>;
}

/// The language of Kubernetes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kubernetes;

impl Rules for Kubernetes {
    fn parse_address(text: &str) -> Result<IpAddr, EvalError> {
        let message = match parse_address(text) {
            Err(error) => {
                let text = quote(text);
                format!("IP Address {text} parse error during conversion from string: {error}")
            }
            Ok(parsed) if parsed.has_zone => {
                format!("IP address {} with zone value is not allowed", quote(text))
            }
            Ok(parsed) if is_mapped(parsed.address) => return Err(mapped(text, "")),
            Ok(parsed) => return Ok(parsed.address),
        };
        Err(EvalError::new(message))
    }

    fn parse_network(text: &str) -> Result<Prefix, EvalError> {
        // Upstream says it twice.
        const CONTEXT: &str = "network address parse error during conversion from string: ";
        match Prefix::parse(text) {
            Err(error) => Err(EvalError::new(format!("{CONTEXT}{CONTEXT}{error}"))),
            Ok(prefix) if is_mapped(prefix.address) => Err(mapped(text, CONTEXT)),
            Ok(prefix) => Ok(prefix),
        }
    }

    fn refuse_contained(_: EvalError) -> EvalError {
        EvalError::no_such_overload()
    }

    fn equals_another_type() -> Result<bool, EvalError> {
        Err(EvalError::no_such_overload())
    }
}

/// A version 4 address in the clothes of version 6 is refused.
pub(crate) fn mapped(text: &str, context: &str) -> EvalError {
    let text = quote(text);
    EvalError::new(format!(
        "{context}IPv4-mapped IPv6 address {text} is not allowed"
    ))
}

/// The bits of an address, those of the two families apart.
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

    fn read(value: Option<&Value<'_>>) -> Option<IpAddr> {
        match value {
            Some(Value::Opaque(opaque)) => opaque.downcast_ref::<Self>().map(|ip| ip.address),
            _ => None,
        }
    }
}

impl<R: Rules> Opaque for Ip<R> {
    fn type_name(&self) -> &'static str {
        IP
    }

    fn key(&self) -> OpaqueKey {
        OpaqueKey::Value(key_of(self.address))
    }

    fn native_error(&self) -> Option<EvalError> {
        Some(EvalError::unsupported_conversion(
            "netip.Addr",
            self.to_text(&Arena::new()),
        ))
    }

    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        match Ip::<R>::read(Some(other)) {
            Some(other) => Ok(self.address == other),
            None => R::equals_another_type(),
        }
    }

    /// The bytes of the address.
    fn size(&self) -> Option<u64> {
        Some(u64::from(bit_length(self.address)) / 8)
    }

    fn to_text<'a>(&self, arena: &'a Arena) -> &'a str {
        arena.bump().alloc_str(&self.address.to_string())
    }
}

/// The address that an argument is, or that its text spells.
pub(crate) fn address<R: Rules>(argument: Option<&Value<'_>>) -> Result<IpAddr, EvalError> {
    match argument {
        Some(Value::String(text)) => R::parse_address(text),
        argument => Ip::<R>::read(argument).ok_or_else(EvalError::no_such_overload),
    }
}

pub(crate) fn ip<'a, R: Rules>(
    call: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let address = address::<R>(args.first())?;
    Ok(call.arena.opaque(Ip::<R>::new(address)))
}

pub(crate) fn is_ip<'a, R: Rules>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(address::<R>(args.first()).is_ok()))
}

pub(crate) fn is_canonical<'a, R: Rules>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let address = address::<R>(args.first())?.to_string();
    let same = matches!(args, [Value::String(text)] if *text == address);
    Ok(Value::Bool(same))
}

/// The text of an address or a network.
pub(crate) fn text<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match args {
        [Value::Opaque(opaque)] => Ok(Value::String(opaque.to_text(call.arena))),
        _ => Err(EvalError::no_such_overload()),
    }
}

pub(crate) fn family<'a, R: Rules>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let is_v4 = address::<R>(args.first())?.is_ipv4();
    Ok(Value::Int(if is_v4 { 4 } else { 6 }))
}

pub(crate) fn is_unspecified<'a, R: Rules>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(address::<R>(args.first())?.is_unspecified()))
}

pub(crate) fn is_loopback<'a, R: Rules>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(address::<R>(args.first())?.is_loopback()))
}

pub(crate) fn link_local_multicast<'a, R: Rules>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(is_link_local_multicast(address::<R>(
        args.first(),
    )?)))
}

pub(crate) fn link_local_unicast<'a, R: Rules>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(is_link_local_unicast(address::<R>(
        args.first(),
    )?)))
}

pub(crate) fn global_unicast<'a, R: Rules>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(is_global_unicast(address::<R>(args.first())?)))
}

fn canonical_cost(sizes: &[SizeEstimate]) -> CallEstimate {
    CallEstimate::new(nth(sizes, 0).costs(2.0 * TRAVERSAL_FACTOR))
}
