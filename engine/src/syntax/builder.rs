//! Builds a tree from its leaves: operands wait on an operand stack until their node is complete.
//!
//! Both parsers use this builder. Their recursive functions hold no expressions, so they use little of the thread's stack.

use smallvec::SmallVec;

use super::macros::{MacroCall, MacroContext, MacroError, Macros};
use crate::ast::named;
use crate::ast::{Ast, Constant, Entry, EntryKey, ExprId, Name, Nodes};
use crate::source::{Offset, Source};

/// A tree under construction.
#[derive(Debug)]
pub(super) struct Builder<'m> {
    /// The nodes created so far.
    pub(super) nodes: Nodes,
    operands: SmallVec<[ExprId; 16]>,
    macros: &'m Macros,
}

/// A height of the operand stack. The operands above it belong to the node that is being parsed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark(usize);

impl<'m> Builder<'m> {
    /// Begins a tree of `source`; `expected` is an estimate of the number of its nodes.
    pub(super) fn new(source: Source, macros: &'m Macros, expected: usize) -> Self {
        Builder {
            nodes: Nodes::new(source, expected),
            operands: SmallVec::new(),
            macros,
        }
    }

    /// Returns the tree, whose root is the only operand left.
    ///
    /// # Errors
    ///
    /// The source, if there is no operand.
    pub(super) fn finish(mut self) -> Result<Ast, Source> {
        match self.operands.pop() {
            Some(root) => Ok(Ast::new(self.nodes, root)),
            None => Err(self.into_source()),
        }
    }

    /// The source of a tree that cannot be completed.
    pub(super) fn into_source(self) -> Source {
        self.nodes.into_source()
    }

    /// The current height of the operand stack.
    pub(super) fn mark(&self) -> Mark {
        Mark(self.operands.len())
    }

    /// The height of the operand stack without its last operand.
    pub(super) fn mark_last(&self) -> Mark {
        Mark(self.operands.len().saturating_sub(1))
    }

    /// The operands above a mark.
    fn above(&self, mark: Mark) -> &[ExprId] {
        self.operands.get(mark.0..).unwrap_or_default()
    }

    /// Drops the operands above a mark.
    pub(super) fn discard(&mut self, mark: Mark) {
        self.operands.truncate(mark.0);
    }

    /// A literal.
    pub(super) fn constant(&mut self, offset: Offset, value: Constant<'_>) {
        let id = self.nodes.add_constant(offset, value);
        self.operands.push(id);
    }

    /// A string literal.
    pub(super) fn text(&mut self, offset: Offset, text: Name) {
        let id = self.nodes.add_text(offset, text);
        self.operands.push(id);
    }

    /// A name.
    pub(super) fn ident(&mut self, offset: Offset, name: Name) {
        let id = self.nodes.add_ident(offset, name);
        self.operands.push(id);
    }

    /// `operand.field`
    pub(super) fn select(&mut self, dot: Offset, field: Name) {
        if let Some(operand) = self.operands.last_mut() {
            *operand = self.nodes.add_select(dot, *operand, field, false);
        }
    }

    /// `operand.?field`
    pub(super) fn optional_select(&mut self, dot: Offset, field: Name, name: Offset) {
        self.text(name, field);
        let id = self.nodes.id(dot);
        self.operator(id, named::OPT_SELECT, 2);
    }

    /// Builds a call of an operator. Takes its operands from the operand stack.
    pub(super) fn operator(&mut self, id: ExprId, name: Name, operands: usize) {
        let mark = Mark(self.operands.len().saturating_sub(operands));
        self.complete_call(id, name, mark, false);
    }

    /// Makes `id` a call with the operands above the mark, and replaces these operands by the call.
    fn complete_call(&mut self, id: ExprId, name: Name, mark: Mark, has_target: bool) {
        let operands = self.operands.get(mark.0..).unwrap_or_default();
        self.nodes.set_call(id, name, operands, has_target);
        self.operands.truncate(mark.0);
        self.operands.push(id);
    }

