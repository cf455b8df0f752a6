//! Conditions that are always true or always false, and calls that always fail.

use gavel_engine::ast::{Call, Constant, Expr, ExprKind, operators, unparse};
use gavel_engine::env::Env;
use gavel_engine::error::EvalError;
use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::value::Arena;
use gavel_manifest::Problem;

use super::{Subject, is_same};
use crate::rules::{CONSTANT_CONDITION, FAILING_CALL};

/// Reports calls and selections whose operands are literals, if they fail, and divisions by zero. `env` has the functions of the expression.
pub(super) fn check_calls(subject: &Subject<'_>, env: &Env, problems: &mut Vec<Problem>) {
    let mut report = |place: Expr<'_>, what: &str, error: &str| {
        let message = format!("the {what} always fails: {error}");
        problems.push(subject.problem(&FAILING_CALL, place, message));
    };
    for expr in subject.checked.ast().walk() {
        match expr.kind() {
            ExprKind::Call(call) => {
                let mut operands = call.target.into_iter().chain(call.args.iter());
                let [place] = call.args.array().unwrap_or([expr]);
                if let Some(error) = division_by_zero(&call) {
                    report(place, "call", error);
                } else if operands.all(is_literal)
                    && let Some(error) = failure(expr, env)
                {
                    report(place, "call", error.message());
                }
            }
            ExprKind::Select(select) if !select.test_only && is_literal(select.operand) => {
                if let Some(error) = failure(expr, env) {
                    report(expr, "selection", error.message());
                }
            }
            _ => {}
        }
    }
}

/// The error of a division by the integer 0. It fails whatever the dividend is.
fn division_by_zero(call: &Call<'_>) -> Option<&'static str> {
    let [_, divisor] = call.args.array()?;
    let Some(Constant::Int(0) | Constant::Uint(0)) = divisor.as_constant() else {
        return None;
    };
    match call.function {
        operators::DIVIDE => Some("division by zero"),
        operators::MODULO => Some("modulus by zero"),
        _ => None,
    }
}

/// Whether an expression consists of constants, lists and maps.
fn is_literal(expr: Expr<'_>) -> bool {
    match expr.kind() {
        ExprKind::Constant(_) => true,
        ExprKind::List(list) => list.elements.iter().all(is_literal),
        ExprKind::Map(map) => map
            .iter()
            .all(|entry| is_literal(entry.key) && is_literal(entry.value)),
        _ => false,
    }
}

/// The error of an expression without variables, if it compiles and its evaluation fails.
fn failure(expr: Expr<'_>, env: &Env) -> Option<EvalError> {
    let checked = env.compile(&unparse(expr)?).ok()?;
    let program = env.plan(&checked).ok()?;
    let arena = Arena::new();
    let evaluation = program.eval(&Activation::new(), &arena, &EvalOptions::default());
    evaluation.result.err()
}

pub(super) fn check(subject: &Subject<'_>, problems: &mut Vec<Problem>) {
    let root = subject.checked.ast().root();
    let mut report = |condition: Expr<'_>, what: &str| {
        problems.push(subject.problem(&CONSTANT_CONDITION, condition, what));
    };
    if subject.decides {
        match bool_of(root) {
            Some(true) => report(root, "the expression is always true"),
            // A deliberate way to deny every request that satisfies the match conditions.
            Some(false) => {}
            None => condition(root, &mut report),
        }
    }
    for expr in subject.checked.ast().walk() {
        let ExprKind::Call(call) = expr.kind() else {
            continue;
        };
        let conditions = match call.function {
            operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT => {
                call.args.len()
            }
            operators::CONDITIONAL => 1,
            _ => continue,
        };
        for each in call.args.iter().take(conditions) {
            match bool_of(each) {
                Some(true) => report(each, "the condition is always true"),
                Some(false) => report(each, "the condition is always false"),
                None => condition(each, &mut report),
            }
        }
    }
}

/// Reports a condition that is not a literal but always has the same value.
fn condition(expr: Expr<'_>, report: &mut impl FnMut(Expr<'_>, &str)) {
    let ExprKind::Call(call) = expr.kind() else {
        return;
    };
    let always = match comparison(&call) {
        Some((function, left, right)) => compared(function, left, right),
        None => None,
    };
    match always {
        Some((true, why)) => report(expr, &format!("the condition is always true: {why}")),
        Some((false, why)) => report(expr, &format!("the condition is always false: {why}")),
        None => {}
    }
}

