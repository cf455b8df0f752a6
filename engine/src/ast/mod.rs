//! The tree of an expression, the same before and after checking.
//!
//! Every node has an [`ExprId`]; places, types and references are side tables keyed by it, as in cel-go (`common/ast`). Ids
//! are dense, from 1. What a macro was called with is not kept: its expansion stands at the place of the call.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::source::{Offset, Source};

pub use crate::source::ExprId;

pub mod operators;
mod unparse;
mod visit;

pub use unparse::unparse;

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// Its identity.
    pub id: ExprId,
    /// What it is.
    pub kind: ExprKind,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A literal.
    Constant(Constant),
    /// A name, with its leading dot where it has one.
    Ident(SmolStr),
    /// `operand.field`, or `has(operand.field)`.
    Select(Box<Select>),
    /// A global call `f(x)`, a receiver-style call `target.f(x)`, or an operator.
    Call(Box<Call>),
    /// `[a, ?b]`.
    List(ListExpr),
    /// `{k: v, ?k: v}`.
    Map(Vec<MapEntry>),
    /// `Type{field: value}`.
    Struct(Box<Struct>),
    /// What a macro over a range expands to.
    Comprehension(Box<Comprehension>),
}

/// A literal value.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
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
    String(Arc<str>),
    /// `b'text'`
    Bytes(Arc<[u8]>),
}

/// `operand.field`.
#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    /// What is selected from.
    pub operand: Expr,
    /// The field's name.
    pub field: SmolStr,
    /// True in `has(operand.field)`: asks whether the field is there.
    pub test_only: bool,
}

/// A call of a function, macro expansions and operators included (see [`operators`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The function's name.
    pub function: SmolStr,
    /// The receiver of `target.f(x)`.
    pub target: Option<Expr>,
    /// The arguments, without the receiver.
    pub args: Vec<Expr>,
}

/// `[a, ?b]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ListExpr {
    /// The elements.
    pub elements: Vec<Expr>,
    /// The indices of the elements written with `?`, ascending.
    pub optional_indices: Vec<u32>,
}

impl ListExpr {
    /// Whether the element at `index` was written with `?`.
    pub fn is_optional(&self, index: usize) -> bool {
        self.optional_indices.iter().any(|i| *i as usize == index)
    }
}

/// One `key: value` of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct MapEntry {
    /// The entry's identity; its place is the colon.
    pub id: ExprId,
    /// The key.
    pub key: Expr,
    /// The value.
    pub value: Expr,
    /// Written `?key: value`.
    pub optional: bool,
}

/// `Type{field: value}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Struct {
    /// The type's name, as written.
    pub type_name: SmolStr,
    /// The field initialisers.
    pub fields: Vec<StructField>,
}

/// One `field: value` of a struct literal.
#[derive(Debug, Clone, PartialEq)]
pub struct StructField {
    /// The initialiser's identity; its place is the colon.
    pub id: ExprId,
    /// The field's name.
    pub name: SmolStr,
    /// The value.
    pub value: Expr,
    /// Written `?field: value`.
    pub optional: bool,
}

/// A fold over a range: `result` after `accu_var := loop_step` for each element while `loop_condition` holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Comprehension {
    /// What is iterated over.
    pub iter_range: Expr,
    /// The first loop variable: the element, or the index or key where there are two.
    pub iter_var: SmolStr,
    /// The second loop variable: the value.
    pub iter_var2: Option<SmolStr>,
    /// The accumulator's name.
    pub accu_var: SmolStr,
    /// Its first value.
    pub accu_init: Expr,
    /// Asked before each step.
    pub loop_condition: Expr,
    /// The accumulator's next value.
    pub loop_step: Expr,
    /// The outcome.
    pub result: Expr,
}

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Ast {
    source: Source,
    root: Expr,
    /// The place of each id; row 0 is unused.
    offsets: Vec<Offset>,
}

impl Ast {
    /// Puts a tree together. `offsets` has a row for each id, row 0 being unused.
    pub fn new(source: Source, root: Expr, offsets: Vec<Offset>) -> Self {
        Ast {
            source,
            root,
            offsets,
        }
    }

    /// The parts that [`Ast::new`] puts together.
    pub fn into_parts(self) -> (Source, Expr, Vec<Offset>) {
        (self.source, self.root, self.offsets)
    }

    /// The text that was parsed.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The tree.
    pub fn root(&self) -> &Expr {
        &self.root
    }

    /// The place of a node, in code points.
    pub fn offset(&self, id: ExprId) -> Offset {
        self.offsets.get(id.index()).copied().unwrap_or(0)
    }

    /// One more than the largest id: the length of side tables.
    pub fn id_bound(&self) -> usize {
        self.offsets.len()
    }
}
