//! Networks (apiserver `pkg/cel/library/cidr.go`).

use std::marker::PhantomData;

use gavel_engine::cost::{
    CallEstimate, CallSite, Cost, CostEstimate, SizeEstimate, TRAVERSAL_FACTOR, tracked_size,
};
use gavel_engine::decl::{CallContext, Overload};
use gavel_engine::error::EvalError;
use gavel_engine::value::{Arena, Opaque, OpaqueKey, Value};

use super::ip::{Ip, Kubernetes, Rules, address, key_of, text};
use super::typed;
use super::values::cidr::Prefix;
use crate::cost::PARSING;

/// The name of the type of networks.
pub const CIDR: &str = "net.CIDR";

/// Of `containsIP`.
const CONTAINS_IP: Cost = Cost::split(|_| ip_estimate(), |args, _| Ok(ip_cost(args)));
/// Likewise, and a text is read.
const CONTAINS_IP_TEXT: Cost = Cost::split(
    |call| and_text(ip_estimate(), call),
    |args, _| Ok(ip_cost(args).saturating_add(text_cost(args))),
);
/// Of `containsCIDR`.
const CONTAINS_CIDR: Cost = Cost::split(|_| cidr_estimate(), |args, _| Ok(cidr_cost(args)));
/// Likewise, and a text is read.
const CONTAINS_CIDR_TEXT: Cost = Cost::split(
    |call| and_text(cidr_estimate(), call),
    |args, _| Ok(cidr_cost(args).saturating_add(text_cost(args))),
);

/// The functions.
#[rustfmt::skip] // A table: a row a line.
pub const CIDRS: &[Overload] = &[
    typed("cidr", "string_to_cidr", "(string) -> net.CIDR()", cidr::<Kubernetes>, PARSING, "cidr('10.0.0.0/8') != cidr('10.0.0.0/9')"),
    typed("isCIDR", "is_cidr", "(string) -> bool", is_cidr::<Kubernetes>, PARSING, "isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0/33')"),
    typed("string", "cidr_to_string", "(net.CIDR()) -> string", text, Cost::ONE, "string(cidr('2001:DB8::/32')) == '2001:db8::/32'"),
    typed("containsIP", "cidr_contains_ip_string", "net.CIDR().(string) -> bool", contains_ip::<Kubernetes>, CONTAINS_IP_TEXT, "cidr('10.0.0.0/8').containsIP('10.0.0.1')"),
    typed("containsIP", "cidr_contains_ip_ip", "net.CIDR().(net.IP()) -> bool", contains_ip::<Kubernetes>, CONTAINS_IP.of_name(), "cidr('10.0.0.0/8').containsIP(ip('10.0.0.1'))"),
    typed("containsCIDR", "cidr_contains_cidr_string", "net.CIDR().(string) -> bool", contains_cidr::<Kubernetes>, CONTAINS_CIDR_TEXT, "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')"),
    typed("containsCIDR", "cidr_contains_cidr", "net.CIDR().(net.CIDR()) -> bool", contains_cidr::<Kubernetes>, CONTAINS_CIDR.of_name(), "cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))"),
    typed("ip", "cidr_ip", "net.CIDR().() -> net.IP()", cidr_ip::<Kubernetes>, Cost::ONE, "cidr('10.0.0.1/8').ip() == ip('10.0.0.1')"),
    typed("masked", "cidr_masked", "net.CIDR().() -> net.CIDR()", masked::<Kubernetes>, Cost::ONE.of_name(), "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')"),
    typed("prefixLength", "cidr_prefix_length", "net.CIDR().() -> int", prefix_length::<Kubernetes>, Cost::ONE.of_name(), "cidr('10.0.0.0/8').prefixLength() == 8"),
];

/// A network as a value.
#[derive(Debug, Clone, Copy)]
struct Cidr<R> {
    prefix: Prefix,
    rules: PhantomData<R>,
}

impl<R: Rules> Cidr<R> {
    fn new(prefix: Prefix) -> Self {
        let rules = PhantomData;
        Cidr { prefix, rules }
    }

    fn read(value: Option<&Value<'_>>) -> Option<Prefix> {
        match value {
            Some(Value::Opaque(opaque)) => opaque.downcast_ref::<Self>().map(|cidr| cidr.prefix),
            _ => None,
        }
    }
}