    /// Builds a chain of `&&` or `||` from its operators and terms. There is one more term than there are operators.
    pub(super) fn chain(&mut self, name: Name, operators: &[ExprId], mark: Mark) {
        match operators {
            [id] => self.operator(*id, name, 2),
            _ => {
                let terms: SmallVec<[ExprId; 8]> = self.above(mark).into();
                self.operands.truncate(mark.0);
                let chain = balanced(&mut self.nodes, name, operators, &mut terms.into_iter());
                self.operands.extend(chain);
            }
        }
    }

    /// Builds a call, or the expansion of a macro. The arguments are the operands above the mark; the receiver is the operand below it.
    pub(super) fn call(
        &mut self,
        id: ExprId,
        name: Name,
        receiver: bool,
        mark: Mark,
    ) -> Result<(), MacroError> {
        let below = mark.0.saturating_sub(usize::from(receiver));
        let target = self.operands.get(below..mark.0).unwrap_or_default();
        let target = target.first().copied();
        let arguments = self.operands.len().saturating_sub(mark.0);
        let called = self.nodes.text(name);
        let target_expr = target.map(|target| self.nodes.expr(target));
        let Some(expand) = self.macros.find(called, target_expr, arguments) else {
            self.complete_call(id, name, Mark(below), target.is_some());
            return Ok(());
        };
        let call = MacroCall::new(id, target, self.above(mark).into());
        self.operands.truncate(below);
        let expanded = expand(&mut MacroContext::new(&mut self.nodes, id), call);
        self.nodes.release(id);
        self.operands.push(expanded?);
        Ok(())
    }

    /// Builds a list of the elements above the mark.
    pub(super) fn list(&mut self, id: ExprId, mark: Mark, optional_indices: &[u32]) {
        let elements = self.operands.get(mark.0..).unwrap_or_default();
        self.nodes.set_list(id, elements, optional_indices);
        self.operands.truncate(mark.0);
        self.operands.push(id);
    }

    /// Builds a map of the keys and values above the mark; `entries` has the id of each entry and whether it is optional.
    pub(super) fn map(&mut self, id: ExprId, mark: Mark, entries: &[(ExprId, bool)]) {
        let pairs = self.operands.get(mark.0..).unwrap_or_default();
        let pairs = pairs.chunks_exact(2).zip(entries);
        let entries = pairs.filter_map(|(pair, (id, optional))| match pair {
            [key, value] => Some(Entry {
                id: *id,
                key: EntryKey::Expr(*key),
                value: *value,
                optional: *optional,
            }),
            _ => None,
        });
        self.nodes.set_map(id, entries);
        self.operands.truncate(mark.0);
        self.operands.push(id);
    }

    /// Builds a struct of the values above the mark; `fields` has the id and name of each field and whether it is optional.
    pub(super) fn structure(
        &mut self,
        id: ExprId,
        type_name: Name,
        mark: Mark,
        fields: &[(ExprId, Name, bool)],
    ) {
        let values = self.operands.get(mark.0..).unwrap_or_default();
        let fields = fields.iter().zip(values);
        let fields = fields.map(|((id, name, optional), value)| Entry {
            id: *id,
            key: EntryKey::Field(*name),
            value: *value,
            optional: *optional,
        });
        self.nodes.set_struct(id, type_name, fields);
        self.operands.truncate(mark.0);
        self.operands.push(id);
    }
}

/// Builds the balanced tree of a chain. As in cel-go, the middle operator becomes the root. If there are two middle operators, the second
/// becomes the root.
fn balanced(
    nodes: &mut Nodes,
    name: Name,
    operators: &[ExprId],
    terms: &mut impl Iterator<Item = ExprId>,
) -> Option<ExprId> {
    let middle = operators.len() / 2;
    let Some(id) = operators.get(middle) else {
        return terms.next();
    };
    let left = balanced(nodes, name, operators.get(..middle)?, terms)?;
    let after = operators.get(middle.saturating_add(1)..)?;
    let right = balanced(nodes, name, after, terms)?;
    nodes.set_call(*id, name, &[left, right], false);
    Some(*id)
}
