//! Validators, which check literals after type checking (cel-go `cel/validator.go`).

mod homogeneous;
mod regex_literals;
mod time_literals;

pub use homogeneous::homogeneous_literals;
pub use regex_literals::regex_literals;
pub use time_literals::{duration_literals, timestamp_literals};

use crate::ast::{Call, Constant, ExprId};
use crate::check::CheckedAst;
use crate::decl::LiteralRule;
use crate::issues::Issues;

/// A literal that is the first argument of a call. The receiver does not count as an argument.
struct LiteralArgument<'a> {
    call_id: ExprId,
    call: Call<'a>,
    id: ExprId,
    literal: Constant<'a>,
}

/// For each call of a function with this rule, checks the first argument if it is a literal. Reports the literals that `is_valid` rejects.
fn validate(
    checked: &CheckedAst,
    issues: &mut Issues,
    rule: LiteralRule,
    mut is_valid: impl FnMut(&LiteralArgument<'_>) -> bool,
) {
    let calls = checked.calls_with(rule);
    let arguments = calls.into_iter().filter_map(|(expr, call)| {
        let argument = call.args.get(0)?;
        Some(LiteralArgument {
            call_id: expr.id,
            call,
            id: argument.id,
            literal: argument.as_constant()?,
        })
    });
    for argument in arguments.filter(|argument| !is_valid(argument)) {
        let message = format!("invalid {} argument", argument.call.function);
        report(checked, issues, argument.id, message);
    }
}

fn report(checked: &CheckedAst, issues: &mut Issues, id: ExprId, message: String) {
    let ast = checked.ast();
    issues.report(ast.source().location(ast.offset(id)), message);
}
