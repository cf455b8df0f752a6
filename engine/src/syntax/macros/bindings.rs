//! `cel.bind` (`ext/bindings.go`).

use super::{Expansion, Macro, MacroCall, MacroContext, Receiver};

/// `cel.bind(name, value, result)`.
pub const BINDINGS: &[Macro] = &[Macro {
    name: "bind",
    arguments: Some(3),
    receiver: Receiver::Namespace("cel"),
    expand: bind,
}];

fn bind(context: &mut MacroContext<'_>, call: MacroCall) -> Expansion {
    let [variable, value, result] = call.args()?;
    let name = context.simple_name(
        variable,
        "cel.bind() variable names must be simple identifiers",
    )?;
    Ok(context.bind(name, value, result))
}
