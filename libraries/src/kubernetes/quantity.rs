//! Quantities (apiserver `pkg/cel/library/quantity.go`).

use std::borrow::Cow;
use std::cmp::Ordering;

use gavel_engine::cost::Cost;
use gavel_engine::decl::{CallContext, Overload};
use gavel_engine::error::EvalError;
use gavel_engine::value::{Arena, Opaque, Value};

use super::typed;
use super::values::quantity::{Quantity, TooManyDigits};
use crate::cost::PARSING;

/// The functions.
#[rustfmt::skip] // A table: a row a line.
pub const QUANTITY: &[Overload] = &[
    typed("quantity", "string_to_quantity", "(string) -> kubernetes.Quantity", quantity, PARSING, "quantity('1.5Gi') == quantity('1536Mi')"),
    typed("isQuantity", "is_quantity_string", "(string) -> bool", is_quantity, PARSING, "isQuantity('1.3G') && !isQuantity('200K')"),
    typed("sign", "quantity_sign", "(kubernetes.Quantity) -> int", sign, Cost::ONE.of_name(), "sign(quantity('-50k')) == -1"),
    typed("isInteger", "quantity_is_integer", "kubernetes.Quantity.() -> bool", is_integer, Cost::ONE.of_name(), "quantity('50k').isInteger()"),
    typed("asInteger", "quantity_get_int", "kubernetes.Quantity.() -> int", as_integer, Cost::ONE.of_name(), "quantity('50k').asInteger() == 50000"),
    typed("asApproximateFloat", "quantity_get_float", "kubernetes.Quantity.() -> double", as_approximate_float, Cost::ONE.of_name(), "quantity('50.5').asApproximateFloat() == 50.5"),
    typed("isLessThan", "quantity_is_less_than", "kubernetes.Quantity.(kubernetes.Quantity) -> bool", is_less_than, Cost::ONE.of_name(), "quantity('50M').isLessThan(quantity('50Mi'))"),
    typed("isGreaterThan", "quantity_is_greater_than", "kubernetes.Quantity.(kubernetes.Quantity) -> bool", is_greater_than, Cost::ONE.of_name(), "quantity('150Mi').isGreaterThan(quantity('100Mi'))"),
    typed("compareTo", "quantity_compare_to", "kubernetes.Quantity.(kubernetes.Quantity) -> int", compare_to, Cost::ONE.of_name(), "quantity('200M').compareTo(quantity('0.2G')) == 0"),
    typed("add", "quantity_add", "kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity", add, Cost::ONE.of_name(), "quantity('50k').add(quantity('20k')) == quantity('70k')"),
    typed("add", "quantity_add_int", "kubernetes.Quantity.(int) -> kubernetes.Quantity", add, Cost::ONE.of_name(), "quantity('50k').add(20) == quantity('50020')"),
    typed("sub", "quantity_sub", "kubernetes.Quantity.(kubernetes.Quantity) -> kubernetes.Quantity", sub, Cost::ONE.of_name(), "quantity('50k').sub(quantity('20k')) == quantity('30k')"),
    typed("sub", "quantity_sub_int", "kubernetes.Quantity.(int) -> kubernetes.Quantity", sub, Cost::ONE.of_name(), "quantity('50k').sub(20000) == quantity('30k')"),
];

/// A quantity as a value.
#[derive(Debug, Clone)]
struct QuantityValue {
    quantity: Quantity,
    /// Whether `add` or `sub` made it. Upstream makes a value of another Go type then, which `==` does not accept on its
    /// right.
    computed: bool,
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

    fn native_error(&self) -> Option<EvalError> {
        Some(EvalError::unsupported_conversion(
            "*resource.Quantity",
            self.to_text(&Arena::new()),
        ))
    }

    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        match other {
            Value::Opaque(other) => match other.downcast_ref::<QuantityValue>() {
                Some(other) if !other.computed => Ok(self.quantity.equals(&other.quantity)),
                _ => Err(EvalError::no_such_overload()),
            },
            _ => Err(EvalError::no_such_overload()),
        }
    }

    fn to_text<'a>(&self, arena: &'a Arena) -> &'a str {
        arena.bump().alloc_str(&self.quantity.to_string())
    }
}

fn quantity<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [Value::String(text)] = args else {
        return Err(EvalError::no_such_overload());
    };
    match Quantity::parse(text) {
        Ok(quantity) => Ok(value(call, quantity, false)),
        Err(error) => Err(EvalError::new(error.to_string())),
    }
}

fn is_quantity<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match args {
        [Value::String(text)] => Ok(Value::Bool(Quantity::parse(text).is_ok())),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn value<'a>(call: &CallContext<'a>, quantity: Quantity, computed: bool) -> Value<'a> {
    call.arena.opaque(QuantityValue { quantity, computed })
}

fn read<'a>(value: Option<&Value<'a>>) -> Result<&'a Quantity, EvalError> {
    let value = match value {
        Some(Value::Opaque(opaque)) => opaque.downcast_ref::<QuantityValue>(),
        _ => None,
    };
    let value = value.ok_or_else(EvalError::no_such_overload)?;
    Ok(&value.quantity)
}

fn sign<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Int(read(args.first())?.sign()))
}

fn is_integer<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(read(args.first())?.as_integer().is_ok()))
}

fn as_integer<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match read(args.first())?.as_integer() {
        Ok(integer) => Ok(Value::Int(integer)),
        Err(error) => Err(EvalError::new(error.to_string())),
    }
}

fn as_approximate_float<'a>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    Ok(Value::Double(read(args.first())?.as_approximate_float()))
}

fn order(args: &[Value<'_>]) -> Result<Ordering, EvalError> {
    Ok(read(args.first())?.compare(read(args.get(1))?))
}

fn is_less_than<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(order(args)?.is_lt()))
}

fn is_greater_than<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(order(args)?.is_gt()))
}

fn compare_to<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Int(order(args)? as i64))
}

fn add<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    combine(call, args, Quantity::plus)
}

fn sub<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    combine(call, args, Quantity::minus)
}

fn combine<'a>(
    call: &CallContext<'a>,
    args: &[Value<'a>],
    operation: fn(&Quantity, &Quantity) -> Result<Quantity, TooManyDigits>,
) -> Result<Value<'a>, EvalError> {
    let receiver = read(args.first())?;
    let result = match args.get(1) {
        Some(Value::Int(operand)) => operation(receiver, &Quantity::from(*operand)),
        operand => operation(receiver, read(operand)?),
    };
    match result {
        Ok(quantity) => Ok(value(call, quantity, true)),
        Err(error) => Err(EvalError::new(error.to_string())),
    }
}
