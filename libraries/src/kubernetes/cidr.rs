//! Networks (apiserver `pkg/cel/library/cidr.go`).

use std::borrow::Cow;
use std::marker::PhantomData;

use gavel_engine::body;
use gavel_engine::cost::{
    CallEstimate, CallSite, Cost, CostEstimate, SizeEstimate, TRAVERSAL_FACTOR, tracked_size,
};
use gavel_engine::decl::{CallContext, Form, Overload, Yield, row};
use gavel_engine::error::EvalError;
use gavel_engine::value::{Opaque, OpaqueKey, Value};

use super::ip::{Ip, Kubernetes, Rules, key_of, text};
use super::values::cidr::Prefix;
use crate::cost::PARSING;

/// The name of the type of networks.
pub const CIDR: &str = "net.CIDR";

/// The cost of `containsIP`.
const CONTAINS_IP: Cost = Cost::split(|_| ip_estimate(), |args, _| Ok(ip_cost(args)));
/// The cost of `containsIP` with a text, which is parsed.
const CONTAINS_IP_TEXT: Cost = Cost::split(
    |call| and_text(ip_estimate(), call),
    |args, _| Ok(ip_cost(args).saturating_add(text_cost(args))),
);
/// The cost of `containsCIDR`.
const CONTAINS_CIDR: Cost = Cost::split(|_| cidr_estimate(), |args, _| Ok(cidr_cost(args)));
/// The cost of `containsCIDR` with a text, which is parsed.
const CONTAINS_CIDR_TEXT: Cost = Cost::split(
    |call| and_text(cidr_estimate(), call),
    |args, _| Ok(cidr_cost(args).saturating_add(text_cost(args))),
);

/// The functions of networks.
#[rustfmt::skip] // One row per line.
pub const CIDRS: &[Overload] = &[
    row("cidr", "string_to_cidr", "(string) -> net.CIDR()", body!(cidr::<Kubernetes>), "cidr('10.0.0.0/8') != cidr('10.0.0.0/9')").form(Form::Parse).cost(PARSING),
    row("isCIDR", "is_cidr", "(string) -> bool", body!(is_cidr::<Kubernetes>), "isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0/33')").cost(PARSING),
    row("string", "cidr_to_string", "(net.CIDR()) -> string", body!(text), "string(cidr('2001:DB8::/32')) == '2001:db8::/32'").form(Form::Conversion).yields(Yield::Printed),
    row("containsIP", "cidr_contains_ip_string", "net.CIDR().(string) -> bool", body!(contains_ip_text::<Kubernetes>), "cidr('10.0.0.0/8').containsIP('10.0.0.1')").cost(CONTAINS_IP_TEXT),
    row("containsIP", "cidr_contains_ip_ip", "net.CIDR().(net.IP()) -> bool", body!(contains_ip::<Kubernetes>), "cidr('10.0.0.0/8').containsIP(ip('10.0.0.1'))").cost(CONTAINS_IP.of_name()),
    row("containsCIDR", "cidr_contains_cidr_string", "net.CIDR().(string) -> bool", body!(contains_cidr_text::<Kubernetes>), "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')").cost(CONTAINS_CIDR_TEXT),
    row("containsCIDR", "cidr_contains_cidr", "net.CIDR().(net.CIDR()) -> bool", body!(contains_cidr::<Kubernetes>), "cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))").cost(CONTAINS_CIDR.of_name()),
    row("ip", "cidr_ip", "net.CIDR().() -> net.IP()", body!(cidr_ip::<Kubernetes>), "cidr('10.0.0.1/8').ip() == ip('10.0.0.1')"),
    row("masked", "cidr_masked", "net.CIDR().() -> net.CIDR()", body!(masked::<Kubernetes>), "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')").cost(Cost::ONE.of_name()),
    row("prefixLength", "cidr_prefix_length", "net.CIDR().() -> int", body!(prefix_length::<Kubernetes>), "cidr('10.0.0.0/8').prefixLength() == 8").cost(Cost::ONE.of_name()),
];

/// A network as a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cidr<R> {
    prefix: Prefix,
    rules: PhantomData<R>,
}

