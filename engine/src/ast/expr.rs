//! Views of nodes.

use std::borrow::Cow;
use std::fmt;

use smallvec::SmallVec;

use super::nodes::Node;
use super::{Constant, Entry, EntryKey, ExprId, Fold, Name, Nodes};

/// A node of a tree.
#[derive(Clone, Copy)]
pub struct Expr<'a> {
    nodes: &'a Nodes,
    /// The id of the node.
    pub id: ExprId,
}

/// What a node of the syntax tree is: a literal, a name, a call or another kind of expression.
#[derive(Debug, Clone, Copy)]
pub enum ExprKind<'a> {
    /// A literal.
    Constant(Constant<'a>),
    /// A name, with its leading dot if it has one.
    Ident(&'a str),
    /// `operand.field`, or `has(operand.field)`.
    Select(Select<'a>),
    /// A global call `f(x)`, a receiver-style call `target.f(x)`, or an operator.
    Call(Call<'a>),
    /// `[a, ?b]`.
    List(ListExpr<'a>),
    /// `{k: v, ?k: v}`.
    Map(MapExpr<'a>),
    /// `Type{field: value}`.
    Struct(Struct<'a>),
    /// The expansion of a macro over a range.
    Comprehension(Comprehension<'a>),
}

/// `operand.field`.
#[derive(Debug, Clone, Copy)]
pub struct Select<'a> {
    /// The operand.
    pub operand: Expr<'a>,
    /// The field's name.
    pub field: &'a str,
    /// True in `has(operand.field)`, which asks whether the field is present.
    pub test_only: bool,
}

/// A call of a function. Operators are calls too (see [`operators`](crate::ast::operators)).
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The function's name.
    pub function: &'a str,
    pub(crate) name: Name,
    /// The receiver in `target.f(x)`; `None` for a global call.
    pub target: Option<Expr<'a>>,
    /// The arguments, without the receiver.
    pub args: Exprs<'a>,
}

/// Several nodes, in order.
#[derive(Clone, Copy)]
pub struct Exprs<'a> {
    nodes: &'a Nodes,
    ids: &'a [ExprId],
}

/// `[a, ?b]`.
#[derive(Debug, Clone, Copy)]
pub struct ListExpr<'a> {
    /// The elements.
    pub elements: Exprs<'a>,
    /// The indices of the elements written with `?`, ascending.
    pub optional_indices: &'a [u32],
}

/// `{k: v, ?k: v}`.
#[derive(Clone, Copy)]
pub struct MapExpr<'a> {
    nodes: &'a Nodes,
    entries: &'a [Entry],
}

/// One `key: value` of a map.
#[derive(Debug, Clone, Copy)]
pub struct MapEntry<'a> {
    /// The id of the entry. Its source position is the position of the colon.
    pub id: ExprId,
    /// The key.
    pub key: Expr<'a>,
    /// The value.
    pub value: Expr<'a>,
    /// Whether the entry is written `?key: value`.
    pub optional: bool,
}

/// `Type{field: value}`.
#[derive(Clone, Copy)]
pub struct Struct<'a> {
    /// The type's name, as written.
    pub type_name: &'a str,
    nodes: &'a Nodes,
    fields: &'a [Entry],
}

/// One `field: value` of a struct literal.
#[derive(Debug, Clone, Copy)]
pub struct StructField<'a> {
    /// The id of the initializer. Its source position is the position of the colon.
    pub id: ExprId,
    /// The field's name.
    pub name: &'a str,
    /// The value.
    pub value: Expr<'a>,
    /// Whether the field is written `?field: value`.
    pub optional: bool,
}

/// A loop over a list or map. For each element, `loop_step` computes the accumulator's next value, as long as `loop_condition` is true.
/// After the loop, `result` is evaluated.
#[derive(Clone, Copy)]
pub struct Comprehension<'a> {
    nodes: &'a Nodes,
    fold: &'a Fold,
}

impl Nodes {
    /// A view of a node.
    #[inline]
    pub(crate) fn expr(&self, id: ExprId) -> Expr<'_> {
        Expr { nodes: self, id }
    }
}

