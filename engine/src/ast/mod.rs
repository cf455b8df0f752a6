//! The syntax tree of an expression. The parser builds it, and the checker annotates it.
//!
//! Every node has an [`ExprId`]. Source positions, types and references are in side tables keyed by the id, as in cel-go (`common/ast`).
//! Ids are dense and begin at 1. The parser replaces each macro call by its expansion.

use std::sync::Arc;

use smallvec::SmallVec;
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
    /// The id of the node.
    pub id: ExprId,
    /// The kind of the node, with its children.
    pub kind: ExprKind,
}

/// What a node of the syntax tree is: a literal, a name, a call or another kind of expression.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A literal.
    Constant(Constant),
    /// A name, with its leading dot if it has one.
    Ident(SmolStr),
    /// `operand.field`, or `has(operand.field)`.
    Select(Box<Select>),
    /// A global call `f(x)`, a receiver-style call `target.f(x)`, or an operator.
    Call(Box<Call>),
    /// `[a, ?b]`.
    List(Box<ListExpr>),
    /// `{k: v, ?k: v}`.
    Map(Vec<MapEntry>),
    /// `Type{field: value}`.
    Struct(Box<Struct>),
    /// The expansion of a macro over a range.
    Comprehension(Box<Comprehension>),
}

// The parsers move nodes, so a node must be small.
const _: () = assert!(size_of::<Expr>() <= 40);

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
    /// The operand.
    pub operand: Expr,
    /// The field's name.
    pub field: SmolStr,
    /// True in `has(operand.field)`, which asks whether the field is present.
    pub test_only: bool,
}

/// A call of a function. Operators are calls too (see [`operators`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The function's name.
    pub function: SmolStr,
    /// The receiver in `target.f(x)`; `None` for a global call.
    pub target: Option<Expr>,
    /// The arguments, without the receiver.
    pub args: CallArguments,
}

/// The arguments of a call. Most calls have at most two.
pub type CallArguments = SmallVec<[Expr; 2]>;

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
    /// The id of the entry. Its source position is the position of the colon.
    pub id: ExprId,
    /// The key.
    pub key: Expr,
    /// The value.
    pub value: Expr,
    /// Whether the entry is written `?key: value`.
    pub optional: bool,
}

/// `Type{field: value}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Struct {
    /// The type's name, as written.
    pub type_name: SmolStr,
    /// The field initializers.
    pub fields: Vec<StructField>,
}

/// One `field: value` of a struct literal.
#[derive(Debug, Clone, PartialEq)]
pub struct StructField {
    /// The id of the initializer. Its source position is the position of the colon.
    pub id: ExprId,
    /// The field's name.
    pub name: SmolStr,
    /// The value.
    pub value: Expr,
    /// Whether the field is written `?field: value`.
    pub optional: bool,
}

/// A loop over a list or map. For each element, `loop_step` computes the accumulator's next value, as long as `loop_condition` is true.
/// After the loop, `result` is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Comprehension {
    /// The list or map that is iterated over.
    pub iter_range: Expr,
    /// The first loop variable. A single variable is the list's element or the map's key; the first of two is the index or key.
    pub iter_var: SmolStr,
    /// The second loop variable, if the macro has two: the list's element or the entry's value.
    pub iter_var2: Option<SmolStr>,
    /// The accumulator's name.
    pub accu_var: SmolStr,
    /// The accumulator's first value.
    pub accu_init: Expr,
    /// The condition that is evaluated before each step.
    pub loop_condition: Expr,
    /// The accumulator's next value.
    pub loop_step: Expr,
    /// The result, evaluated after the loop.
    pub result: Expr,
}

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Ast {
    source: Source,
    root: Expr,
    /// The source position of each id; row 0 is unused.
    offsets: Vec<Offset>,
}

impl Ast {
    /// Builds an expression from its parts. `offsets` has a row for each id; row 0 is unused.
    pub fn new(source: Source, root: Expr, offsets: Vec<Offset>) -> Self {
        Ast {
            source,
            root,
            offsets,
        }
    }

    /// Splits the expression into the parts that [`Ast::new`] takes.
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

    /// The source position of a node, in code points.
    pub fn offset(&self, id: ExprId) -> Offset {
        self.offsets.get(id.index()).copied().unwrap_or(0)
    }

    /// The largest id plus one: the length of side tables.
    pub fn id_bound(&self) -> usize {
        self.offsets.len()
    }
}
