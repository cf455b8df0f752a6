//! Whether literals that are made durations or timestamps are such.

use super::{literal_arguments, report};
use crate::ast::{Constant, ExprId};
use crate::check::{CheckedAst, Reference};
use crate::decl::CallContext;
use crate::issues::Issues;
use crate::value::{Arena, Value};

/// Reports the literals that `duration` does not take.
pub fn duration_literals(checked: &CheckedAst, issues: &mut Issues) {
    validate(checked, issues, "duration");
}

/// Reports the literals that `timestamp` does not take.
pub fn timestamp_literals(checked: &CheckedAst, issues: &mut Issues) {
    validate(checked, issues, "timestamp");
}

fn validate(checked: &CheckedAst, issues: &mut Issues, function: &'static str) {
    for (call, id, literal) in literal_arguments(checked, function) {
        if !is_accepted(checked, call, literal) {
            report(checked, issues, id, format!("invalid {function} argument"));
        }
    }
}

/// Whether the call succeeds. The literal is its only argument: no overload has more.
fn is_accepted(checked: &CheckedAst, call: ExprId, literal: &Constant) -> bool {
    let Some(Reference::Call {
        function,
        candidates,
    }) = checked.reference(call)
    else {
        return false;
    };
    let argument = match literal {
        Constant::Int(value) => Value::from(*value),
        Constant::String(text) => Value::from(&**text),
        // The types allow null, which no conversion takes.
        _ => return false,
    };
    let arena = Arena::new();
    let context = CallContext::new(&arena);
    candidates.iter().any(|candidate| {
        let overload = function.overloads.get(usize::from(*candidate));
        let convert = overload.map(|overload| overload.implementation.function());
        convert.is_some_and(|convert| {
            convert.is_none_or(|convert| convert(&context, &[argument]).is_ok())
        })
    })
}
