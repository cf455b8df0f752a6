//! Makes the nodes of a tree, their ids and places (`parser/helper.go`, `common/ast/factory.go`).

use smol_str::SmolStr;

use super::macros::{MacroCall, MacroContext, MacroError, Macros};
use crate::ast::{Call, Comprehension, Constant, Expr, ExprId, ExprKind, List, MapEntry, Select, Struct, StructField};
use crate::source::Offset;

/// The place of nodes that stand for what could not be read.
pub(super) const NOWHERE: Offset = Offset::MAX;

/// The most nodes of a tree.
///
/// 100,000 code points spell some 100,000 nodes at most, macros included, but for `optMap` and `optFlatMap`: these copy
/// their receiver, so that each nesting of them doubles it. Ten times as many leave room for any such expression that is
/// of use, and bound the memory of the others to about 100 MB.
pub(super) const MAX_NODES: usize = 1_000_000;

/// The nodes made so far.
#[derive(Debug)]
pub(super) struct Nodes {
    offsets: Vec<Offset>,
}

impl Nodes {
    /// No nodes; `expected` is a guess at how many there will be.
    pub(super) fn new(expected: usize) -> Self {
        let mut offsets = Vec::with_capacity(expected.saturating_add(1));
        offsets.push(0);
        Nodes { offsets }
    }

    /// The place of each id.
    pub(super) fn into_offsets(self) -> Vec<Offset> {
        self.offsets
    }

    /// A new id for a node at `offset`.
    pub(super) fn id(&mut self, offset: Offset) -> ExprId {
        let id = ExprId(u32::try_from(self.offsets.len()).unwrap_or(u32::MAX));
        self.offsets.push(offset);
        id
    }

    /// Gives back the id of a node that is not in the tree after all; the last one is used again.
    fn release(&mut self, id: ExprId) {
        if id.index().saturating_add(1) == self.offsets.len() {
            self.offsets.pop();
        }
    }

    /// The place of a node.
    pub(super) fn offset(&self, id: ExprId) -> Offset {
        self.offsets.get(id.index()).copied().unwrap_or(NOWHERE)
    }

    /// Says where a node is whose id had to be made before its place was known.
    pub(super) fn place(&mut self, id: ExprId, offset: Offset) {
        if let Some(place) = self.offsets.get_mut(id.index()) {
            *place = offset;
        }
    }

    /// A literal.
    pub(super) fn constant(&mut self, offset: Offset, value: Constant) -> Expr {
        Expr { id: self.id(offset), kind: ExprKind::Constant(value) }
    }

    /// A name.
    pub(super) fn ident(&mut self, offset: Offset, name: impl Into<SmolStr>) -> Expr {
        Expr { id: self.id(offset), kind: ExprKind::Ident(name.into()) }
    }

    /// `operand.field`
    pub(super) fn select(&mut self, offset: Offset, operand: Expr, field: SmolStr) -> Expr {
        let select = Select { operand, field, test_only: false };
        Expr { id: self.id(offset), kind: ExprKind::Select(Box::new(select)) }
    }

    /// `operand.?field`
    pub(super) fn optional_select(&mut self, dot: Offset, operand: Expr, field: &str, name: Offset) -> Expr {
        let field = self.constant(name, Constant::String(field.into()));
        let id = self.id(dot);
        call(id, crate::ast::operators::OPT_SELECT, None, vec![operand, field])
    }

    /// A call, or what it expands to.
    pub(super) fn call_or_macro(
        &mut self,
        macros: &Macros,
        id: ExprId,
        function: &str,
        target: Option<Expr>,
        args: Vec<Expr>,
    ) -> Result<Expr, MacroError> {
        let Some(expand) = macros.find(function, target.as_ref(), args.len()) else {
            return Ok(call(id, function, target, args));
        };
        let offset = self.offset(id);
        let expanded = expand(&mut MacroContext::new(self, offset), MacroCall::new(id, target, args));
        self.release(id);
        expanded
    }

