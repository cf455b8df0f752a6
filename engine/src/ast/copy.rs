//! Copies of parts of a tree, for macros that use their receiver twice (cel-go `parser/helper.go`).

use super::nodes::{Node, Span};
use super::{EntryKey, ExprId, Fold, Nodes};
use crate::source::Offset;

/// The node limit of a tree.
///
/// An expression of 100,000 code points has at most about 100,000 nodes, including expanded macros. Only `optMap` and `optFlatMap` can
/// create more: they copy their receiver, so each further call in a chain such as `a.optMap(x, x).optMap(x, x)` doubles the number of
/// nodes. The limit leaves room for every useful expression with these macros, and bounds the memory of a tree to about 10 MB.
pub(crate) const MAX_NODES: usize = 250_000;

/// The error of a tree with more nodes than [`MAX_NODES`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct TooManyNodes;

impl Nodes {
    /// A copy of the tree below a node with new ids. Map entries and fields have the position `entries`; all other nodes keep their
    /// positions. The recursion is as deep as the tree; the parser limits this depth.
    pub(crate) fn copy(&mut self, id: ExprId, entries: Offset) -> Result<ExprId, TooManyNodes> {
        if self.id_bound() >= MAX_NODES {
            return Err(TooManyNodes);
        }
        let copy = self.id(self.offset(id));
        let node = match self.node(id) {
            leaf @ (Node::None
            | Node::Null
            | Node::Bool(_)
            | Node::Int(_)
            | Node::Number(_)
            | Node::Text(_)
            | Node::Bytes(_)
            | Node::Ident(_)) => leaf,
            Node::Select {
                operand,
                field,
                test_only,
            } => Node::Select {
                operand: self.copy(operand, entries)?,
                field,
                test_only,
            },
            Node::Call {
                function,
                operands,
                has_target,
            } => Node::Call {
                function,
                operands: self.copy_children(operands, entries)?,
                has_target,
            },
            Node::List {
                elements,
                optional_indices,
            } => Node::List {
                elements: self.copy_children(elements, entries)?,
                optional_indices,
            },
            Node::Map(map) => Node::Map(self.copy_entries(map, entries)?),
            Node::Struct { type_name, fields } => Node::Struct {
                type_name,
                fields: self.copy_entries(fields, entries)?,
            },
            Node::Fold(index) => match self.fold(index).copied() {
                None => Node::None,
                Some(fold) => {
                    // The ids are in the order of cel-go's, from the last part to the first.
                    let result = self.copy(fold.result, entries)?;
                    let loop_step = self.copy(fold.loop_step, entries)?;
                    let loop_condition = self.copy(fold.loop_condition, entries)?;
                    let accu_init = self.copy(fold.accu_init, entries)?;
                    let fold = Fold {
                        iter_range: self.copy(fold.iter_range, entries)?,
                        accu_init,
                        loop_condition,
                        loop_step,
                        result,
                        ..fold
                    };
                    self.set_fold(copy, fold);
                    return Ok(copy);
                }
            },
        };
        self.set(copy, node);
        Ok(copy)
    }

    /// Copies the nodes of a range, from the last to the first.
    fn copy_children(&mut self, span: Span, entries: Offset) -> Result<Span, TooManyNodes> {
        let mut copies = self.ids(span).to_vec();
        for child in copies.iter_mut().rev() {
            *child = self.copy(*child, entries)?;
        }
        Ok(self.add_children(&copies))
    }

    /// Copies the entries of a range: their ids from the first to the last, then their keys and values from the last to the first.
    fn copy_entries(&mut self, span: Span, offset: Offset) -> Result<Span, TooManyNodes> {
        let mut copies = self.entries(span).to_vec();
        for entry in &mut copies {
            entry.id = self.id(offset);
        }
        for entry in copies.iter_mut().rev() {
            entry.value = self.copy(entry.value, offset)?;
            if let EntryKey::Expr(key) = entry.key {
                entry.key = EntryKey::Expr(self.copy(key, offset)?);
            }
        }
        Ok(self.add_entries(copies))
    }
}