impl<'a> Expr<'a> {
    /// The kind of the node, with its children.
    pub fn kind(self) -> ExprKind<'a> {
        self.kind_inlined()
    }

    /// [`Expr::kind`], for the places that most of the work of a compilation goes through. Not inlined without optimization, because
    /// recursive functions would then need too much of the stack.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn kind_inlined(self) -> ExprKind<'a> {
        let nodes = self.nodes;
        match nodes.node(self.id) {
            literal @ (Node::None
            | Node::Null
            | Node::Bool(_)
            | Node::Int(_)
            | Node::Number(_)
            | Node::Text(_)
            | Node::Bytes(_)) => {
                ExprKind::Constant(nodes.constant(literal).unwrap_or(Constant::Null))
            }
            Node::Ident(name) => ExprKind::Ident(nodes.text(name)),
            Node::Select {
                operand,
                field,
                test_only,
            } => ExprKind::Select(Select {
                operand: nodes.expr(operand),
                field: nodes.text(field),
                test_only,
            }),
            Node::Call {
                function,
                operands,
                has_target,
            } => {
                let ids = nodes.ids(operands);
                let (target, ids) = match (has_target, ids) {
                    (true, [target, ids @ ..]) => (Some(nodes.expr(*target)), ids),
                    _ => (None, ids),
                };
                ExprKind::Call(Call {
                    function: nodes.text(function),
                    name: function,
                    target,
                    args: Exprs { nodes, ids },
                })
            }
            Node::List {
                elements,
                optional_indices,
            } => ExprKind::List(ListExpr {
                elements: Exprs {
                    nodes,
                    ids: nodes.ids(elements),
                },
                optional_indices: nodes.indices(optional_indices),
            }),
            Node::Map(entries) => ExprKind::Map(MapExpr {
                nodes,
                entries: nodes.entries(entries),
            }),
            Node::Struct { type_name, fields } => ExprKind::Struct(Struct {
                type_name: nodes.text(type_name),
                nodes,
                fields: nodes.entries(fields),
            }),
            Node::Fold(index) => match nodes.fold(index) {
                Some(fold) => ExprKind::Comprehension(Comprehension { nodes, fold }),
                None => ExprKind::Constant(Constant::Null),
            },
        }
    }

    /// Whether the node is a literal or a name.
    pub(super) fn is_leaf(self) -> bool {
        let node = self.nodes.node(self.id);
        matches!(node, Node::Ident(_)) || self.nodes.constant(node).is_some()
    }

    /// The value of a literal; `None` for other nodes.
    pub fn as_constant(self) -> Option<Constant<'a>> {
        self.nodes.constant(self.nodes.node(self.id))
    }

    /// The text of a string literal; `None` for other nodes.
    pub fn as_text(self) -> Option<&'a str> {
        match self.nodes.node(self.id) {
            Node::Text(text) => Some(self.nodes.text(text)),
            _ => None,
        }
    }

    /// The arguments of a global call of `function` with `N` arguments; `None` for other nodes.
    pub(crate) fn as_call<const N: usize>(self, function: Name) -> Option<[Expr<'a>; N]> {
        match self.nodes.node(self.id) {
            Node::Call {
                function: name,
                operands,
                has_target: false,
            } if name == function => {
                let ids = self.nodes.ids(operands);
                Exprs {
                    nodes: self.nodes,
                    ids,
                }
                .array()
            }
            _ => None,
        }
    }

    /// The name at the beginning of a chain of selections, such as `a` in `a.b.c`; `None` for nodes that spell no dotted name.
    pub(crate) fn first_name(self) -> Option<&'a str> {
        let mut id = self.id;
        loop {
            match self.nodes.node(id) {
                Node::Ident(name) => return Some(self.nodes.text(name)),
                Node::Select {
                    operand,
                    test_only: false,
                    ..
                } => id = operand,
                _ => return None,
            }
        }
    }

    /// The dotted name that a chain of selections spells, such as `a.b.c`; `None` for other nodes.
    pub(crate) fn dotted_name(self) -> Option<Cow<'a, str>> {
        if let Some(name) = self.nodes.dotted_name(self.id) {
            return Some(self.nodes.text(name).into());
        }
        let mut text = self.first_name()?.to_owned();
        let mut fields: SmallVec<[Name; 8]> = SmallVec::new();
        let mut id = self.id;
        while let Node::Select { operand, field, .. } = self.nodes.node(id) {
            fields.push(field);
            id = operand;
        }
        for field in fields.into_iter().rev() {
            text.push('.');
            text.push_str(self.nodes.text(field));
        }
        Some(text.into())
    }

    /// Whether the expression is this name.
    pub(crate) fn is_ident(self, name: Name) -> bool {
        matches!(self.nodes.node(self.id), Node::Ident(ident) if ident == name)
    }

    /// The name that the expression consists of; `None` for other nodes.
    pub fn as_ident(self) -> Option<&'a str> {
        match self.nodes.node(self.id) {
            Node::Ident(name) => Some(self.nodes.text(name)),
            _ => None,
        }
    }
}

