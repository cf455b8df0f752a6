//! Plans operators.

use smallvec::SmallVec;

use super::{PlanError, Step, as_chain};
use crate::ast::ExprId;
use crate::cost::Cost;
use crate::decl::FunctionDecl;
use crate::program::tree::{Attribute, Base, Conditional, Equality, Junction, Operands, Term};

/// The planned arguments of a call, the receiver first.
pub(super) type PlannedArguments = SmallVec<[Step; 2]>;

pub(super) fn plan_equality(
    id: ExprId,
    function: Option<&FunctionDecl>,
    arguments: PlannedArguments,
    negated: bool,
) -> Result<Step, PlanError> {
    let [left, right] = two(arguments)?;
    let row = function.and_then(|function| function.overloads.first());
    let cost = row.map_or(Cost::ONE, |overload| overload.calls.cost);
    Ok(Step::Equality(Box::new(Equality {
        operands: Operands {
            id,
            left,
            right,
            cost,
        },
        negated,
    })))
}

/// The error for an operator with a wrong number of operands. Only a call by the operator's internal name can have a wrong number.
fn wrong_number() -> PlanError {
    PlanError::new("no such overload")
}

pub(super) fn only(arguments: PlannedArguments) -> Result<Step, PlanError> {
    let mut arguments = arguments.into_iter();
    match (arguments.next(), arguments.next()) {
        (Some(argument), None) => Ok(argument),
        _ => Err(wrong_number()),
    }
}

pub(super) fn two(arguments: PlannedArguments) -> Result<[Step; 2], PlanError> {
    arguments.into_inner().map_err(|_| wrong_number())
}

pub(super) fn pair(arguments: PlannedArguments) -> Result<Box<[Step; 2]>, PlanError> {
    Ok(Box::new(two(arguments)?))
}

/// Plans `||` if `OR` is true, and `&&` otherwise. An operand with the same operator contributes its terms: `a && (b && c)` has three
/// terms.
pub(super) fn plan_junction<const OR: bool>(
    id: ExprId,
    arguments: PlannedArguments,
) -> Result<Step, PlanError> {
    let [left, right] = two(arguments)?;
    let inner = |step: Step| match step {
        Step::And(inner) if !OR => Ok(inner),
        Step::Or(inner) if OR => Ok(inner),
        step => Err(step),
    };
    let mut junction = inner(left).unwrap_or_else(|step| {
        let mut junction = Box::new(Junction::default());
        junction.push::<OR>(step, id);
        junction
    });
    match inner(right) {
        Ok(inner) => {
            for Term { step, id, .. } in inner.terms {
                junction.push::<OR>(step, id);
            }
        }
        Err(step) => junction.push::<OR>(step, id),
    }
    Ok(match OR {
        true => Step::Or(junction),
        false => Step::And(junction),
    })
}

pub(super) fn plan_conditional(id: ExprId, arguments: PlannedArguments) -> Result<Step, PlanError> {
    let arguments = arguments.into_vec().try_into();
    let [condition, truthy, falsy] = arguments.map_err(|_| wrong_number())?;
    // A branch that is a chain becomes part of the conditional. Like upstream, the conditional does not treat a presence test specially.
    let branch = |node: Step| match as_chain(node) {
        Ok(chain) => *chain,
        Err(node) => Attribute::new(id, Base::Operand(node)),
    };
    let conditional = Conditional {
        condition,
        truthy: branch(truthy),
        falsy: branch(falsy),
    };
    Ok(Step::Attribute(Box::new(Attribute::new(
        id,
        Base::Conditional(Box::new(conditional)),
    ))))
}
