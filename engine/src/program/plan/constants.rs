//! Constant folding (cel-go `interpreter/decorators.go`). It changes the cost of evaluations, and it can fail.

use smallvec::SmallVec;

use super::{PlanError, Step};
use crate::ast::ExprId;
use crate::program::frame::{Cells, Frame};
use crate::program::path::PathSet;
use crate::program::tree::{FunctionCall, ListLiteral, MapLiteral, Membership};
use crate::program::{Activation, EvalOptions, Program};
use crate::value::{Arena, OwnedValue, Value, ValueKind, key_order, number};

/// Folds a list literal to a constant if all its elements are constants; otherwise returns the literal as it is. If evaluating the literal
/// fails, the result is `Step::Failure` with that error. Planning fails only if the error is fatal.
pub(super) fn fold_list(literal: ListLiteral) -> Result<Step, PlanError> {
    if !literal
        .elements
        .iter()
        .all(|element| element.value.constant().is_some())
    {
        return Ok(Step::List(Box::new(literal)));
    }
    folded(Step::List(Box::new(literal)), false)
}

/// Folds a map literal to a constant if all its keys and values are constants; otherwise returns the literal as it is. Fails as
/// [`fold_list`] does.
pub(super) fn fold_map(literal: MapLiteral) -> Result<Step, PlanError> {
    let constant = |node: &Step| node.constant().is_some();
    if !literal
        .entries
        .iter()
        .all(|(key, element)| constant(key) && constant(&element.value))
    {
        return Ok(Step::Map(Box::new(literal)));
    }
    folded(Step::Map(Box::new(literal)), false)
}

/// Folds a conversion to a constant if its argument is a constant; otherwise returns the call as it is. If the conversion fails, planning
/// fails.
pub(super) fn fold_conversion(call: FunctionCall) -> Result<Step, PlanError> {
    match &*call.arguments {
        [argument] if argument.constant().is_some() => folded(Step::Call(Box::new(call)), true),
        _ => Ok(Step::Call(Box::new(call))),
    }
}

/// Evaluates a node whose operands are all constant. If the evaluation fails, returns `Step::Failure`. With `must_succeed`, or if the error
/// is fatal, planning fails instead.
fn folded(node: Step, must_succeed: bool) -> Result<Step, PlanError> {
    let program = Program {
        root: node,
        variables: SmallVec::new(),
        slots: 0,
        invariants: 0,
        keeps: PathSet::default(),
        specified: false,
        keeps_held_values: false,
        checks_receivers_of_or: false,
    };
    let arena = Arena::new();
    let options = EvalOptions::default();
    let mut cells = Cells::<0, 0>::default();
    let mut frame = Frame::new(&program, &Activation::new(), &mut cells, &arena, &options);
    match program.root.eval(&mut frame) {
        Ok(value) => Ok(Step::from(OwnedValue::copy_of(&value)?)),
        Err(error) if must_succeed || error.is_fatal() => Err(error.into()),
        Err(error) => Ok(Step::Failure(error)),
    }
}

/// Plans `x in list` for a constant list as a lookup in a set, if all elements are bools, numbers or texts. For an empty list, the result
/// is always false and `x` is not evaluated. Returns `x` as the error if the call cannot be planned in this way.
pub(super) fn membership(id: ExprId, element: Step, list: &Value<'_>) -> Result<Step, Step> {
    let Some(list) = list.as_list() else {
        return Err(element);
    };
    if list.is_empty() {
        return Ok(Step::from(OwnedValue::from_bool(false)));
    }
    let mut set = Vec::with_capacity(list.len());
    for member in list.iter() {
        match member.kind() {
            ValueKind::Bool(_) | ValueKind::String(_) => {}
            // As in upstream, the set also contains the equal numbers of other types. For an int, it contains the nearest double, even if
            // that double is not equal to the int.
            ValueKind::Int(int) => {
                set.push(Value::from(int as f64));
                set.extend(u64::try_from(int).ok().map(Value::from));
            }
            ValueKind::Uint(uint) => {
                set.push(Value::from(uint as f64));
                set.extend(i64::try_from(uint).ok().map(Value::from));
            }
            ValueKind::Double(double) => {
                set.extend(number::exact_int(double).map(Value::from));
                set.extend(number::exact_uint(double).map(Value::from));
            }
            _ => return Err(element),
        }
        set.push(member);
    }
    set.sort_by(key_order);
    set.dedup_by(|left, right| key_order(left, right).is_eq());
    match set
        .iter()
        .map(OwnedValue::copy_of)
        .collect::<Result<Box<[_]>, _>>()
    {
        Ok(set) => Ok(Step::Membership(Box::new(Membership { id, element, set }))),
        Err(_) => Err(element),
    }
}
