//! The ids and source positions of nodes (`parser/helper.go`, `common/ast/factory.go`).

use smol_str::SmolStr;

use crate::ast::{Call, CallArguments, Expr, ExprId, ExprKind, Select};
use crate::source::Offset;

/// The position of nodes for parts that could not be parsed.
pub(super) const NOWHERE: Offset = Offset::MAX;

/// The node limit of a tree.
///
/// An expression of 100,000 code points has at most about 100,000 nodes, including expanded macros. Only `optMap` and `optFlatMap` can
/// create more: they copy their receiver, so each further call in a chain such as `a.optMap(x, x).optMap(x, x)` doubles the number of
/// nodes. The limit leaves room for every useful expression with these macros, and bounds the memory of a tree to about 50 MB.
pub(super) const MAX_NODES: usize = 250_000;

/// The error of a tree with more nodes than [`MAX_NODES`].
#[derive(Debug, Clone, Copy)]
pub(super) struct TooManyNodes;

/// The ids created so far, each with its source position.
#[derive(Debug)]
pub(super) struct Nodes {
    offsets: Vec<Offset>,
}

impl Nodes {
    /// An empty table. `expected` is an estimate of the number of nodes.
    pub(super) fn new(expected: usize) -> Self {
        let mut offsets = Vec::with_capacity(expected.saturating_add(1));
        offsets.push(0);
        Nodes { offsets }
    }

    /// The source position of each id.
    pub(super) fn into_offsets(self) -> Vec<Offset> {
        self.offsets
    }

    /// Creates an id for a node at `offset`.
    pub(super) fn id(&mut self, offset: Offset) -> ExprId {
        let id = ExprId(u32::try_from(self.offsets.len()).unwrap_or(u32::MAX));
        self.offsets.push(offset);
        id
    }

    /// Releases the id of a node that will not be in the tree. If it is the id created last, the next node reuses it.
    pub(super) fn release(&mut self, id: ExprId) {
        if id.index().saturating_add(1) == self.offsets.len() {
            self.offsets.pop();
        }
    }

    /// The source position of a node.
    pub(super) fn offset(&self, id: ExprId) -> Offset {
        self.offsets.get(id.index()).copied().unwrap_or(NOWHERE)
    }

    /// Sets the position of a node whose id was created before its position was known.
    pub(super) fn place(&mut self, id: ExprId, offset: Offset) {
        if let Some(place) = self.offsets.get_mut(id.index()) {
            *place = offset;
        }
    }

    /// A copy of the tree with new ids. Map entries and fields have the position `entries`; all other nodes keep their positions.
    pub(super) fn copy(&mut self, expr: &Expr, entries: Offset) -> Result<Expr, TooManyNodes> {
        let mut copy = expr.clone();
        // A list of pending nodes avoids recursion, which could overflow the stack.
        let mut pending = vec![&mut copy];
        while let Some(expr) = pending.pop() {
            if self.offsets.len() >= MAX_NODES {
                return Err(TooManyNodes);
            }
            expr.id = self.id(self.offset(expr.id));
            match &mut expr.kind {
                ExprKind::Constant(_) | ExprKind::Ident(_) => {}
                ExprKind::Select(select) => pending.push(&mut select.operand),
                ExprKind::Call(call) => {
                    pending.extend(call.target.iter_mut().chain(&mut call.args))
                }
                ExprKind::List(list) => pending.extend(&mut list.elements),
                ExprKind::Map(map) => {
                    for entry in map {
                        entry.id = self.id(entries);
                        pending.extend([&mut entry.key, &mut entry.value]);
                    }
                }
                ExprKind::Struct(literal) => {
                    for field in &mut literal.fields {
                        field.id = self.id(entries);
                        pending.push(&mut field.value);
                    }
                }
                ExprKind::Comprehension(fold) => pending.extend([
                    &mut fold.iter_range,
                    &mut fold.accu_init,
                    &mut fold.loop_condition,
                    &mut fold.loop_step,
                    &mut fold.result,
                ]),
            }
        }
        Ok(copy)
    }
}

/// A call that is not a macro.
pub(super) fn call(
    id: ExprId,
    function: SmolStr,
    target: Option<Expr>,
    args: CallArguments,
) -> Expr {
    Expr {
        id,
        kind: ExprKind::Call(Box::new(Call {
            function,
            target,
            args,
        })),
    }
}

/// `operand.field`; with `test_only`, `has(operand.field)`.
pub(super) fn select(id: ExprId, operand: Expr, field: SmolStr, test_only: bool) -> Expr {
    Expr {
        id,
        kind: ExprKind::Select(Box::new(Select {
            operand,
            field,
            test_only,
        })),
    }
}
