//! The macros of optional values: `optMap`, `optFlatMap` (`cel/library.go`).

use super::{Expansion, Macro, MacroCall, MacroContext, Receiver};
use crate::ast::ExprId;
use crate::ast::operators::CONDITIONAL;

/// The macros of optional values.
pub const OPTIONALS: &[Macro] = &[
    Macro {
        name: "optMap",
        arguments: Some(2),
        receiver: Receiver::Any,
        expand: opt_map,
    },
    Macro {
        name: "optFlatMap",
        arguments: Some(2),
        receiver: Receiver::Any,
        expand: opt_flat_map,
    },
];

fn opt_map(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let (target, [variable, transform]) = call.receiver_and_args()?;
    let name = context.simple_name(
        variable,
        "optMap() variable name must be a simple identifier",
    )?;
    let value = context.copy(target)?;
    let value = context.member_call("value", &[value]);
    let mapped = context.bind(name, value, transform);
    let mapped = context.call("optional.of", &[mapped]);
    Ok(if_present(context, target, mapped))
}

fn opt_flat_map(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let (target, [variable, transform]) = call.receiver_and_args()?;
    let name = context.simple_name(
        variable,
        "optFlatMap() variable name must be a simple identifier",
    )?;
    let value = context.copy(target)?;
    let value = context.member_call("value", &[value]);
    let mapped = context.bind(name, value, transform);
    Ok(if_present(context, target, mapped))
}

fn if_present(context: &mut MacroContext<'_>, target: ExprId, mapped: ExprId) -> ExprId {
    let present = context.member_call("hasValue", &[target]);
    let none = context.call("optional.none", &[]);
    context.call(CONDITIONAL, &[present, mapped, none])
}