impl<R: Rules> Cidr<R> {
    fn new(prefix: Prefix) -> Self {
        let rules = PhantomData;
        Cidr { prefix, rules }
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

    fn wrapped_go_type(&self) -> Option<&'static str> {
        Some("netip.Prefix")
    }

    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        match other.as_opaque::<Self>() {
            Some(other) => Ok(self.prefix == other.prefix),
            None => R::equals_another_type(),
        }
    }

    /// The number of bytes that hold the prefix.
    fn size(&self) -> Option<u64> {
        Some(u64::from(self.prefix.bits).div_ceil(8))
    }

    fn to_text(&self) -> Cow<'_, str> {
        Cow::Owned(self.prefix.to_string())
    }
}

pub(crate) fn cidr<'a, R: Rules>(
    call: &CallContext<'a>,
    text: &str,
) -> Result<Value<'a>, EvalError> {
    let prefix = R::parse_network(text).map_err(|refuse| refuse())?;
    Ok(call.arena.opaque(Cidr::<R>::new(prefix)))
}

pub(crate) fn is_cidr<R: Rules>(text: &str) -> bool {
    R::parse_network(text).is_ok()
}

pub(crate) fn cidr_ip<'a, R: Rules>(call: &CallContext<'a>, cidr: &Cidr<R>) -> Value<'a> {
    call.arena.opaque(Ip::<R>::new(cidr.prefix.address))
}

pub(crate) fn masked<'a, R: Rules>(call: &CallContext<'a>, cidr: &Cidr<R>) -> Value<'a> {
    call.arena.opaque(Cidr::<R>::new(cidr.prefix.masked()))
}

pub(crate) fn prefix_length<R: Rules>(cidr: &Cidr<R>) -> i64 {
    cidr.prefix.bits.into()
}

pub(crate) fn contains_ip<R: Rules>(outer: &Cidr<R>, inner: &Ip<R>) -> bool {
    outer.prefix.contains(Prefix::of(inner.address))
}

pub(crate) fn contains_ip_text<R: Rules>(outer: &Cidr<R>, inner: &str) -> Result<bool, EvalError> {
    let inner = R::parse_address(inner).map_err(R::refuse_contained)?;
    Ok(outer.prefix.contains(Prefix::of(inner)))
}

pub(crate) fn contains_cidr<R: Rules>(outer: &Cidr<R>, inner: &Cidr<R>) -> bool {
    outer.prefix.contains(inner.prefix)
}

pub(crate) fn contains_cidr_text<R: Rules>(
    outer: &Cidr<R>,
    inner: &str,
) -> Result<bool, EvalError> {
    let inner = R::parse_network(inner).map_err(|refuse| refuse())?;
    Ok(outer.prefix.contains(inner))
}

/// The estimate of an IP comparison: the bytes of two addresses of either family are compared.
fn ip_estimate() -> CallEstimate {
    CallEstimate::new(ADDRESS.plus(ADDRESS).costs(TRAVERSAL_FACTOR))
}

/// The estimate of `containsCIDR`: an IP comparison, a mask, and a comparison of the lengths.
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

/// The size of an address in bytes.
const ADDRESS: SizeEstimate = SizeEstimate { min: 4, max: 16 };

/// The cost of an IP comparison: the bytes of the prefix are compared.
fn ip_cost(arguments: &[Option<&Value<'_>>]) -> u64 {
    let prefix = size(arguments, 0);
    prefix.plus(prefix).costs(TRAVERSAL_FACTOR).max
}

/// The cost of `containsCIDR`: an IP comparison, a mask, and a comparison of the lengths.
fn cidr_cost(arguments: &[Option<&Value<'_>>]) -> u64 {
    let masking = size(arguments, 0).costs(TRAVERSAL_FACTOR).max;
    ip_cost(arguments).saturating_add(masking).saturating_add(1)
}

fn text_cost(arguments: &[Option<&Value<'_>>]) -> u64 {
    size(arguments, 1).costs(TRAVERSAL_FACTOR).max
}

fn size(arguments: &[Option<&Value<'_>>], argument: usize) -> SizeEstimate {
    let value = arguments.get(argument).copied().flatten();
    SizeEstimate::exact(tracked_size(value))
}
