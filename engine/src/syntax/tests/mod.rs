//! Tests of the parser: trees, positions, macros, limits and error messages.

use super::*;
use crate::ast::{Constant, Expr, ExprKind, Exprs};

mod faults;
mod limits;
mod trees;

fn macros() -> Macros {
    Macros::new(&[STANDARD, OPTIONALS, TWO_VARIABLE, SORT_BY, BINDINGS, BLOCK])
}

fn parse_expr(expr: &str) -> Result<Ast, Issues> {
    parse(Source::new(expr), &ParserOptions::default(), &macros())
}

fn tree(expr: &str) -> Ast {
    parse_expr(expr).unwrap_or_else(|issues| panic!("{issues}"))
}

/// The issues as `line:column message`, without the source line that follows a printed issue.
fn issues(expr: &str) -> Vec<String> {
    let Err(issues) = parse_expr(expr) else {
        return Vec::new();
    };
    brief(&issues)
}

fn brief(issues: &Issues) -> Vec<String> {
    let text = issues.to_string();
    let headers = text
        .lines()
        .filter_map(|line| line.strip_prefix("ERROR: <input>:"));
    headers
        .map(|header| header.replacen(": ", " ", 1))
        .collect()
}

/// Prints a tree in prefix notation. Comprehensions are printed as
/// `fold(range, variables, accumulator = init, condition, step, result)`.
fn show(expr: Expr<'_>) -> String {
    let all = |exprs: Exprs<'_>| exprs.iter().map(show).collect::<Vec<_>>().join(", ");
    match expr.kind() {
        ExprKind::Constant(Constant::String(value)) => format!("{value:?}"),
        ExprKind::Constant(Constant::Bytes(value)) => format!("b{value:?}"),
        ExprKind::Constant(Constant::Int(value)) => value.to_string(),
        ExprKind::Constant(Constant::Uint(value)) => format!("{value}u"),
        ExprKind::Constant(Constant::Double(value)) => format!("{value:?}"),
        ExprKind::Constant(Constant::Bool(value)) => value.to_string(),
        ExprKind::Constant(Constant::Null) => "null".to_owned(),
        ExprKind::Ident(name) => name.to_string(),
        ExprKind::Select(select) if select.test_only => {
            format!("has({}.{})", show(select.operand), select.field)
        }
        ExprKind::Select(select) => format!("{}.{}", show(select.operand), select.field),
        ExprKind::Call(call) => {
            let target = call
                .target
                .map_or(String::new(), |target| show(target) + ".");
            format!("{target}{}({})", call.function, all(call.args))
        }
        ExprKind::List(list) => {
            let elements = list.elements.iter().enumerate();
            let mark = |index| if list.is_optional(index) { "?" } else { "" };
            let elements: Vec<_> = elements
                .map(|(index, element)| mark(index).to_owned() + &show(element))
                .collect();
            format!("[{}]", elements.join(", "))
        }
        ExprKind::Map(map) => {
            let mark = |optional| if optional { "?" } else { "" };
            let entries = map
                .iter()
                .map(|e| format!("{}{}: {}", mark(e.optional), show(e.key), show(e.value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        ExprKind::Struct(literal) => {
            let mark = |optional| if optional { "?" } else { "" };
            let fields = literal
                .fields()
                .map(|f| format!("{}{}: {}", mark(f.optional), f.name, show(f.value)));
            format!(
                "{}{{{}}}",
                literal.type_name,
                fields.collect::<Vec<_>>().join(", ")
            )
        }
        ExprKind::Comprehension(fold) => format!(
            "fold({}, {}{}, {} = {}, {}, {}, {})",
            show(fold.iter_range()),
            fold.iter_var(),
            fold.iter_var2()
                .map_or(String::new(), |name| format!(" {name}")),
            fold.accu_var(),
            show(fold.accu_init()),
            show(fold.loop_condition()),
            show(fold.loop_step()),
            show(fold.result()),
        ),
    }
}
