//! `cel.block` and related macros. The conformance tests of the specification use them to write optimized trees.

use super::{Expansion, Macro, MacroCall, MacroContext, MacroError, Receiver};
use crate::ast::operators;
use crate::ast::{Constant, ExprId, ExprKind};

/// `cel.block([a, b], result)`, `cel.index(n)`, `cel.iterVar(depth, n)`, `cel.accuVar(depth, n)`.
pub const BLOCK: &[Macro] = &[
    of_cel("block", 2, block),
    of_cel("index", 1, index),
    of_cel("iterVar", 2, iter_var),
    of_cel("accuVar", 2, accu_var),
];

const fn of_cel(name: &'static str, arguments: usize, expand: super::Expander) -> Macro {
    Macro {
        name,
        arguments: Some(arguments),
        receiver: Receiver::Namespace("cel"),
        expand,
    }
}

fn block(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let [slots, result] = call.args()?;
    if !matches!(context.expr(slots).kind(), ExprKind::List(_)) {
        return Err(MacroError::new(
            slots,
            "cel.block requires the first arg to be a list literal",
        ));
    }
    Ok(context.call(operators::BLOCK, &[slots, result]))
}

fn index(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let [index] = call.args()?;
    let index = natural(
        context,
        index,
        "cel.index requires a single non-negative int constant arg",
    )?;
    Ok(context.ident(&operators::block_slot(index)))
}

fn iter_var(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let [depth, unique] = call.args()?;
    let complaint = "cel.iterVar requires two non-negative int constant args";
    let depth = natural(context, depth, complaint)?;
    let unique = natural(context, unique, complaint)?;
    Ok(context.ident(&format!("@it:{depth}:{unique}")))
}

fn accu_var(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let [depth, unique] = call.args()?;
    let complaint = "cel.accuVar requires two non-negative int constant args";
    let depth = natural(context, depth, complaint)?;
    let unique = natural(context, unique, complaint)?;
    Ok(context.ident(&format!("@ac:{depth}:{unique}")))
}

fn natural(
    context: &MacroContext<'_>,
    arg: ExprId,
    complaint: &'static str,
) -> Result<i64, MacroError> {
    match context.expr(arg).as_constant() {
        Some(Constant::Int(value)) if value >= 0 => Ok(value),
        _ => Err(MacroError::new(arg, complaint)),
    }
}
