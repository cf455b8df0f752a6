//! Checks of literals after the types are known (cel-go `cel/validator.go`).

mod homogeneous;
mod time_literals;

pub use homogeneous::homogeneous_literals;
pub use time_literals::{duration_literals, timestamp_literals};

use crate::ast::{Call, Constant, Expr, ExprId, ExprKind};
use crate::check::CheckedAst;
use crate::issues::Issues;

/// The literals that are the first argument of a call of `function`, with the call; a receiver is not an argument.
fn literal_arguments<'a>(
    checked: &'a CheckedAst,
    function: &'static str,
) -> impl Iterator<Item = (&'a Expr, &'a Call, ExprId, &'a Constant)> {
    checked.ast().walk().filter_map(move |expr| {
        let ExprKind::Call(call) = &expr.kind else {
            return None;
        };
        let argument = call.args.first().filter(|_| call.function == function)?;
        match &argument.kind {
            ExprKind::Constant(constant) => Some((expr, &**call, argument.id, constant)),
            _ => None,
        }
    })
}

fn report(checked: &CheckedAst, issues: &mut Issues, id: ExprId, message: String) {
    let ast = checked.ast();
    issues.report(ast.source().location(ast.offset(id)), message);
}
