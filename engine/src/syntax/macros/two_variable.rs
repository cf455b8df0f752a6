//! The macros with two loop variables: the index or key, and the value (`ext/comprehensions.go`).

use smallvec::smallvec;

use super::standard::{
    FoldParts, LoopVariables, comprehension, fold_all, fold_exists, fold_exists_one, fold_list,
    step_if,
};
use super::{Expansion, Macro, MacroArguments, MacroCall, MacroContext, MacroError, Receiver};
use crate::ast::operators::MAP_INSERT;
use crate::ast::{ExprId, Name};

/// The macros with two loop variables: the index or key, and the value.
pub const TWO_VARIABLE: &[Macro] = &[
    receiver_style("all", 3, all),
    receiver_style("exists", 3, exists),
    receiver_style("existsOne", 3, exists_one),
    receiver_style("exists_one", 3, exists_one),
    receiver_style("transformList", 3, transform_list),
    receiver_style("transformList", 4, transform_list_if),
    receiver_style("transformMap", 3, transform_map),
    receiver_style("transformMap", 4, transform_map_if),
    receiver_style("transformMapEntry", 3, transform_map_entry),
    receiver_style("transformMapEntry", 4, transform_map_entry_if),
];

const fn receiver_style(name: &'static str, arguments: usize, expand: super::Expander) -> Macro {
    Macro {
        name,
        arguments: Some(arguments),
        receiver: Receiver::Any,
        expand,
    }
}

fn variables(
    context: &MacroContext<'_>,
    first: ExprId,
    second: ExprId,
) -> Result<LoopVariables, MacroError> {
    const NOT_A_NAME: &str = "argument must be a simple name";
    let name = context.simple_name(first, NOT_A_NAME)?;
    let name2 = context.simple_name(second, NOT_A_NAME)?;
    let text = |name| context.nodes.text(name);
    if text(name) == text(name2) {
        let message = format!("duplicate variable name: {}", text(name));
        return Err(MacroError::new(second, message));
    }
    context.refuse_accumulator(name, first)?;
    context.refuse_accumulator(name2, second)?;
    Ok(LoopVariables {
        first: name,
        second: Some(name2),
    })
}

fn all(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    quantifier(context, call, fold_all)
}

fn exists(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    quantifier(context, call, fold_exists)
}

fn exists_one(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    quantifier(context, call, fold_exists_one)
}

fn quantifier(
    context: &mut MacroContext<'_>,
    call: MacroCall,
    fold: fn(&mut MacroContext<'_>, ExprId) -> FoldParts,
) -> Expansion {
    let (range, [first, second, predicate]) = call.receiver_and_args()?;
    let variables = variables(context, first, second)?;
    let fold = fold(context, predicate);
    Ok(comprehension(context, range, variables, fold))
}

fn transform_list(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let (range, [first, second, transform]) = call.receiver_and_args()?;
    let variables = variables(context, first, second)?;
    let fold = fold_list(context, None, transform);
    Ok(comprehension(context, range, variables, fold))
}

fn transform_list_if(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let (range, [first, second, predicate, transform]) = call.receiver_and_args()?;
    let variables = variables(context, first, second)?;
    let fold = fold_list(context, Some(predicate), transform);
    Ok(comprehension(context, range, variables, fold))
}

fn transform_map(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let (range, [first, second, value]) = call.receiver_and_args()?;
    let variables = variables(context, first, second)?;
    let key = variables.first;
    let fold = fold_map(context, None, Some(key), value);
    Ok(comprehension(context, range, variables, fold))
}

fn transform_map_if(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let (range, [first, second, predicate, value]) = call.receiver_and_args()?;
    let variables = variables(context, first, second)?;
    let key = variables.first;
    let fold = fold_map(context, Some(predicate), Some(key), value);
    Ok(comprehension(context, range, variables, fold))
}

fn transform_map_entry(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let (range, [first, second, entry]) = call.receiver_and_args()?;
    let variables = variables(context, first, second)?;
    let fold = fold_map(context, None, None, entry);
    Ok(comprehension(context, range, variables, fold))
}

fn transform_map_entry_if(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let (range, [first, second, predicate, entry]) = call.receiver_and_args()?;
    let variables = variables(context, first, second)?;
    let fold = fold_map(context, Some(predicate), None, entry);
    Ok(comprehension(context, range, variables, fold))
}

/// The comprehension that collects a map. With `key`, each step adds one entry. Without `key`, `value` is a map, and each step adds the
/// entries of this map.
fn fold_map(
    context: &mut MacroContext<'_>,
    predicate: Option<ExprId>,
    key: Option<Name>,
    value: ExprId,
) -> FoldParts {
    let mut args: MacroArguments = smallvec![context.accumulator()];
    args.extend(key.map(|key| context.named(key)));
    args.push(value);
    let step = context.call(MAP_INSERT, &args);
    let step = step_if(context, predicate, step);
    FoldParts {
        init: context.empty_map(),
        condition: context.bool(true),
        step,
        result: context.accumulator(),
    }
}
