//! Rules whose conditions a schema could express.

use gavel_crd::definition::RuleReport;
use gavel_engine::ast::{Constant, Expr, ExprKind, operators};
use gavel_engine::check::CheckedAst;
use gavel_engine::types::Type;
use gavel_manifest::Problem;

use crate::expressions::Subject;
use crate::expressions::path::{FieldPath, field_name, text};
use crate::rules::SCHEMA_CAN_SAY;

/// Reports a rule whose conditions a schema could express.
pub(crate) fn check(subject: &Subject<'_>, report: &RuleReport<'_>, problems: &mut Vec<Problem>) {
    let root = subject.checked.ast().root();
    let mut conditions = Vec::new();
    conjuncts(root, &mut conditions);
    let keywords: Option<Vec<String>> = conditions
        .iter()
        .map(|condition| keyword_for(subject, *condition))
        .collect();
    let Some(mut keywords) = keywords else { return };
    keywords.dedup();
    let keywords = keywords.join(" and ");
    let message = format!("the schema can express the same constraint with {keywords}");
    let found = subject.problem(&SCHEMA_CAN_SAY, root, message);
    problems.push(match report.rule.message.is_empty() {
        true => found,
        false => found.with_help("keep the rule if its message matters"),
    });
}

fn conjuncts<'e>(expr: Expr<'e>, conditions: &mut Vec<Expr<'e>>) {
    match expr.kind() {
        ExprKind::Call(call) if call.function == operators::LOGICAL_AND => {
            call.args
                .iter()
                .for_each(|each| conjuncts(each, conditions));
        }
        _ => conditions.push(expr),
    }
}

/// The fields whose absence makes a rule fail: the fields of the `has()` tests in a rule such as `has(self.a) && has(self.b) && …`.
pub(crate) fn required(rule: &CheckedAst) -> Vec<FieldPath> {
    let mut conditions = Vec::new();
    conjuncts(rule.ast().root(), &mut conditions);
    let tested = conditions.into_iter().filter_map(|each| match each.kind() {
        ExprKind::Select(select) if select.test_only => chain(each),
        _ => None,
    });
    tested.collect()
}

/// The path of selections that begin at a variable, such as `self.spec.name`; `None` for any other expression.
fn chain(expr: Expr<'_>) -> Option<FieldPath> {
    match expr.kind() {
        ExprKind::Ident(name) => Some(vec![name.into()]),
        ExprKind::Select(select) => {
            let mut path = chain(select.operand)?;
            path.push(field_name(select.field));
            Some(path)
        }
        _ => None,
    }
}

/// The schema keyword that expresses a condition, for messages; `None` if no keyword does.
fn keyword_for(subject: &Subject<'_>, condition: Expr<'_>) -> Option<String> {
    let call = match condition.kind() {
        ExprKind::Call(call) => call,
        ExprKind::Select(select) if select.test_only && is_self(select.operand) => {
            return Some(format!("`required: [{}]`", field_name(select.field)));
        }
        _ => return None,
    };
    let args = call.args.to_vec();
    match (call.function, call.target, args.as_slice()) {
        ("matches", Some(target), &[pattern]) | ("matches", None, &[target, pattern])
            if is_self(target) =>
        {
            text(pattern).map(|_| "`pattern`".to_owned())
        }
        (operators::IN, None, &[value, list]) if is_self(value) && is_scalar(subject, value) => {
            matches!(list.kind(), ExprKind::List(list) if list.elements.iter().all(is_constant))
                .then(|| "`enum`".to_owned())
        }
        (operators::LOGICAL_OR, None, _) => {
            is_enumeration(subject, condition).then(|| "`enum`".to_owned())
        }
        (_, None, &[left, right]) => compared(subject, call.function, left, right),
        _ => None,
    }
}

/// Whether an expression compares one value with constants, as `self == 'a' || self == 'b'` does.
fn is_enumeration(subject: &Subject<'_>, expr: Expr<'_>) -> bool {
    let ExprKind::Call(call) = expr.kind() else {
        return false;
    };
    match (call.function, call.args.array()) {
        (operators::LOGICAL_OR, _) => {
            let mut alternatives = call.args.iter();
            alternatives.all(|each| is_enumeration(subject, each))
        }
        (operators::EQUALS, Some([left, right])) => {
            is_self(left) && is_scalar(subject, left) && is_constant(right)
        }
        _ => false,
    }
}

fn compared(
    subject: &Subject<'_>,
    function: &str,
    left: Expr<'_>,
    right: Expr<'_>,
) -> Option<String> {
    use operators::{GREATER, GREATER_EQUALS, LESS, LESS_EQUALS};
    let (value, is_upper) = match function {
        LESS | LESS_EQUALS if is_number(right) => (left, true),
        GREATER | GREATER_EQUALS if is_number(right) => (left, false),
        LESS | LESS_EQUALS if is_number(left) => (right, false),
        GREATER | GREATER_EQUALS if is_number(left) => (right, true),
        _ => return None,
    };
    if is_self(value) && matches!(subject.checked.type_of(value.id), Type::Int | Type::Double) {
        return Some(if is_upper { "`maximum`" } else { "`minimum`" }.to_owned());
    }
    let sized = sized(value).filter(|sized| is_self(*sized))?;
    let bound = match (subject.checked.type_of(sized.id), is_upper) {
        (Type::List(_), true) => "`maxItems`",
        (Type::List(_), false) => "`minItems`",
        (Type::Map(_), true) => "`maxProperties`",
        (Type::Map(_), false) => "`minProperties`",
        (Type::String, true) => "`maxLength`",
        (Type::String, false) => "`minLength`",
        _ => return None,
    };
    Some(bound.to_owned())
}

/// The argument of `size()`; `None` for other expressions.
fn sized(expr: Expr<'_>) -> Option<Expr<'_>> {
    match expr.kind() {
        ExprKind::Call(call) if call.function == "size" => call.target.or_else(|| call.args.get(0)),
        _ => None,
    }
}

fn is_self(expr: Expr<'_>) -> bool {
    expr.as_ident() == Some("self")
}

fn is_scalar(subject: &Subject<'_>, expr: Expr<'_>) -> bool {
    matches!(
        subject.checked.type_of(expr.id),
        Type::String | Type::Int | Type::Double | Type::Bool
    )
}

fn is_constant(expr: Expr<'_>) -> bool {
    expr.as_constant().is_some()
}

fn is_number(expr: Expr<'_>) -> bool {
    matches!(
        expr.as_constant(),
        Some(Constant::Int(_) | Constant::Double(_))
    )
}
