//! The macros of the language: `has`, `all`, `exists`, `exists_one`, `map`, `filter` (`parser/macro.go`).

use super::{Expansion, Macro, MacroCall, MacroContext, MacroError, Receiver};
use crate::ast::named;
use crate::ast::{Constant, ExprId, Fold, Name};

/// The macros of the language.
pub const STANDARD: &[Macro] = &[
    Macro {
        name: "has",
        arguments: Some(1),
        receiver: Receiver::None,
        expand: has,
    },
    Macro {
        name: "all",
        arguments: Some(2),
        receiver: Receiver::Any,
        expand: all,
    },
    Macro {
        name: "exists",
        arguments: Some(2),
        receiver: Receiver::Any,
        expand: exists,
    },
    Macro {
        name: "exists_one",
        arguments: Some(2),
        receiver: Receiver::Any,
        expand: exists_one,
    },
    Macro {
        name: "map",
        arguments: Some(2),
        receiver: Receiver::Any,
        expand: map,
    },
    Macro {
        name: "map",
        arguments: Some(3),
        receiver: Receiver::Any,
        expand: map_if,
    },
    Macro {
        name: "filter",
        arguments: Some(2),
        receiver: Receiver::Any,
        expand: filter,
    },
];

/// The loop variables of a comprehension.
pub(super) struct LoopVariables {
    pub(super) first: Name,
    pub(super) second: Option<Name>,
}

/// The parts of a comprehension that depend on the macro. The range and the loop variables come from the call.
pub(super) struct FoldParts {
    pub(super) init: ExprId,
    pub(super) condition: ExprId,
    pub(super) step: ExprId,
    pub(super) result: ExprId,
}

impl LoopVariables {
    fn one(
        context: &MacroContext<'_>,
        arg: ExprId,
        complaint: &'static str,
    ) -> Result<Self, MacroError> {
        let first = context.simple_name(arg, complaint)?;
        context.refuse_accumulator(first, arg)?;
        Ok(LoopVariables {
            first,
            second: None,
        })
    }
}

/// Builds a comprehension from its parts.
pub(super) fn comprehension(
    context: &mut MacroContext<'_>,
    range: ExprId,
    variables: LoopVariables,
    fold: FoldParts,
) -> ExprId {
    context.comprehension(Fold {
        iter_range: range,
        iter_var: variables.first,
        iter_var2: variables.second,
        accu_var: named::ACCUMULATOR,
        accu_init: fold.init,
        loop_condition: fold.condition,
        loop_step: fold.step,
        result: fold.result,
    })
}

/// The comprehension of `all`: the accumulator stays true as long as the predicate is true.
pub(super) fn fold_all(context: &mut MacroContext<'_>, predicate: ExprId) -> FoldParts {
    let init = context.bool(true);
    let accu = context.accumulator();
    let condition = context.call_named(named::NOT_STRICTLY_FALSE, &[accu]);
    let accu = context.accumulator();
    let step = context.call_named(named::LOGICAL_AND, &[accu, predicate]);
    FoldParts {
        init,
        condition,
        step,
        result: context.accumulator(),
    }
}

/// The comprehension of `exists`: the accumulator stays false until the predicate is true.
pub(super) fn fold_exists(context: &mut MacroContext<'_>, predicate: ExprId) -> FoldParts {
    let init = context.bool(false);
    let accu = context.accumulator();
    let not = context.call_named(named::LOGICAL_NOT, &[accu]);
    let condition = context.call_named(named::NOT_STRICTLY_FALSE, &[not]);
    let accu = context.accumulator();
    let step = context.call_named(named::LOGICAL_OR, &[accu, predicate]);
    FoldParts {
        init,
        condition,
        step,
        result: context.accumulator(),
    }
}

