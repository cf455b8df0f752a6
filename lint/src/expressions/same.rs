//! Comparison of expressions by their trees.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use gavel_engine::ast::{Constant, Expr, ExprKind};

/// Different expressions, each with a value.
#[derive(Debug)]
pub(crate) struct Distinct<'e, T>(HashMap<u64, Vec<(Expr<'e>, T)>>);

impl<'e, T: Clone> Distinct<'e, T> {
    pub(crate) fn new() -> Self {
        Distinct(HashMap::new())
    }

    /// Adds an expression. If an expression was added before that is the same, returns the value of that expression instead.
    pub(crate) fn add(&mut self, expr: Expr<'e>, value: T) -> Option<T> {
        let mut hasher = DefaultHasher::new();
        hash(expr, &mut hasher);
        let alike = self.0.entry(hasher.finish()).or_default();
        let same = alike.iter().find(|(known, _)| is_same(*known, expr));
        let known = same.map(|(_, known)| known.clone());
        if known.is_none() {
            alike.push((expr, value));
        }
        known
    }
}

/// Hashes an expression. Expressions that are the same have the same hash.
fn hash(expr: Expr<'_>, hasher: &mut impl Hasher) {
    match expr.kind() {
        ExprKind::Constant(Constant::Int(value)) => value.hash(hasher),
        ExprKind::Constant(Constant::String(value)) => value.hash(hasher),
        ExprKind::Ident(name) => name.hash(hasher),
        ExprKind::Select(select) => select.field.hash(hasher),
        ExprKind::Call(call) => call.function.hash(hasher),
        _ => {}
    }
    let mut children: usize = 0;
    expr.for_each_child(|child| {
        children = children.saturating_add(1);
        hash(child, hasher);
    });
    children.hash(hasher);
}

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
