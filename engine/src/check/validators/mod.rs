//! Checks of literals after the types are known (cel-go `cel/validator.go`).

mod homogeneous;
mod regex_literals;
mod time_literals;

pub use homogeneous::homogeneous_literals;
pub use regex_literals::regex_literals;
pub use time_literals::{duration_literals, timestamp_literals};

use crate::ast::{Constant, ExprId, ExprKind};
use crate::check::CheckedAst;
use crate::issues::Issues;

/// The literals that are the first argument of a call of `function`, and the call; a receiver is not an argument.
fn literal_arguments<'a>(
    checked: &'a CheckedAst,
    function: &'static str,
) -> impl Iterator<Item = (ExprId, ExprId, &'a Constant)> {
    checked.calls_of(function).filter_map(|(expr, call)| {
        let argument = call.args.first()?;
        match &argument.kind {
            ExprKind::Constant(constant) => Some((expr.id, argument.id, constant)),
            _ => None,
        }
    })
}

fn report(checked: &CheckedAst, issues: &mut Issues, id: ExprId, message: String) {
    let ast = checked.ast();
    issues.report(ast.source().location(ast.offset(id)), message);
}
