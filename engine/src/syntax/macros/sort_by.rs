//! `sortBy` (`ext/lists.go`, version 2 and later).

use super::standard::make_map;
use super::{Expansion, Macro, MacroCall, MacroContext, MacroError, Receiver};
use crate::ast::ExprKind;
use crate::ast::operators::SORT_BY_KEYS;

/// `list.sortBy(x, key)`.
pub const SORT_BY: &[Macro] = &[Macro {
    name: "sortBy",
    arguments: Some(2),
    receiver: Receiver::Any,
    expand: sort_by,
}];

/// The name of the variable that holds the receiver. Expressions cannot contain this name.
const INPUT: &str = "@__sortBy_input__";

fn sort_by(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let (target, [variable, key]) = call.receiver_and_args()?;
    if matches!(
        context.expr(target).kind(),
        ExprKind::Constant(_) | ExprKind::Map(_) | ExprKind::Struct(_)
    ) {
        let complaint = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
        return Err(MacroError::new(target, complaint));
    }
    let range = context.ident(INPUT);
    let keys = make_map(context, range, variable, None, key)?;
    let input = context.ident(INPUT);
    let sorted = context.member_call(SORT_BY_KEYS, &[input, keys]);
    let name = context.name(INPUT);
    Ok(context.bind(name, target, sorted))
}
