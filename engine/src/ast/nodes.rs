//! The storage of a tree: a row for each id. Nodes refer to their children by id, so a tree is built and dropped without an allocation for
//! each node (cel-go `parser/helper.go`, `common/ast/factory.go`).

use std::sync::Arc;

use super::name::{Name, Names};
use super::{Constant, ExprId};
use crate::source::{Offset, Source};

/// The position of nodes for parts that could not be parsed.
pub(crate) const NOWHERE: Offset = Offset::MAX;

/// A node. The children of a call or list, the entries of a map and the fields of a struct are ranges of tables.
#[derive(Debug, Clone, Copy)]
pub(super) enum Node {
    /// No node: the id of a map entry, of a field initializer, or of a node that is not complete yet.
    None,
    Null,
    Bool(bool),
    Int(i32),
    /// Any other number, in [`Nodes::numbers`].
    Number(u32),
    Text(Name),
    /// Bytes, in [`Nodes::bytes`].
    Bytes(u32),
    Ident(Name),
    Select {
        operand: ExprId,
        field: Name,
        test_only: bool,
    },
    Call {
        function: Name,
        /// The arguments. If `has_target`, the receiver comes before them.
        operands: Span,
        has_target: bool,
    },
    List {
        elements: Span,
        optional_indices: Span,
    },
    Map(Span),
    Struct {
        type_name: Name,
        fields: Span,
    },
    Fold(u32),
}

// Nodes are copied while a tree is built and checked.
const _: () = assert!(size_of::<Row>() <= 24);

/// A range of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    first: u32,
    length: u32,
}

impl Span {
    fn new(first: usize, end: usize) -> Self {
        let number = |number| u32::try_from(number).unwrap_or(0);
        Span {
            first: number(first),
            length: number(end.saturating_sub(first)),
        }
    }

    /// The rows of the range.
    #[inline]
    pub(super) fn of<T>(self, table: &[T]) -> &[T] {
        let first = self.first as usize;
        let end = first.saturating_add(self.length as usize);
        table.get(first..end).unwrap_or_default()
    }

    /// The range without its first row.
    fn rest(self) -> Self {
        Span {
            first: self.first.saturating_add(1),
            length: self.length.saturating_sub(1),
        }
    }
}

/// A number of a literal.
#[derive(Debug, Clone, Copy)]
enum Number {
    Int(i64),
    Uint(u64),
    Double(f64),
}

/// An entry of a map or a field of a struct.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) id: ExprId,
    pub(crate) key: EntryKey,
    pub(crate) value: ExprId,
    pub(crate) optional: bool,
}

/// The key of a map entry, or the name of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) enum EntryKey {
    Expr(ExprId),
    Field(Name),
}

/// The parts of a [`Comprehension`](super::Comprehension).
#[derive(Debug, Clone, Copy)]
pub struct Fold {
    /// The list or map that is iterated over.
    pub iter_range: ExprId,
    /// The first loop variable.
    pub iter_var: Name,
    /// The second loop variable, if there are two.
    pub iter_var2: Option<Name>,
    /// The accumulator's name.
    pub accu_var: Name,
    /// The accumulator's first value.
    pub accu_init: ExprId,
    /// The condition that is evaluated before each step.
    pub loop_condition: ExprId,
    /// The accumulator's next value.
    pub loop_step: ExprId,
    /// The result, evaluated after the loop.
    pub result: ExprId,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    node: Node,
    offset: Offset,
}

/// The nodes of a tree, which is complete or under construction.
#[derive(Debug, Clone)]
pub(crate) struct Nodes {
    source: Source,
    names: Names,
    /// The node and the source position of each id; row 0 is unused.
    rows: Vec<Row>,
    children: Vec<ExprId>,
    entries: Vec<Entry>,
    folds: Vec<Fold>,
    numbers: Vec<Number>,
    bytes: Vec<Arc<[u8]>>,
    optional_indices: Vec<u32>,
}

impl Nodes {
    /// An empty tree of an expression. `expected` is an estimate of the number of nodes.
    pub(crate) fn new(source: Source, expected: usize) -> Self {
        let mut rows = Vec::with_capacity(expected.saturating_add(1));
        rows.push(Row {
            node: Node::None,
            offset: 0,
        });
        Nodes {
            source,
            names: Names::new(),
            rows,
            children: Vec::with_capacity(expected),
            entries: Vec::new(),
            folds: Vec::new(),
            numbers: Vec::new(),
            bytes: Vec::new(),
            optional_indices: Vec::new(),
        }
    }

    /// The expression.
    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// The expression, without its tree.
    pub(crate) fn into_source(self) -> Source {
        self.source
    }

    /// The number of ids, including the unused id 0.
    pub(crate) fn id_bound(&self) -> usize {
        self.rows.len()
    }

    /// The text of a name.
    #[inline]
    pub(crate) fn text(&self, name: Name) -> &str {
        self.names.text(name, self.source.text())
    }