impl<R: Rules> Opaque for Cidr<R> {
    fn type_name(&self) -> &'static str {
        CIDR
    }

    fn key(&self) -> OpaqueKey {
        let mut key = key_of(self.prefix.address);
        key.push(self.prefix.bits);
        OpaqueKey::Value(key)
    }

    fn native_error(&self) -> Option<EvalError> {
        Some(EvalError::unsupported_conversion(
            "netip.Prefix",
            self.to_text(&Arena::new()),
        ))
    }

    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        match Cidr::<R>::read(Some(other)) {
            Some(other) => Ok(self.prefix == other),
            None => R::equals_another_type(),
        }
    }

    /// The bytes of the prefix.
    fn size(&self) -> Option<u64> {
        Some(u64::from(self.prefix.bits).div_ceil(8))
    }

    fn to_text<'a>(&self, arena: &'a Arena) -> &'a str {
        arena.bump().alloc_str(&self.prefix.to_string())
    }
}

/// The network that an argument is, or that its text spells.
fn network<R: Rules>(argument: Option<&Value<'_>>) -> Result<Prefix, EvalError> {
    match argument {
        Some(Value::String(text)) => R::parse_network(text),
        argument => Cidr::<R>::read(argument).ok_or_else(EvalError::no_such_overload),
    }
}

pub(crate) fn cidr<'a, R: Rules>(
    call: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let prefix = network::<R>(args.first())?;
    Ok(call.arena.opaque(Cidr::<R>::new(prefix)))
}

pub(crate) fn is_cidr<'a, R: Rules>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(network::<R>(args.first()).is_ok()))
}

pub(crate) fn cidr_ip<'a, R: Rules>(
    call: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let address = network::<R>(args.first())?.address;
    Ok(call.arena.opaque(Ip::<R>::new(address)))
}

pub(crate) fn masked<'a, R: Rules>(
    call: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let prefix = network::<R>(args.first())?.masked();
    Ok(call.arena.opaque(Cidr::<R>::new(prefix)))
}

pub(crate) fn prefix_length<'a, R: Rules>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    Ok(Value::Int(network::<R>(args.first())?.bits.into()))
}

pub(crate) fn contains_ip<'a, R: Rules>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let outer = network::<R>(args.first())?;
    let inner = address::<R>(args.get(1)).map_err(R::refuse_contained)?;
    Ok(Value::Bool(outer.contains(Prefix::of(inner))))
}

pub(crate) fn contains_cidr<'a, R: Rules>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    let (outer, inner) = (network::<R>(args.first())?, network::<R>(args.get(1))?);
    Ok(Value::Bool(outer.contains(inner)))
}

/// The bytes of two addresses are compared, of either family.
fn ip_estimate() -> CallEstimate {
    CallEstimate::new(ADDRESS.plus(ADDRESS).costs(TRAVERSAL_FACTOR))
}

/// Likewise, and one is masked and the lengths are compared.
fn cidr_estimate() -> CallEstimate {
    let masking = ADDRESS.costs(TRAVERSAL_FACTOR);
    let cost = ip_estimate()
        .cost
        .plus(masking)
        .plus(CostEstimate::exact(1));
    CallEstimate::new(cost)
}

fn and_text(estimate: CallEstimate, call: &dyn CallSite) -> CallEstimate {
    let text = call.size(1).costs(TRAVERSAL_FACTOR);
    CallEstimate::new(estimate.cost.plus(text))
}

/// The bytes of an address.
const ADDRESS: SizeEstimate = SizeEstimate { min: 4, max: 16 };

/// The bytes of the prefix are compared.
fn ip_cost(arguments: &[Option<Value<'_>>]) -> u64 {
    let prefix = size(arguments, 0);
    prefix.plus(prefix).costs(TRAVERSAL_FACTOR).max
}

/// Likewise, and an address is masked and the lengths are compared.
fn cidr_cost(arguments: &[Option<Value<'_>>]) -> u64 {
    let masking = size(arguments, 0).costs(TRAVERSAL_FACTOR).max;
    ip_cost(arguments).saturating_add(masking).saturating_add(1)
}

fn text_cost(arguments: &[Option<Value<'_>>]) -> u64 {
    size(arguments, 1).costs(TRAVERSAL_FACTOR).max
}

fn size(arguments: &[Option<Value<'_>>], argument: usize) -> SizeEstimate {
    let value = arguments.get(argument).and_then(Option::as_ref);
    SizeEstimate::exact(tracked_size(value))
}
