//! Quantities (apiserver `pkg/cel/library/quantity.go`).

use std::borrow::Cow;
use std::cmp::Ordering;

use gavel_apimachinery::quantity::{Quantity, TooManyDigits};
use gavel_engine::body;
use gavel_engine::cost::Cost;
use gavel_engine::decl::{CallContext, Form, Overload, Reads, row};
use gavel_engine::error::EvalError;
use gavel_engine::value::{Arena, Opaque, Value};

use crate::cost::PARSING;

/// The functions of quantities.
#[rustfmt::skip] // One row per line.
pub const QUANTITY: &[Overload] = &[
    row("quantity", "string_to_quantity", "(string) -> kubernetes.Quantity", body!(quantity), "quantity('1.5Gi') == quantity('1536Mi')").form(Form::Parse).cost(PARSING),
    row("isQuantity", "is_quantity_string", "(string) -> bool", body!(is_quantity), "isQuantity('1.3G') && !isQuantity('200K')").cost(PARSING),
    row("sign", "quantity_sign", "(kubernetes.Quantity) -> int", body!(sign), "sign(quantity('-50k')) == -1").cost(Cost::ONE.of_name()).reads(Reads::All),
    row("isInteger", "quantity_is_integer", "kubernetes.Quantity.() -> bool", body!(is_integer), "quantity('50k').isInteger()").cost(Cost::ONE.of_name()).reads(Reads::All),
    row("asInteger", "quantity_get_int", "kubernetes.Quantity.() -> int", body!(as_integer), "quantity('50k').asInteger() == 50000").cost(Cost::ONE.of_name()).reads(Reads::All),
    row("asApproximateFloat", "quantity_get_float", "kubernetes.Quantity.() -> double", body!(as_approximate_float), "quantity('50.5').asApproximateFloat() == 50.5").cost(Cost::ONE.of_name()).reads(Reads::All),
    row("isLessThan", "quantity_is_less_than", "kubernetes.Quantity.(kubernetes.Quantity) -> bool", body!(is_less_than), "quantity('50M').isLessThan(quantity('50Mi'))").cost(Cost::ONE.of_name()).reads(Reads::Later),
    row("isGreaterThan", "quantity_is_greater_than", "kubernetes.Quantity.(kubernetes.Quantity) -> bool", body!(is_greater_than), "quantity('150Mi').isGreaterThan(quantity('100Mi'))").cost(Cost::ONE.of_name()).reads(Reads::Later),
    row("compareTo", "quantity_compare_to", "kubernetes.Quantity.(kubernetes.Quantity) -> int", body!(compare_to), "quantity('200M').compareTo(quantity('0.2G')) == 0").cost(Cost::ONE.of_name()).reads(Reads::Later),
    row("add", "quantity_add", "kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity", body!(add), "quantity('50k').add(quantity('20k')) == quantity('70k')").cost(Cost::ONE.of_name()).reads(Reads::Later),
    row("add", "quantity_add_int", "kubernetes.Quantity.(int) -> kubernetes.Quantity", body!(add_int), "quantity('50k').add(20) == quantity('50020')").cost(Cost::ONE.of_name()).reads(Reads::Later),
    row("sub", "quantity_sub", "kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity", body!(sub), "quantity('50k').sub(quantity('20k')) == quantity('30k')").cost(Cost::ONE.of_name()).reads(Reads::Later),
    row("sub", "quantity_sub_int", "kubernetes.Quantity.(int) -> kubernetes.Quantity", body!(sub_int), "quantity('50k').sub(20000) == quantity('30k')").cost(Cost::ONE.of_name()).reads(Reads::Later),
];

/// The rows of `add` and `sub` on servers where they do not change their receiver.
#[rustfmt::skip] // One row per line.
pub const QUANTITY_SUMS_OF_COPIES: &[Overload] = &[
    row("add", "quantity_add", "kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity", body!(add_to_copy), "quantity('50k').add(quantity('20k')) == quantity('70k')").cost(Cost::ONE.of_name()).reads(Reads::All),
    row("add", "quantity_add_int", "kubernetes.Quantity.(int) -> kubernetes.Quantity", body!(add_int_to_copy), "quantity('50k').add(20) == quantity('50020')").cost(Cost::ONE.of_name()).reads(Reads::All),
    row("sub", "quantity_sub", "kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity", body!(sub_from_copy), "quantity('50k').sub(quantity('20k')) == quantity('30k')").cost(Cost::ONE.of_name()).reads(Reads::All),
    row("sub", "quantity_sub_int", "kubernetes.Quantity.(int) -> kubernetes.Quantity", body!(sub_int_from_copy), "quantity('50k').sub(20000) == quantity('30k')").cost(Cost::ONE.of_name()).reads(Reads::All),
];

/// A quantity as a value.
#[derive(Debug, Clone)]
struct QuantityValue {
    quantity: Quantity,
    /// Whether `add` or `sub` created the quantity. Upstream, such a quantity has another Go type than a parsed one, and `==` fails if the
    /// right operand is such a quantity.
    computed: bool,
}