impl<'a> Comprehension<'a> {
    /// The list or map that is iterated over.
    pub fn iter_range(self) -> Expr<'a> {
        self.nodes.expr(self.fold.iter_range)
    }

    /// The first loop variable. A single variable is the list's element or the map's key; the first of two is the index or key.
    pub fn iter_var(self) -> &'a str {
        self.nodes.text(self.fold.iter_var)
    }

    /// The second loop variable, if the macro has two: the list's element or the entry's value.
    pub fn iter_var2(self) -> Option<&'a str> {
        self.fold.iter_var2.map(|name| self.nodes.text(name))
    }

    /// The accumulator's name.
    pub fn accu_var(self) -> &'a str {
        self.nodes.text(self.fold.accu_var)
    }

    /// The accumulator's name in the tree.
    pub(crate) fn accu_name(self) -> Name {
        self.fold.accu_var
    }

    /// The accumulator's first value.
    pub fn accu_init(self) -> Expr<'a> {
        self.nodes.expr(self.fold.accu_init)
    }

    /// The condition that is evaluated before each step.
    pub fn loop_condition(self) -> Expr<'a> {
        self.nodes.expr(self.fold.loop_condition)
    }

    /// The accumulator's next value.
    pub fn loop_step(self) -> Expr<'a> {
        self.nodes.expr(self.fold.loop_step)
    }

    /// The result, evaluated after the loop.
    pub fn result(self) -> Expr<'a> {
        self.nodes.expr(self.fold.result)
    }
}

impl<'a> Exprs<'a> {
    /// The number of nodes.
    pub fn len(self) -> usize {
        self.ids.len()
    }

    /// Whether there is no node.
    pub fn is_empty(self) -> bool {
        self.ids.is_empty()
    }

    /// The node at a position.
    pub fn get(self, index: usize) -> Option<Expr<'a>> {
        self.ids.get(index).map(|id| self.nodes.expr(*id))
    }

    /// The nodes, in order.
    #[inline]
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Expr<'a>> + ExactSizeIterator {
        self.ids.iter().map(move |id| self.nodes.expr(*id))
    }

    /// The nodes, if there are exactly `N`.
    #[inline]
    pub fn array<const N: usize>(self) -> Option<[Expr<'a>; N]> {
        let ids: &[ExprId; N] = self.ids.try_into().ok()?;
        Some(ids.map(|id| self.nodes.expr(id)))
    }

    /// The nodes in a vector, to match them with patterns.
    pub fn to_vec(self) -> SmallVec<[Expr<'a>; 4]> {
        self.iter().collect()
    }
}

impl ListExpr<'_> {
    /// Whether the element at `index` was written with `?`.
    pub fn is_optional(&self, index: usize) -> bool {
        self.optional_indices.iter().any(|i| *i as usize == index)
    }
}

impl<'a> MapExpr<'a> {
    /// The number of entries.
    pub fn len(self) -> usize {
        self.entries.len()
    }

    /// Whether the map has no entry.
    pub fn is_empty(self) -> bool {
        self.entries.is_empty()
    }

    /// The entries, in order.
    pub fn iter(self) -> impl Iterator<Item = MapEntry<'a>> {
        self.entries
            .iter()
            .filter_map(move |entry| match entry.key {
                EntryKey::Expr(key) => Some(MapEntry {
                    id: entry.id,
                    key: self.nodes.expr(key),
                    value: self.nodes.expr(entry.value),
                    optional: entry.optional,
                }),
                EntryKey::Field(_) => None,
            })
    }
}

impl<'a> Struct<'a> {
    /// The field initializers, in order.
    pub fn fields(self) -> impl Iterator<Item = StructField<'a>> {
        self.fields.iter().filter_map(move |field| match field.key {
            EntryKey::Field(name) => Some(StructField {
                id: field.id,
                name: self.nodes.text(name),
                value: self.nodes.expr(field.value),
                optional: field.optional,
            }),
            EntryKey::Expr(_) => None,
        })
    }
}

impl fmt::Debug for Expr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Expr");
        text.field("id", &self.id).field("kind", &self.kind());
        text.finish()
    }
}

impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Call");
        text.field("function", &self.function)
            .field("target", &self.target)
            .field("args", &self.args);
        text.finish()
    }
}

impl fmt::Debug for Exprs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl fmt::Debug for MapExpr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl fmt::Debug for Comprehension<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Comprehension");
        text.field("iter_range", &self.iter_range())
            .field("iter_var", &self.iter_var())
            .field("iter_var2", &self.iter_var2())
            .field("accu_var", &self.accu_var())
            .field("accu_init", &self.accu_init())
            .field("loop_condition", &self.loop_condition())
            .field("loop_step", &self.loop_step())
            .field("result", &self.result());
        text.finish()
    }
}

impl fmt::Debug for Struct<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.type_name)?;
        f.debug_list().entries(self.fields()).finish()
    }
}
