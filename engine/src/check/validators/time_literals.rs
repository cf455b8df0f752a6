//! The validator of literals that are converted to durations or timestamps.

use super::{LiteralArgument, validate};
use crate::ast::Constant;
use crate::check::{CheckedAst, Reference};
use crate::decl::{CallContext, LiteralRule};
use crate::issues::Issues;
use crate::value::{Arena, Value};

/// Reports the literals that `duration` does not accept.
pub fn duration_literals(checked: &CheckedAst, issues: &mut Issues) {
    let is_valid = |argument: &LiteralArgument<'_>| is_accepted(checked, argument);
    validate(checked, issues, LiteralRule::Duration, is_valid);
}

/// Reports the literals that `timestamp` does not accept.
pub fn timestamp_literals(checked: &CheckedAst, issues: &mut Issues) {
    let is_valid = |argument: &LiteralArgument<'_>| is_accepted(checked, argument);
    validate(checked, issues, LiteralRule::Timestamp, is_valid);
}

/// Whether the conversion of the literal succeeds. The literal is the call's only argument, because no overload has more.
fn is_accepted(checked: &CheckedAst, argument: &LiteralArgument<'_>) -> bool {
    let Some(Reference::Call {
        function,
        candidates,
    }) = checked.reference(argument.call_id)
    else {
        return false;
    };
    let value = match argument.literal {
        Constant::Int(value) => Value::from(value),
        Constant::String(text) => Value::from(text),
        // The checker accepts null as an argument, but no conversion does.
        _ => return false,
    };
    let arena = Arena::new();
    let context = CallContext::new(&arena);
    candidates.iter().any(|candidate| {
        let overload = function.overloads.get(candidate);
        let convert = overload.map(|overload| overload.calls.implementation.function());
        convert.is_some_and(|convert| {
            convert.is_none_or(|convert| convert(&context, &[value]).is_ok())
        })
    })
}