impl QuantityValue {
    /// A copy that shares no memory with this quantity.
    fn unshared(&self) -> QuantityValue {
        QuantityValue {
            quantity: self.quantity.unshared(),
            computed: self.computed,
        }
    }
}

impl Opaque for QuantityValue {
    fn type_name(&self) -> &'static str {
        "kubernetes.Quantity"
    }

    fn go_type(&self) -> Cow<'static, str> {
        Cow::Borrowed(if self.computed {
            "*cel.Quantity"
        } else {
            "cel.Quantity"
        })
    }

    fn wrapped_go_type(&self) -> Option<&'static str> {
        Some("*resource.Quantity")
    }

    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        match other.as_opaque::<QuantityValue>() {
            Some(other) if !other.computed => Ok(self.quantity.equals(&other.quantity)),
            _ => Err(EvalError::no_such_overload()),
        }
    }

    fn twin<'a>(&self, arena: &'a Arena) -> Option<Value<'a>> {
        Some(arena.opaque(self.unshared()))
    }

    fn bytes(&self) -> usize {
        self.quantity.bytes()
    }

    fn may_change_operands(&self) -> bool {
        self.quantity.is_large()
    }

    fn to_text(&self) -> Cow<'_, str> {
        Cow::Owned(self.quantity.to_string())
    }
}

#[inline]
fn quantity<'a>(call: &CallContext<'a>, text: &str) -> Result<Value<'a>, EvalError> {
    let quantity = Quantity::parse(text).map_err(|error| EvalError::new(error.to_string()))?;
    Ok(call.arena.opaque(QuantityValue {
        quantity,
        computed: false,
    }))
}

fn is_quantity(text: &str) -> bool {
    Quantity::parse(text).is_ok()
}

fn sign(value: &QuantityValue) -> i64 {
    value.quantity.sign()
}

fn is_integer(value: &QuantityValue) -> bool {
    value.quantity.as_integer().is_ok()
}

fn as_integer(value: &QuantityValue) -> Result<i64, EvalError> {
    let integer = value.quantity.as_integer();
    integer.map_err(|error| EvalError::new(error.to_string()))
}

fn as_approximate_float(call: &CallContext<'_>, value: &QuantityValue) -> Result<f64, EvalError> {
    call.work(value.quantity.bytes())?;
    Ok(value.quantity.as_approximate_float())
}

// A comparison of the longest quantities takes a tenth of a millisecond. Its work is not counted.
fn compare(left: &QuantityValue, right: &QuantityValue) -> Ordering {
    left.quantity.compare(&right.quantity)
}

fn is_less_than(left: &QuantityValue, right: &QuantityValue) -> bool {
    compare(left, right).is_lt()
}

fn is_greater_than(left: &QuantityValue, right: &QuantityValue) -> bool {
    compare(left, right).is_gt()
}

fn compare_to(left: &QuantityValue, right: &QuantityValue) -> i64 {
    compare(left, right) as i64
}

fn add<'a>(
    call: &CallContext<'a>,
    left: &QuantityValue,
    right: &QuantityValue,
) -> Result<Value<'a>, EvalError> {
    computed(call, left.quantity.plus(&right.quantity))
}

fn add_int<'a>(
    call: &CallContext<'a>,
    left: &QuantityValue,
    right: i64,
) -> Result<Value<'a>, EvalError> {
    computed(call, left.quantity.plus(&Quantity::from(right)))
}

fn sub<'a>(
    call: &CallContext<'a>,
    left: &QuantityValue,
    right: &QuantityValue,
) -> Result<Value<'a>, EvalError> {
    computed(call, left.quantity.minus(&right.quantity))
}

fn sub_int<'a>(
    call: &CallContext<'a>,
    left: &QuantityValue,
    right: i64,
) -> Result<Value<'a>, EvalError> {
    computed(call, left.quantity.minus(&Quantity::from(right)))
}

fn add_to_copy<'a>(
    call: &CallContext<'a>,
    left: &QuantityValue,
    right: &QuantityValue,
) -> Result<Value<'a>, EvalError> {
    add(call, &left.unshared(), right)
}

fn add_int_to_copy<'a>(
    call: &CallContext<'a>,
    left: &QuantityValue,
    right: i64,
) -> Result<Value<'a>, EvalError> {
    add_int(call, &left.unshared(), right)
}

fn sub_from_copy<'a>(
    call: &CallContext<'a>,
    left: &QuantityValue,
    right: &QuantityValue,
) -> Result<Value<'a>, EvalError> {
    sub(call, &left.unshared(), right)
}

fn sub_int_from_copy<'a>(
    call: &CallContext<'a>,
    left: &QuantityValue,
    right: i64,
) -> Result<Value<'a>, EvalError> {
    sub_int(call, &left.unshared(), right)
}

fn computed<'a>(
    call: &CallContext<'a>,
    result: Result<Quantity, TooManyDigits>,
) -> Result<Value<'a>, EvalError> {
    let quantity = result.map_err(|error| EvalError::new(error.to_string()))?;
    Ok(call.arena.opaque(QuantityValue {
        quantity,
        computed: true,
    }))
}