    /// The same tree with ids of its own.
    pub(super) fn copy(&mut self, expr: &Expr, macro_place: Offset) -> Result<Expr, MacroError> {
        if self.offsets.len() >= MAX_NODES {
            return Err(MacroError::TooManyNodes);
        }
        let id = self.id(self.offset(expr.id));
        let kind = match &expr.kind {
            ExprKind::Constant(value) => ExprKind::Constant(value.clone()),
            ExprKind::Ident(name) => ExprKind::Ident(name.clone()),
            ExprKind::Select(select) => ExprKind::Select(Box::new(Select {
                operand: self.copy(&select.operand, macro_place)?,
                field: select.field.clone(),
                test_only: select.test_only,
            })),
            ExprKind::Call(call) => {
                let args = self.copies(&call.args, macro_place)?;
                let target = call.target.as_ref().map(|target| self.copy(target, macro_place)).transpose()?;
                ExprKind::Call(Box::new(Call { function: call.function.clone(), target, args }))
            }
            ExprKind::List(list) => ExprKind::List(List {
                elements: self.copies(&list.elements, macro_place)?,
                optional_indices: list.optional_indices.clone(),
            }),
            ExprKind::Map(entries) => ExprKind::Map(self.copy_entries(entries, macro_place)?),
            ExprKind::Struct(literal) => ExprKind::Struct(Box::new(Struct {
                type_name: literal.type_name.clone(),
                fields: self.copy_fields(&literal.fields, macro_place)?,
            })),
            ExprKind::Comprehension(fold) => ExprKind::Comprehension(Box::new(Comprehension {
                iter_range: self.copy(&fold.iter_range, macro_place)?,
                iter_var: fold.iter_var.clone(),
                iter_var2: fold.iter_var2.clone(),
                accu_var: fold.accu_var.clone(),
                accu_init: self.copy(&fold.accu_init, macro_place)?,
                loop_condition: self.copy(&fold.loop_condition, macro_place)?,
                loop_step: self.copy(&fold.loop_step, macro_place)?,
                result: self.copy(&fold.result, macro_place)?,
            })),
        };
        Ok(Expr { id, kind })
    }

    fn copies(&mut self, exprs: &[Expr], macro_place: Offset) -> Result<Vec<Expr>, MacroError> {
        exprs.iter().map(|expr| self.copy(expr, macro_place)).collect()
    }

    fn copy_entries(&mut self, entries: &[MapEntry], macro_place: Offset) -> Result<Vec<MapEntry>, MacroError> {
        let copy = |entry: &MapEntry| {
            Ok(MapEntry {
                id: self.id(macro_place),
                key: self.copy(&entry.key, macro_place)?,
                value: self.copy(&entry.value, macro_place)?,
                optional: entry.optional,
            })
        };
        entries.iter().map(copy).collect()
    }

    fn copy_fields(&mut self, fields: &[StructField], macro_place: Offset) -> Result<Vec<StructField>, MacroError> {
        let copy = |field: &StructField| {
            Ok(StructField {
                id: self.id(macro_place),
                name: field.name.clone(),
                value: self.copy(&field.value, macro_place)?,
                optional: field.optional,
            })
        };
        fields.iter().map(copy).collect()
    }
}

/// A call that is known to be no macro.
pub(super) fn call(id: ExprId, function: impl Into<SmolStr>, target: Option<Expr>, args: Vec<Expr>) -> Expr {
    Expr { id, kind: ExprKind::Call(Box::new(Call { function: function.into(), target, args })) }
}

/// The balanced tree of a chain of `&&` or `||`, which has one term more than operators.
///
/// The leftmost of two middle operators becomes the root's left child, as in cel-go: `a && b && c` is `(a && b) && c`.
pub(super) fn balanced(function: &'static str, operators: &[ExprId], terms: &mut impl Iterator<Item = Expr>) -> Option<Expr> {
    let middle = operators.len() / 2;
    let Some(id) = operators.get(middle) else { return terms.next() };
    let left = balanced(function, operators.get(..middle)?, terms)?;
    let right = balanced(function, operators.get(middle.saturating_add(1)..)?, terms)?;
    Some(call(*id, SmolStr::new_static(function), None, vec![left, right]))
}