fn comparison<'c>(call: &Call<'c>) -> Option<(&'c str, Expr<'c>, Expr<'c>)> {
    let [left, right] = call.args.array()?;
    Some((call.function, left, right))
}

/// The result of a comparison that is always true or always false, and the reason; `None` for other comparisons.
fn compared(function: &str, left: Expr<'_>, right: Expr<'_>) -> Option<(bool, &'static str)> {
    use operators::{EQUALS, GREATER, GREATER_EQUALS, LESS, LESS_EQUALS, NOT_EQUALS};
    if is_same(left, right) {
        let why = "both sides are the same";
        match function {
            EQUALS | LESS_EQUALS | GREATER_EQUALS => return Some((true, why)),
            NOT_EQUALS | LESS | GREATER => return Some((false, why)),
            _ => {}
        }
    }
    // Equal constants are the same and were handled above.
    if left.as_constant().is_some() && right.as_constant().is_some() {
        let why = "both sides are constants";
        match function {
            EQUALS => return Some((false, why)),
            NOT_EQUALS => return Some((true, why)),
            _ => {}
        }
    }
    let why = "no size is less than zero";
    match function {
        GREATER_EQUALS if is_size(left) && is_zero(right) => Some((true, why)),
        LESS_EQUALS if is_zero(left) && is_size(right) => Some((true, why)),
        LESS if is_size(left) && is_zero(right) => Some((false, why)),
        GREATER if is_zero(left) && is_size(right) => Some((false, why)),
        _ => None,
    }
}

fn bool_of(expr: Expr<'_>) -> Option<bool> {
    match expr.as_constant() {
        Some(Constant::Bool(value)) => Some(value),
        _ => None,
    }
}

fn is_zero(expr: Expr<'_>) -> bool {
    expr.as_constant() == Some(Constant::Int(0))
}

fn is_size(expr: Expr<'_>) -> bool {
    matches!(expr.kind(), ExprKind::Call(call) if call.function == "size")
}

#[cfg(test)]
mod tests {
    use gavel_manifest::{Format, read};

    use crate::rules::Frame;
    use crate::{Linter, Options};

    #[test]
    fn conditions_with_one_value_are_reported() {
        let check = |rule: &str, expected: &str| {
            let schema = format!(
                "type: object\nproperties:\n  a:\n    type: string\n    x-kubernetes-validations: [{{rule: \"{rule}\", message: a}}]\n"
            );
            let documents = read(&Frame::Schema.manifest(&schema), Format::Yaml);
            let documents = documents.all().unwrap();
            let linter = Linter::new(&Options::default(), &documents).unwrap();
            let found = linter.document(&documents[0]);
            let found = found
                .iter()
                .filter(|each| each.rule == "constant-condition");
            let found: Vec<_> = found.map(|each| each.message.as_str()).collect();
            let expected = (!expected.is_empty()).then_some(expected);
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{rule}");
        };
        let same = "the condition is always true: both sides are the same";
        let never_same = "the condition is always false: both sides are the same";
        check("self == self", same);
        check("self <= self", same);
        check("self != self", never_same);
        check("self > self", never_same);
        check("{'a': self} == {'a': self}", same);
        check("{'a': self} == {?'a': optional.of(self)}", "");
        check("[self].all(x, x == 'a') == [self].all(x, x == 'a')", same);
        check("[self].all(x, x == 'a') == [self].all(y, y == 'a')", "");
        check("1 == 1", same);
        check(
            "1 == 2",
            "the condition is always false: both sides are constants",
        );
        check(
            "1 != 2",
            "the condition is always true: both sides are constants",
        );
        let size = "no size is less than zero";
        for rule in ["self.size() >= 0", "0 <= size(self)"] {
            check(rule, &format!("the condition is always true: {size}"));
        }
        for rule in ["self.size() < 0", "0 > size(self)"] {
            check(rule, &format!("the condition is always false: {size}"));
        }
        check("self == 'a' || true", "the condition is always true");
        check(
            "false ? true : self == 'a'",
            "the condition is always false",
        );
        check("true", "the expression is always true");
        check("false", "");
        check("self == 'a' && 0 <= 1", "");
    }
}
