//! The walk over the tree: names, selections and literals.

use super::estimator::{EntrySize, Estimator};
use crate::ast::{Expr, ExprId, ExprKind, ListExpr, MapExpr, Select};
use crate::cost::{self, CostEstimate, SizeEstimate};
use crate::types::Type;

pub(super) const STEP: CostEstimate = CostEstimate::exact(cost::STEP);

impl<'a> Estimator<'a> {
    /// The cost of a node and everything below it. The recursion is as deep as the tree; the parser limits the tree's depth.
    pub(super) fn cost(&mut self, expr: Expr<'a>) -> CostEstimate {
        let cost = self.cost_of_kind(expr);
        if let Some(node) = self.nodes.get_mut(expr.id.index()) {
            node.cost = cost;
        }
        cost
    }

    /// The recorded cost of a node.
    pub(super) fn recorded(&self, id: ExprId) -> CostEstimate {
        let node = self.nodes.get(id.index());
        node.map_or(CostEstimate::ZERO, |node| node.cost)
    }

    fn cost_of_kind(&mut self, expr: Expr<'a>) -> CostEstimate {
        match expr.kind() {
            ExprKind::Constant(_) => CostEstimate::ZERO,
            ExprKind::Ident(name) => {
                let path = match self.local(name) {
                    Some(local) => local.path,
                    None => self.paths.variable(name),
                };
                self.set_path(expr.id, path);
                STEP
            }
            ExprKind::Select(select) => self.select(expr, select),
            ExprKind::Call(call) => self.call(expr, call),
            ExprKind::List(list) => self.list(expr, list),
            ExprKind::Map(map) => self.map(expr, map),
            ExprKind::Struct(literal) => literal
                .fields()
                .fold(CostEstimate::exact(cost::STRUCT), |sum, field| {
                    sum.plus(self.cost(field.value))
                }),
            ExprKind::Comprehension(comprehension) => self.comprehension(expr, comprehension),
        }
    }

    /// The static type of a node.
    pub(super) fn type_of(&self, expr: Expr<'_>) -> &'a Type {
        self.checked.type_of(expr.id)
    }

    fn select(&mut self, expr: Expr<'a>, select: Select<'a>) -> CostEstimate {
        let operand = self.cost(select.operand);
        let operand = operand.plus(self.chain_start(select.operand));
        if select.test_only {
            return operand;
        }
        let path = self.path_of(select.operand);
        let step = match self.type_of(select.operand) {
            Type::Map(_) if self.bounds => "@values",
            _ => select.field,
        };
        let path = self.paths.append(path, step);
        self.set_path(expr.id, path);
        match self.type_of(select.operand) {
            Type::Map(_) | Type::Struct(_) | Type::Param(_) | Type::Var(_) => operand.plus(STEP),
            _ if self.bounds => operand.plus(STEP),
            _ => operand,
        }
    }

    fn list(&mut self, expr: Expr<'a>, list: ListExpr<'a>) -> CostEstimate {
        let mut sum = CostEstimate::exact(cost::LIST);
        let mut value = None;
        for element in list.elements.iter() {
            sum = sum.plus(self.cost(element));
            value = self.including(value, element);
        }
        let entries = EntrySize {
            is_list: true,
            key: SizeEstimate::exact(1),
            value: value.unwrap_or(SizeEstimate::exact(0)),
        };
        self.set_entries(expr.id, Some(entries));
        if let (Some([element]), true) = (list.elements.array(), self.bounds) {
            let path = self.paths.list_of(self.path_of(element));
            self.set_path(expr.id, path);
        }
        sum
    }

    fn map(&mut self, expr: Expr<'a>, map: MapExpr<'a>) -> CostEstimate {
        let mut sum = CostEstimate::exact(cost::MAP);
        let (mut key, mut value) = (None, None);
        for entry in map.iter() {
            sum = sum.plus(self.cost(entry.key));
            sum = sum.plus(self.cost(entry.value));
            key = self.including(key, entry.key);
            value = self.including(value, entry.value);
        }
        let entries = EntrySize {
            is_list: false,
            key: key.unwrap_or(SizeEstimate::exact(0)),
            value: value.unwrap_or(SizeEstimate::exact(0)),
        };
        self.set_entries(expr.id, Some(entries));
        sum
    }

    fn including(&mut self, sizes: Option<SizeEstimate>, expr: Expr<'a>) -> Option<SizeEstimate> {
        let size = self.size_or_unknown(expr);
        Some(sizes.map_or(size, |sizes| sizes.union(size)))
    }
}
