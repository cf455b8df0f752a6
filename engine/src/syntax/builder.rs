//! Builds a tree from its leaves: operands wait on an operand stack until their node is complete.
//!
//! Both parsers use this builder. Their recursive functions hold no expressions, so they use little of the thread's stack.

use smol_str::SmolStr;

use super::macros::{MacroCall, MacroContext, MacroError, Macros};
use super::nodes::{self, Nodes};
use crate::ast::operators::OPT_SELECT;
use crate::ast::{
    CallArguments, Constant, Expr, ExprId, ExprKind, ListExpr, MapEntry, Struct, StructField,
};
use crate::source::Offset;

/// A tree under construction.
#[derive(Debug)]
pub(super) struct Builder<'m> {
    /// The nodes created so far.
    pub(super) nodes: Nodes,
    operands: Vec<Expr>,
    macros: &'m Macros,
}

/// A height of the operand stack. The operands above it belong to the node that is being parsed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark(usize);

impl<'m> Builder<'m> {
    /// Begins a tree; `expected` is an estimate of the number of its nodes.
    pub(super) fn new(macros: &'m Macros, expected: usize) -> Self {
        Builder {
            nodes: Nodes::new(expected),
            operands: Vec::with_capacity(8),
            macros,
        }
    }

    /// Returns the root, which is the only operand left, and the source position of each id.
    pub(super) fn finish(mut self) -> Option<(Expr, Vec<Offset>)> {
        let root = self.operands.pop()?;
        Some((root, self.nodes.into_offsets()))
    }

    /// The current height of the operand stack.
    pub(super) fn mark(&self) -> Mark {
        Mark(self.operands.len())
    }

    /// The height of the operand stack without its last operand.
    pub(super) fn mark_last(&self) -> Mark {
        Mark(self.operands.len().saturating_sub(1))
    }

    /// Takes the operands above a mark.
    fn take(&mut self, mark: Mark) -> Vec<Expr> {
        self.operands.split_off(mark.0.min(self.operands.len()))
    }

    /// Takes the operands above a mark as the arguments of a call.
    #[inline]
    fn arguments(&mut self, mark: Mark) -> CallArguments {
        match self.operands.len().saturating_sub(mark.0) {
            0 => CallArguments::new(),
            1 => self.operands.pop().into_iter().collect(),
            2 => match (self.operands.pop(), self.operands.pop()) {
                (Some(last), Some(first)) => CallArguments::from_buf([first, last]),
                _ => CallArguments::new(),
            },
            _ => self.take(mark).into(),
        }
    }

    /// Drops the operands above a mark.
    pub(super) fn discard(&mut self, mark: Mark) {
        self.operands.truncate(mark.0);
    }

    fn push(&mut self, id: ExprId, kind: ExprKind) {
        self.operands.push(Expr { id, kind });
    }

    /// A literal.
    pub(super) fn constant(&mut self, offset: Offset, value: Constant) {
        let id = self.nodes.id(offset);
        self.push(id, ExprKind::Constant(value));
    }

    /// A name.
    pub(super) fn ident(&mut self, offset: Offset, name: SmolStr) {
        let id = self.nodes.id(offset);
        self.push(id, ExprKind::Ident(name));
    }

    /// `operand.field`
    pub(super) fn select(&mut self, dot: Offset, field: &str) {
        if let Some(operand) = self.operands.pop() {
            let id = self.nodes.id(dot);
            self.operands
                .push(nodes::select(id, operand, field.into(), false));
        }
    }

    /// `operand.?field`
    pub(super) fn optional_select(&mut self, dot: Offset, field: &str, name: Offset) {
        self.constant(name, Constant::String(field.into()));
        let id = self.nodes.id(dot);
        self.operator(id, OPT_SELECT, 2);
    }

    /// Builds a call of an operator. Takes its operands from the operand stack.
    pub(super) fn operator(&mut self, id: ExprId, name: &'static str, operands: usize) {
        let mark = Mark(self.operands.len().saturating_sub(operands));
        let operands = self.arguments(mark);
        self.operands
            .push(nodes::call(id, SmolStr::new_static(name), None, operands));
    }

    /// Builds a chain of `&&` or `||` from its operators and terms. There is one more term than there are operators.
    pub(super) fn chain(&mut self, name: &'static str, operators: &[ExprId], mark: Mark) {
        match operators {
            [id] => self.operator(*id, name, 2),
            _ => {
                let terms = self.take(mark);
                self.operands
                    .extend(balanced(name, operators, &mut terms.into_iter()));
            }
        }
    }

    /// Builds a call, or the expansion of a macro. The arguments are the operands above the mark; the receiver is the operand below it.
    pub(super) fn call(
        &mut self,
        id: ExprId,
        name: &str,
        receiver: bool,
        mark: Mark,
    ) -> Result<(), MacroError> {
        let args = self.arguments(mark);
        let target = if receiver { self.operands.pop() } else { None };
        let Some(expand) = self.macros.find(name, target.as_ref(), args.len()) else {
            self.operands
                .push(nodes::call(id, name.into(), target, args));
            return Ok(());
        };
        let offset = self.nodes.offset(id);
        let expanded = expand(
            &mut MacroContext::new(&mut self.nodes, offset),
            MacroCall::new(id, target, args),
        );
        self.nodes.release(id);
        self.operands.push(expanded?);
        Ok(())
    }

    /// Builds a list of the elements above the mark.
    pub(super) fn list(&mut self, id: ExprId, mark: Mark, optional_indices: Vec<u32>) {
        let elements = self.take(mark);
        self.push(
            id,
            ExprKind::List(Box::new(ListExpr {
                elements,
                optional_indices,
            })),
        );
    }

    /// Builds a map of the keys and values above the mark; `entries` has the id of each entry and whether it is optional.
    pub(super) fn map(&mut self, id: ExprId, mark: Mark, entries: Vec<(ExprId, bool)>) {
        let mut operands = self.take(mark).into_iter();
        let mut map = Vec::with_capacity(entries.len());
        for (id, optional) in entries {
            if let (Some(key), Some(value)) = (operands.next(), operands.next()) {
                map.push(MapEntry {
                    id,
                    key,
                    value,
                    optional,
                });
            }
        }
        self.push(id, ExprKind::Map(map));
    }

    /// Builds a struct of the values above the mark; `fields` has the id and name of each field and whether it is optional.
    pub(super) fn structure(
        &mut self,
        id: ExprId,
        type_name: &str,
        mark: Mark,
        fields: Vec<(ExprId, SmolStr, bool)>,
    ) {
        let values = self.take(mark);
        let with_value = |((id, name, optional), value)| StructField {
            id,
            name,
            value,
            optional,
        };
        let fields = fields.into_iter().zip(values).map(with_value).collect();
        self.push(
            id,
            ExprKind::Struct(Box::new(Struct {
                type_name: type_name.into(),
                fields,
            })),
        );
    }
}

/// Builds the balanced tree of a chain. As in cel-go, the middle operator becomes the root. If there are two middle operators, the second
/// becomes the root.
fn balanced(
    name: &'static str,
    operators: &[ExprId],
    terms: &mut impl Iterator<Item = Expr>,
) -> Option<Expr> {
    let middle = operators.len() / 2;
    let Some(id) = operators.get(middle) else {
        return terms.next();
    };
    let left = balanced(name, operators.get(..middle)?, terms)?;
    let right = balanced(name, operators.get(middle.saturating_add(1)..)?, terms)?;
    Some(nodes::call(
        *id,
        SmolStr::new_static(name),
        None,
        CallArguments::from_buf([left, right]),
    ))
}
