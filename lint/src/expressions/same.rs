//! Comparison of expressions by their trees.

use gavel_engine::ast::{Expr, ExprKind};

/// Whether two expressions are the same, except for spaces and parentheses. The recursion is as deep as the trees; the parser limits
/// this depth.
pub(crate) fn is_same(one: Expr<'_>, other: Expr<'_>) -> bool {
    let shallow = match (one.kind(), other.kind()) {
        (ExprKind::Constant(one), ExprKind::Constant(other)) => one == other,
        (ExprKind::Ident(one), ExprKind::Ident(other)) => one == other,
        (ExprKind::Select(one), ExprKind::Select(other)) => {
            one.field == other.field && one.test_only == other.test_only
        }
        (ExprKind::Call(one), ExprKind::Call(other)) => {
            one.function == other.function && one.target.is_some() == other.target.is_some()
        }
        (ExprKind::List(one), ExprKind::List(other)) => {
            one.optional_indices == other.optional_indices
        }
        (ExprKind::Map(one), ExprKind::Map(other)) => {
            let optional = one.iter().map(|entry| entry.optional);
            optional.eq(other.iter().map(|entry| entry.optional))
        }
        (ExprKind::Struct(one), ExprKind::Struct(other)) => {
            let fields = one.fields().map(|field| (field.name, field.optional));
            one.type_name == other.type_name
                && fields.eq(other.fields().map(|field| (field.name, field.optional)))
        }
        (ExprKind::Comprehension(one), ExprKind::Comprehension(other)) => {
            (one.iter_var(), one.iter_var2(), one.accu_var())
                == (other.iter_var(), other.iter_var2(), other.accu_var())
        }
        _ => false,
    };
    if !shallow {
        return false;
    }
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    one.for_each_child(|child| ones.push(child));
    other.for_each_child(|child| others.push(child));
    let mut pairs = ones.iter().zip(&others);
    ones.len() == others.len() && pairs.all(|(one, other)| is_same(*one, *other))
}
