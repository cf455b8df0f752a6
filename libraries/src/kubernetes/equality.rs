//! The cost of `==` for values of the libraries (apiserver `pkg/cel/library/cost.go`).

use gavel_engine::ast::operators;
use gavel_engine::body;
use gavel_engine::cost::formulas::{COMPARISON, comparison};
use gavel_engine::cost::{CallEstimate, CallSite, Cost, CostEstimate, TRAVERSAL_FACTOR};
use gavel_engine::decl::{CallContext, Form, Overload, row};
use gavel_engine::error::EvalError;
use gavel_engine::types::Type;
use gavel_engine::value::Value;

/// The row of `==`, whose cost depends on the types of the operands. `!=` keeps its standard cost.
#[rustfmt::skip] // One row per line.
pub const EQUALITY: &[Overload] = &[row(operators::EQUALS, "equals", "(A, A) -> bool", body!(equals), "dyn(3.0) == 3").form(Form::Equal).shared().cost(Cost::split(estimate, track).standard())];

/// The length of the longest name of a format, in code points.
const MAX_FORMAT_SIZE: u64 = 64;

fn equals<'a>(
    call: &CallContext<'a>,
    left: Value<'a>,
    right: Value<'a>,
) -> Result<bool, EvalError> {
    left.equals_with(&right, call.host())
}

fn estimate(call: &dyn CallSite) -> CallEstimate {
    let ty = call.argument_type(0);
    let name = match ty {
        Type::Struct(name) => name.as_str(),
        Type::Opaque(opaque) => opaque.name.as_str(),
        _ => "",
    };
    // The maximum size that `==` reads of each side; `None` for values of other types.
    let max = match name {
        _ if ty != call.argument_type(1) => None,
        "kubernetes.NamedFormat" => Some(MAX_FORMAT_SIZE),
        // Upstream uses the size of the right side for both sides.
        "kubernetes.URL" => Some(call.known_size(1).map_or(1, |size| size.max)),
        "net.IP"
        | "net.CIDR"
        | "kubernetes.Quantity"
        | "kubernetes.Semver"
        | "kubernetes.authorization.Authorizer"
        | "kubernetes.authorization.PathCheck"
        | "kubernetes.authorization.GroupCheck"
        | "kubernetes.authorization.ResourceCheck"
        | "kubernetes.authorization.Decision" => Some(1),
        _ => None,
    };
    match max {
        Some(max) => CallEstimate::new(CostEstimate { min: 1, max }.scaled(TRAVERSAL_FACTOR)),
        None => comparison(&[call.size(0), call.size(1)]),
    }
}

fn track<'v>(
    arguments: &[Option<&Value<'v>>],
    result: Option<&Value<'v>>,
) -> Result<u64, EvalError> {
    match arguments.first() {
        Some(Some(value)) if value.as_dyn_opaque().is_some() => Ok(1),
        _ => COMPARISON.track(arguments, result),
    }
}
