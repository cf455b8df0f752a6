//! Whether the elements of each literal have one type.

use super::report;
use crate::ast::{Expr, ExprId, ExprKind};
use crate::check::CheckedAst;
use crate::issues::Issues;
use crate::types::Type;

/// Reports the elements of list literals, and the keys and values of map literals, that are not of the type of the
/// first. What is below a call of `format` is exempt.
pub fn homogeneous_literals(checked: &CheckedAst, issues: &mut Issues) {
    let nodes = || checked.ast().walk_where(|expr| !is_exempt(expr));
    for expr in nodes() {
        let ExprKind::List(list) = &expr.kind else {
            continue;
        };
        let mut elements = list.elements.iter().enumerate();
        let mut elements = elements.by_ref().map(|(index, element)| {
            (element.id, type_of(checked, element.id, list.is_optional(index)))
        });
        if let Some((_, first)) = elements.next() {
            let other = elements.find(|(_, ty)| !is_equivalent(first, ty));
            if let Some((id, ty)) = other {
                report_mismatch(checked, issues, id, first, ty);
            }
        }
    }
    for expr in nodes() {
        let ExprKind::Map(entries) = &expr.kind else {
            continue;
        };
        let mut entries = entries.iter().map(|entry| {
            let value = type_of(checked, entry.value.id, entry.optional);
            let key = type_of(checked, entry.key.id, false);
            [(entry.key.id, key), (entry.value.id, value)]
        });
        let Some(first) = entries.next() else {
            continue;
        };
        for entry in entries {
            for ((_, first), (id, ty)) in first.into_iter().zip(entry) {
                if !is_equivalent(first, ty) {
                    report_mismatch(checked, issues, id, first, ty);
                }
            }
        }
    }
}

fn is_exempt(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call(call) if call.function == "format")
}

/// The type of an element; of an optional one, that of its value. Upstream crashes where an optional element is `dyn`.
fn type_of(checked: &CheckedAst, id: ExprId, optional: bool) -> &Type {
    let ty = checked.type_of(id);
    ty.as_optional().filter(|_| optional).unwrap_or(ty)
}

/// Whether two types are the same, but for whether primitives may be null.
fn is_equivalent(first: &Type, second: &Type) -> bool {
    match (first, second) {
        (Type::List(a), Type::List(b)) => is_equivalent(a, b),
        (Type::Map(a), Type::Map(b)) => is_equivalent(&a.0, &b.0) && is_equivalent(&a.1, &b.1),
        (Type::Type(Some(a)), Type::Type(Some(b))) => is_equivalent(a, b),
        (Type::Opaque(a), Type::Opaque(b)) => {
            a.name == b.name
                && a.parameters.len() == b.parameters.len()
                && (a.parameters.iter().zip(&b.parameters)).all(|(a, b)| is_equivalent(a, b))
        }
        (Type::Wrapper(a), b) | (b, Type::Wrapper(a)) => {
            *b == Type::Wrapper(*a) || *b == a.as_type()
        }
        _ => first == second,
    }
}

fn report_mismatch(
    checked: &CheckedAst,
    issues: &mut Issues,
    id: ExprId,
    expected: &Type,
    found: &Type,
) {
    let (expected, found) = (expected.in_message(), found.in_message());
    let message = format!("expected type '{expected}' but found '{found}'");
    report(checked, issues, id, message);
}