/// The comprehension of `exists_one`: the accumulator counts the elements for which the predicate is true.
pub(super) fn fold_exists_one(context: &mut MacroContext<'_>, predicate: ExprId) -> FoldParts {
    let init = context.constant(Constant::Int(0));
    let condition = context.bool(true);
    let (accu, one) = (context.accumulator(), context.constant(Constant::Int(1)));
    let increment = context.call_named(named::ADD, &[accu, one]);
    let accu = context.accumulator();
    let step = context.call_named(named::CONDITIONAL, &[predicate, increment, accu]);
    let (accu, one) = (context.accumulator(), context.constant(Constant::Int(1)));
    let result = context.call_named(named::EQUALS, &[accu, one]);
    FoldParts {
        init,
        condition,
        step,
        result,
    }
}

/// The comprehension of `map` and `filter`: each element that satisfies the predicate adds one element to the accumulator.
pub(super) fn fold_list(
    context: &mut MacroContext<'_>,
    predicate: Option<ExprId>,
    element: ExprId,
) -> FoldParts {
    let init = context.list(&[]);
    let condition = context.bool(true);
    let accu = context.accumulator();
    let element = context.list(&[element]);
    let step = context.call_named(named::ADD, &[accu, element]);
    let step = step_if(context, predicate, step);
    FoldParts {
        init,
        condition,
        step,
        result: context.accumulator(),
    }
}

/// The loop step `predicate ? step : accumulator`. Without a predicate, the loop step is `step`.
pub(super) fn step_if(
    context: &mut MacroContext<'_>,
    predicate: Option<ExprId>,
    step: ExprId,
) -> ExprId {
    let Some(predicate) = predicate else {
        return step;
    };
    let accu = context.accumulator();
    context.call_named(named::CONDITIONAL, &[predicate, step, accu])
}

const NOT_A_NAME: &str = "argument must be a simple name";
const NOT_AN_IDENTIFIER: &str = "argument is not an identifier";

fn has(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let [arg] = call.args()?;
    let test = context.presence_test(arg);
    test.ok_or_else(|| MacroError::new(arg, "invalid argument to has() macro"))
}

fn all(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let (range, [variable, predicate]) = call.receiver_and_args()?;
    let variables = LoopVariables::one(context, variable, NOT_A_NAME)?;
    let fold = fold_all(context, predicate);
    Ok(comprehension(context, range, variables, fold))
}

fn exists(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let (range, [variable, predicate]) = call.receiver_and_args()?;
    let variables = LoopVariables::one(context, variable, NOT_A_NAME)?;
    let fold = fold_exists(context, predicate);
    Ok(comprehension(context, range, variables, fold))
}

fn exists_one(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let (range, [variable, predicate]) = call.receiver_and_args()?;
    let variables = LoopVariables::one(context, variable, NOT_A_NAME)?;
    let fold = fold_exists_one(context, predicate);
    Ok(comprehension(context, range, variables, fold))
}

fn map(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let (range, [variable, transform]) = call.receiver_and_args()?;
    make_map(context, range, variable, None, transform)
}

fn map_if(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let (range, [variable, predicate, transform]) = call.receiver_and_args()?;
    make_map(context, range, variable, Some(predicate), transform)
}

/// Expands `map`: collects the value of `transform` for every element that satisfies the predicate.
pub(super) fn make_map(
    context: &mut MacroContext<'_>,
    range: ExprId,
    variable: ExprId,
    predicate: Option<ExprId>,
    transform: ExprId,
) -> Expansion {
    let variables = LoopVariables::one(context, variable, NOT_AN_IDENTIFIER)?;
    let fold = fold_list(context, predicate, transform);
    Ok(comprehension(context, range, variables, fold))
}

fn filter(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let (range, [variable, predicate]) = call.receiver_and_args()?;
    let variables = LoopVariables::one(context, variable, NOT_AN_IDENTIFIER)?;
    let fold = fold_list(context, Some(predicate), variable);
    Ok(comprehension(context, range, variables, fold))
}
