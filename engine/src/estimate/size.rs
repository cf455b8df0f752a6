//! The sizes of nodes. A size is computed, given by the host or implied by the type.

use smallvec::SmallVec;

use super::estimator::{EntrySize, Estimator, NodeSize, ScopedVariable};
use super::path::Path;
use crate::ast::{Constant, Expr, ExprId, ExprKind};
use crate::cost::SizeEstimate;
use crate::types::{Primitive, Type};

impl<'a> Estimator<'a> {
    /// The size of a node; `None` if it is unknown. A size that the host gives takes precedence over the type, because a host can give a
    /// scalar a size other than 1.
    pub(super) fn size_of(&mut self, expr: Expr<'a>) -> Option<SizeEstimate> {
        if let Some(size) = self.node(expr.id).size {
            return Some(size);
        }
        if let Some(size) = literal_size(&expr.kind(), self.bounds) {
            return Some(SizeEstimate::exact(size));
        }
        let ty = self.type_of(expr);
        if let Some(size) = self.given_size(self.path_of(expr), ty) {
            self.set_size(expr.id, Some(size));
            return Some(size);
        }
        if is_scalar(ty) {
            return Some(SizeEstimate::exact(1));
        }
        self.local_of(expr)?.size
    }

    /// The size of a node; [`SizeEstimate::UNKNOWN`] if it is not known.
    pub(super) fn size_or_unknown(&mut self, expr: Expr<'a>) -> SizeEstimate {
        self.size_of(expr).unwrap_or(SizeEstimate::UNKNOWN)
    }

    /// The size that the host gives for a path; `None` if the host gives no size, or the path is empty.
    pub(super) fn given_size(&self, path: Path, ty: &Type) -> Option<SizeEstimate> {
        match self.paths.steps(path) {
            [] => None,
            steps => self.sizes.size(steps, ty),
        }
    }

    /// The size that the host gives for a path followed by `step`, such as `@items` for the elements of a list. `None` if the host gives no
    /// size.
    pub(super) fn given_step_size(
        &self,
        path: Path,
        step: &'static str,
        ty: &Type,
    ) -> Option<SizeEstimate> {
        match self.paths.steps(path) {
            [] => None,
            steps => {
                let mut steps: SmallVec<[&str; 8]> = steps.into();
                steps.push(step);
                self.sizes.size(&steps, ty)
            }
        }
    }

    /// The sizes of a node's entries; `None` if they are unknown.
    pub(super) fn entries_of(&self, expr: Expr<'_>) -> Option<EntrySize> {
        self.node(expr.id)
            .entries
            .or_else(|| self.local_of(expr)?.entries)
    }

    /// The path of a node's value.
    pub(super) fn path_of(&self, expr: Expr<'_>) -> Path {
        match self.local_of(expr) {
            Some(local) => local.path,
            None => self.node(expr.id).path,
        }
    }

    /// Records a node's size. Does nothing if `size` is `None`.
    pub(super) fn set_size(&mut self, id: ExprId, size: Option<SizeEstimate>) {
        if let (Some(node), Some(_)) = (self.nodes.get_mut(id.index()), size) {
            node.size = size;
        }
    }

    /// Removes the recorded size of a node.
    pub(super) fn forget_size(&mut self, id: ExprId) {
        if let Some(node) = self.nodes.get_mut(id.index()) {
            node.size = None;
        }
    }

    /// Records the sizes of a node's entries. Does nothing if `entries` is `None`.
    pub(super) fn set_entries(&mut self, id: ExprId, entries: Option<EntrySize>) {
        if let (Some(node), Some(_)) = (self.nodes.get_mut(id.index()), entries) {
            node.entries = entries;
        }
    }

    /// Records the path of a node.
    pub(super) fn set_path(&mut self, id: ExprId, path: Path) {
        if let Some(node) = self.nodes.get_mut(id.index()) {
            node.path = path;
        }
    }

    /// Copies the sizes of one node to another.
    pub(super) fn copy_sizes(&mut self, to: ExprId, from: Expr<'a>) {
        let size = self.size_of(from);
        self.set_size(to, size);
        self.set_entries(to, self.entries_of(from));
        if self.bounds {
            self.set_path(to, self.path_of(from));
        }
    }

    fn node(&self, id: ExprId) -> NodeSize {
        self.nodes.get(id.index()).copied().unwrap_or_default()
    }

    fn local_of(&self, expr: Expr<'_>) -> Option<&ScopedVariable<'a>> {
        match expr.kind() {
            ExprKind::Ident(name) => self.local(name),
            _ => None,
        }
    }

    /// The innermost comprehension variable with this name; `None` if no such variable is in scope.
    pub(super) fn local(&self, name: &str) -> Option<&ScopedVariable<'a>> {
        self.locals.iter().rev().find(|local| local.name == name)
    }
}

/// The size of a literal; `None` for other nodes. The size of a text is its number of code points. For upper bounds, it is the number of
/// bytes, because some functions count bytes.
fn literal_size(kind: &ExprKind<'_>, bounds: bool) -> Option<u64> {
    let size = match kind {
        ExprKind::Constant(Constant::String(text)) if bounds => text.len(),
        ExprKind::Constant(Constant::String(text)) => text.chars().count(),
        ExprKind::Constant(Constant::Bytes(bytes)) => bytes.len(),
        ExprKind::Constant(_) => 1,
        ExprKind::List(list) => list.elements.len(),
        ExprKind::Map(map) => map.len(),
        _ => return None,
    };
    u64::try_from(size).ok()
}

fn is_scalar(ty: &Type) -> bool {
    match ty {
        Type::Bool | Type::Int | Type::Uint | Type::Double | Type::Duration | Type::Timestamp => {
            true
        }
        Type::Wrapper(primitive) => !matches!(primitive, Primitive::String | Primitive::Bytes),
        _ => ty.as_optional().is_some_and(is_scalar),
    }
}
