//! Iterates over the nodes of syntax trees without recursion (cel-go `common/ast/navigable.go`).

use super::{Ast, Expr, ExprKind};

/// An iterator over the nodes of a tree. Each node comes after the nodes below it.
struct Walk<'e, F> {
    /// The nodes to visit, the next one last; the flag says whether the nodes below it have been visited.
    pending: Vec<(Expr<'e>, bool)>,
    enters: F,
}

impl Ast {
    /// Iterates over all nodes. Each node comes after the nodes below it.
    pub fn walk(&self) -> impl Iterator<Item = Expr<'_>> {
        self.walk_where(|_| true)
    }

    /// Iterates over the nodes, except those below a node for which `enters` returns false. Each node comes after the nodes below it.
    pub fn walk_where(&self, enters: impl Fn(Expr<'_>) -> bool) -> impl Iterator<Item = Expr<'_>> {
        let mut pending = Vec::with_capacity(self.id_bound().min(64));
        pending.push((self.root(), false));
        Walk { pending, enters }
    }
}

impl<'e, F: Fn(Expr<'_>) -> bool> Iterator for Walk<'e, F> {
    type Item = Expr<'e>;

    fn next(&mut self) -> Option<Expr<'e>> {
        loop {
            let (expr, done) = self.pending.pop()?;
            let is_leaf = expr.is_leaf();
            if done || is_leaf {
                return Some(expr);
            }
            self.pending.push((expr, true));
            if (self.enters)(expr) {
                let first = self.pending.len();
                expr.for_each_child(|child| self.pending.push((child, false)));
                if let Some(children) = self.pending.get_mut(first..) {
                    children.reverse();
                }
            }
        }
    }
}

impl<'a> Expr<'a> {
    /// Calls `show` with each child of this node, in source order.
    pub fn for_each_child(self, mut show: impl FnMut(Expr<'a>)) {
        match self.kind() {
            ExprKind::Constant(_) | ExprKind::Ident(_) => {}
            ExprKind::Select(select) => show(select.operand),
            ExprKind::Call(call) => call
                .target
                .into_iter()
                .chain(call.args.iter())
                .for_each(show),
            ExprKind::List(list) => list.elements.iter().for_each(show),
            ExprKind::Map(map) => map.iter().for_each(|entry| {
                show(entry.key);
                show(entry.value);
            }),
            ExprKind::Struct(message) => message.fields().for_each(|field| show(field.value)),
            ExprKind::Comprehension(fold) => [
                fold.iter_range(),
                fold.accu_init(),
                fold.loop_condition(),
                fold.loop_step(),
                fold.result(),
            ]
            .into_iter()
            .for_each(show),
        }
    }
}
