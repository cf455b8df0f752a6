//! The syntax tree of an expression. The parser builds it, and the checker annotates it.
//!
//! Every node has an [`ExprId`]. Source positions, types and references are in side tables keyed by the id, as in cel-go (`common/ast`).
//! Ids are dense and begin at 1. The parser replaces each macro call by its expansion.
//!
//! An [`Ast`] stores its nodes in one table. [`Expr`] is a view of one node; [`Expr::kind`] returns its kind with views of its children.

use crate::source::{Offset, Source};

pub use crate::source::ExprId;

mod copy;
mod expr;
mod name;
mod nodes;
pub mod operators;
mod unparse;
mod visit;

pub(crate) use copy::{MAX_NODES, TooManyNodes};
pub use expr::{
    Call, Comprehension, Expr, ExprKind, Exprs, ListExpr, MapEntry, MapExpr, Select, Struct,
    StructField,
};
pub use name::Name;
pub(crate) use name::{NameFilter, named};
pub use nodes::Fold;
pub(crate) use nodes::{Entry, EntryKey, NOWHERE, Nodes};
pub use unparse::unparse;

/// A literal value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Constant<'a> {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// `1`
    Int(i64),
    /// `1u`
    Uint(u64),
    /// `1.0`
    Double(f64),
    /// `'text'`
    String(&'a str),
    /// `b'text'`
    Bytes(&'a [u8]),
}

/// A parsed expression.
#[derive(Debug, Clone)]
pub struct Ast {
    nodes: Nodes,
    root: ExprId,
}

impl Ast {
    /// The tree below `root`.
    pub(crate) fn new(nodes: Nodes, root: ExprId) -> Self {
        Ast { nodes, root }
    }

    /// The text that was parsed.
    pub fn source(&self) -> &Source {
        self.nodes.source()
    }

    /// The tree.
    pub fn root(&self) -> Expr<'_> {
        self.nodes.expr(self.root)
    }

    /// The node with an id.
    pub(crate) fn expr(&self, id: ExprId) -> Expr<'_> {
        self.nodes.expr(id)
    }

    /// The source position of a node, in code points.
    pub fn offset(&self, id: ExprId) -> Offset {
        match id.index() < self.id_bound() {
            true => self.nodes.offset(id),
            false => 0,
        }
    }

    /// The largest id plus one: the length of side tables.
    pub fn id_bound(&self) -> usize {
        self.nodes.id_bound()
    }

    /// Renames the variable `from` to `to`, wherever it occurs and even if it is the variable of a loop.
    pub fn rename_variable(&mut self, from: &str, to: &str) {
        self.nodes.rename_variable(from, to);
    }

    /// Replaces the selection `id` by the name that it spells.
    pub(crate) fn set_ident(&mut self, id: ExprId, name: &str) {
        let name = self.nodes.name(name);
        self.nodes.set_ident(id, name);
    }

    /// Renames the function of the call `id`, or the type of the struct literal `id`. If `is_global`, a call loses its receiver.
    pub(crate) fn rename(&mut self, id: ExprId, name: &str, is_global: bool) {
        let name = self.nodes.name(name);
        self.nodes.rename(id, name, is_global);
    }
}