    /// The name with this text, which the expression need not contain.
    pub(crate) fn name(&mut self, text: &str) -> Name {
        self.names.add(text, self.source.text())
    }

    #[inline]
    pub(super) fn node(&self, id: ExprId) -> Node {
        self.rows.get(id.index()).map_or(Node::None, |row| row.node)
    }

    /// The source position of a node, map entry or field initializer.
    pub(crate) fn offset(&self, id: ExprId) -> Offset {
        self.rows.get(id.index()).map_or(NOWHERE, |row| row.offset)
    }

    /// The value of a literal; `None` for other nodes.
    #[inline]
    pub(super) fn constant(&self, node: Node) -> Option<Constant<'_>> {
        Some(match node {
            Node::None | Node::Null => Constant::Null,
            Node::Bool(value) => Constant::Bool(value),
            Node::Int(value) => Constant::Int(value.into()),
            Node::Number(index) => match self.numbers.get(index as usize)? {
                Number::Int(value) => Constant::Int(*value),
                Number::Uint(value) => Constant::Uint(*value),
                Number::Double(value) => Constant::Double(*value),
            },
            Node::Text(text) => Constant::String(self.text(text)),
            Node::Bytes(index) => Constant::Bytes(self.bytes.get(index as usize)?),
            _ => return None,
        })
    }

    pub(super) fn fold(&self, index: u32) -> Option<&Fold> {
        self.folds.get(index as usize)
    }

    pub(super) fn ids(&self, span: Span) -> &[ExprId] {
        span.of(&self.children)
    }

    pub(super) fn entries(&self, span: Span) -> &[Entry] {
        span.of(&self.entries)
    }

    pub(super) fn indices(&self, span: Span) -> &[u32] {
        span.of(&self.optional_indices)
    }

    /// Creates an id for a node at `offset`.
    #[inline]
    pub(crate) fn id(&mut self, offset: Offset) -> ExprId {
        self.push(offset, Node::None)
    }

    /// Releases the id of a node that will not be in the tree. If it is the id created last, the next node reuses it.
    pub(crate) fn release(&mut self, id: ExprId) {
        if id.index().saturating_add(1) == self.rows.len() {
            self.rows.pop();
        }
    }

    /// Sets the position of a node whose id was created before its position was known.
    pub(crate) fn place(&mut self, id: ExprId, offset: Offset) {
        if let Some(row) = self.rows.get_mut(id.index()) {
            row.offset = offset;
        }
    }

    #[inline]
    pub(super) fn set(&mut self, id: ExprId, node: Node) {
        if let Some(row) = self.rows.get_mut(id.index()) {
            row.node = node;
        }
    }

    #[inline]
    fn push(&mut self, offset: Offset, node: Node) -> ExprId {
        let id = ExprId(u32::try_from(self.rows.len()).unwrap_or(u32::MAX));
        self.rows.push(Row { node, offset });
        id
    }

    /// Adds a literal.
    pub(crate) fn add_constant(&mut self, offset: Offset, value: Constant<'_>) -> ExprId {
        let node = match value {
            Constant::Null => Node::Null,
            Constant::Bool(value) => Node::Bool(value),
            Constant::Int(value) => match i32::try_from(value) {
                Ok(value) => Node::Int(value),
                Err(_) => self.number(Number::Int(value)),
            },
            Constant::Uint(value) => self.number(Number::Uint(value)),
            Constant::Double(value) => self.number(Number::Double(value)),
            Constant::String(text) => Node::Text(self.name(text)),
            Constant::Bytes(bytes) => {
                self.bytes.push(bytes.into());
                Node::Bytes(last(&self.bytes))
            }
        };
        self.push(offset, node)
    }

    fn number(&mut self, number: Number) -> Node {
        self.numbers.push(number);
        Node::Number(last(&self.numbers))
    }

    /// Adds a string literal.
    pub(crate) fn add_text(&mut self, offset: Offset, text: Name) -> ExprId {
        self.push(offset, Node::Text(text))
    }

    /// Adds a name.
    #[inline]
    pub(crate) fn add_ident(&mut self, offset: Offset, name: Name) -> ExprId {
        self.push(offset, Node::Ident(name))
    }

    /// Adds `operand.field`; with `test_only`, `has(operand.field)`.
    #[inline]
    pub(crate) fn add_select(
        &mut self,
        offset: Offset,
        operand: ExprId,
        field: Name,
        test_only: bool,
    ) -> ExprId {
        let node = Node::Select {
            operand,
            field,
            test_only,
        };
        self.push(offset, node)
    }

    /// The dotted name that a chain of selections spells, if it is written without spaces, comments or backticks; `None` for other nodes.
    pub(super) fn dotted_name(&self, id: ExprId) -> Option<Name> {
        match self.node(id) {
            Node::Ident(name) if name.given().is_none() => Some(name),
            Node::Select {
                operand,
                field,
                test_only: false,
            } => self.dotted_name(operand)?.join(field),
            _ => None,
        }
    }

    /// Adds the test whether the field of a selection is present; `None` if `select` is not a selection.
    pub(crate) fn add_presence_test(&mut self, offset: Offset, select: ExprId) -> Option<ExprId> {
        match self.node(select) {
            Node::Select { operand, field, .. } => {
                Some(self.add_select(offset, operand, field, true))
            }
            _ => None,
        }
    }

    /// The name that a node consists of; `None` for other nodes.
    pub(crate) fn ident(&self, id: ExprId) -> Option<Name> {
        match self.node(id) {
            Node::Ident(name) => Some(name),
            _ => None,
        }
    }

    /// Makes a node a call. `operands` are the receiver, if `has_target`, and the arguments.
    #[inline]
    pub(crate) fn set_call(
        &mut self,
        id: ExprId,
        function: Name,
        operands: &[ExprId],
        has_target: bool,
    ) {
        let first = self.children.len();
        // Most calls have few operands, which a copy of memory would take longer for.
        match *operands {
            [one] => self.children.push(one),
            [one, two] => self.children.extend([one, two]),
            _ => self.children.extend_from_slice(operands),
        }
        let operands = Span::new(first, self.children.len());
        let call = Node::Call {
            function,
            operands,
            has_target,
        };
        self.set(id, call);
    }

    /// Makes a node a list.
    pub(crate) fn set_list(&mut self, id: ExprId, elements: &[ExprId], optional: &[u32]) {
        let elements = self.add_children(elements);
        let first = self.optional_indices.len();
        self.optional_indices.extend_from_slice(optional);
        let list = Node::List {
            elements,
            optional_indices: Span::new(first, self.optional_indices.len()),
        };
        self.set(id, list);
    }

    pub(super) fn add_children(&mut self, children: &[ExprId]) -> Span {
        let first = self.children.len();
        self.children.extend_from_slice(children);
        Span::new(first, self.children.len())
    }

    /// Makes a node a map.
    pub(crate) fn set_map(&mut self, id: ExprId, entries: impl IntoIterator<Item = Entry>) {
        let entries = self.add_entries(entries);
        self.set(id, Node::Map(entries));
    }

    /// Makes a node a struct literal.
    pub(crate) fn set_struct(
        &mut self,
        id: ExprId,
        type_name: Name,
        fields: impl IntoIterator<Item = Entry>,
    ) {
        let fields = self.add_entries(fields);
        self.set(id, Node::Struct { type_name, fields });
    }

    pub(super) fn add_entries(&mut self, entries: impl IntoIterator<Item = Entry>) -> Span {
        let first = self.entries.len();
        self.entries.extend(entries);
        Span::new(first, self.entries.len())
    }

    /// Makes a node a comprehension.
    pub(crate) fn set_fold(&mut self, id: ExprId, fold: Fold) {
        let index = u32::try_from(self.folds.len()).unwrap_or(u32::MAX);
        self.folds.push(fold);
        self.set(id, Node::Fold(index));
    }

    /// Replaces a selection by the name that it spells.
    pub(super) fn set_ident(&mut self, id: ExprId, name: Name) {
        self.set(id, Node::Ident(name));
    }

    /// Renames the function of a call, or the type of a struct literal. If `is_global`, a call loses its receiver.
    pub(super) fn rename(&mut self, id: ExprId, name: Name, is_global: bool) {
        let renamed = match self.node(id) {
            Node::Call {
                operands,
                has_target,
                ..
            } => Node::Call {
                function: name,
                operands: match has_target && is_global {
                    true => operands.rest(),
                    false => operands,
                },
                has_target: has_target && !is_global,
            },
            Node::Struct { fields, .. } => Node::Struct {
                type_name: name,
                fields,
            },
            other => other,
        };
        self.set(id, renamed);
    }

    /// Renames the variable `from` wherever it occurs.
    pub(super) fn rename_variable(&mut self, from: &str, to: &str) {
        let to = self.name(to);
        for index in 0..self.rows.len() {
            let id = ExprId(u32::try_from(index).unwrap_or(u32::MAX));
            if let Node::Ident(name) = self.node(id)
                && self.text(name) == from
            {
                self.set(id, Node::Ident(to));
            }
        }
        let (source, names) = (self.source.text(), &self.names);
        for fold in &mut self.folds {
            let second = fold.iter_var2.iter_mut();
            for name in [&mut fold.iter_var, &mut fold.accu_var]
                .into_iter()
                .chain(second)
            {
                if names.text(*name, source) == from {
                    *name = to;
                }
            }
        }
    }
}

/// The position of the last row of a table.
fn last<T>(table: &[T]) -> u32 {
    u32::try_from(table.len().saturating_sub(1)).unwrap_or(u32::MAX)
}
