//! The validator that checks that all elements of a literal have the same type.

use super::report;
use crate::ast::{Expr, ExprId, ExprKind, ListExpr, MapExpr};
use crate::check::{CheckedAst, Reference};
use crate::decl::LiteralRule;
use crate::issues::Issues;
use crate::types::Type;

/// In list and map literals, reports elements, keys and values whose type differs from that of the literal's first element, key or value.
/// Literals within a call of `format` are exempt.
pub fn homogeneous_literals(checked: &CheckedAst, issues: &mut Issues) {
    if !checked.found.has_mixed_literal {
        return;
    }
    // Lists are checked before maps.
    let mut maps = Vec::new();
    for expr in checked.ast().walk_where(|expr| !is_exempt(checked, expr)) {
        match expr.kind() {
            ExprKind::List(list) => validate_list(checked, issues, &list),
            ExprKind::Map(map) if map.len() > 1 => maps.push(map),
            _ => {}
        }
    }
    for map in maps {
        validate_map(checked, issues, map);
    }
}

/// Reports at most one element of a list: the first whose type differs from the type of element 0.
fn validate_list(checked: &CheckedAst, issues: &mut Issues, list: &ListExpr<'_>) {
    let mut elements = (list.elements.iter().enumerate())
        .map(|(index, element)| typed(checked, element, list.is_optional(index)));
    let Some((_, first)) = elements.next() else {
        return;
    };
    if let Some((id, ty)) = elements.find(|(_, ty)| !is_equivalent(first, ty)) {
        report_mismatch(checked, issues, id, first, ty);
    }
}

/// Reports every key whose type differs from that of the first key, and every value whose type differs from that of the first value.
fn validate_map(checked: &CheckedAst, issues: &mut Issues, map: MapExpr<'_>) {
    let mut entries = map.iter().map(|entry| {
        let key = typed(checked, entry.key, false);
        [key, typed(checked, entry.value, entry.optional)]
    });
    let Some(first) = entries.next() else {
        return;
    };
    for entry in entries {
        for ((_, first), (id, ty)) in first.into_iter().zip(entry) {
            if !is_equivalent(first, ty) {
                report_mismatch(checked, issues, id, first, ty);
            }
        }
    }
}

fn is_exempt(checked: &CheckedAst, expr: Expr<'_>) -> bool {
    match checked.reference(expr.id) {
        Some(Reference::Call { function, .. }) => function.literals.has(LiteralRule::Mixed),
        _ => false,
    }
}

/// The id and type of an element. For an optional element, the type is that of the value in the optional; upstream crashes if the element's
/// own type is `dyn`.
fn typed<'c>(checked: &'c CheckedAst, element: Expr<'_>, optional: bool) -> (ExprId, &'c Type) {
    let ty = checked.type_of(element.id);
    (
        element.id,
        ty.as_optional().filter(|_| optional).unwrap_or(ty),
    )
}

/// Whether two types are equal, ignoring whether primitives may be null.
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
