//! Upper bounds of costs. Some evaluations cost more than Kubernetes' estimate, but none costs more than the expression's bound. This
//! module holds only the rules by which bounds differ from estimates. A cost formula that differs for bounds calls
//! [`is_bound`](crate::cost::CallSite::is_bound).

use smol_str::SmolStr;

use super::call::SizedArgument;
use super::estimator::{EntrySize, Estimator};
use super::path::Path;
use super::tree::STEP;
use crate::ast::{Constant, Expr, ExprId, ExprKind};
use crate::cost::{CostEstimate, SizeEstimate};
use crate::decl::{Form, Yield};
use crate::types::Type;

/// Bounds that hold for every evaluation of an expression.
#[derive(Debug, Clone, Default)]
pub struct Bound {
    /// The lowest and the highest cost, in cost units. `None` if the expression reads a value of unknown size, or if the highest cost
    /// exceeds all budgets by many orders of magnitude.
    pub cost: Option<CostEstimate>,
    /// The known properties of the value.
    pub value: KnownValue,
}

/// The known properties of a value before it is computed, for a host that binds the value to a variable.
#[derive(Debug, Clone, Default)]
pub struct KnownValue {
    path: Vec<SmolStr>,
    size: Option<SizeEstimate>,
    keys: Option<SizeEstimate>,
    values: Option<SizeEstimate>,
}

impl KnownValue {
    /// The path that the value comes from (see [`SizeSource`](super::SizeSource)); empty if unknown.
    pub fn path(&self) -> &[SmolStr] {
        &self.path
    }

    /// The same value with another path.
    #[must_use]
    pub fn at(self, path: Vec<SmolStr>) -> Self {
        KnownValue { path, ..self }
    }

    /// Returns the size of this value or of its entries. Without `steps`, it is the size of the value itself; with `@items` or `@values`,
    /// the size of each element or map value; with `@keys` or `@indices`, the size of each key or index. Returns `None` if the size is
    /// unknown. The host may then know the size for [`path`](Self::path) followed by `steps`.
    pub fn size(&self, steps: &[&str]) -> Option<SizeEstimate> {
        match steps {
            [] => self.size,
            ["@items" | "@values"] => self.values,
            ["@keys" | "@indices"] => self.keys,
            _ => None,
        }
    }
}

/// Costs of at least this many units count as unknown. The cost of reading a value of unknown size exceeds this number.
const UNKNOWN: u64 = 1 << 56;

/// The greatest lengths of the texts that `string()` returns for bools, numbers, durations and timestamps, in code points.
mod text_size {
    pub(super) const BOOL: u64 = 5;
    pub(super) const INTEGER: u64 = 20;
    pub(super) const DOUBLE: u64 = 24;
    pub(super) const TIME: u64 = 64;
}

impl<'a> Estimator<'a> {
    /// The bound of the whole expression.
    pub(super) fn bound(mut self) -> Bound {
        let root: Expr<'a> = self.checked.ast().root();
        let cost = self.cost(root);
        let path = self.paths.steps(self.path_of(root));
        let path = path.iter().copied().map(SmolStr::new).collect();
        let entries = self.entries_of(root);
        Bound {
            cost: (cost.max < UNKNOWN).then_some(cost),
            value: KnownValue {
                path,
                size: self.size_of(root),
                keys: entries.map(|entries| entries.key),
                values: entries.map(|entries| entries.value),
            },
        }
    }

    /// The unit that a chain of selections and indices costs in addition to its steps, if `operand` is the base of the chain, such as
    /// `f(x)` in `f(x).b[c].d`. Zero in Kubernetes' estimates, for the later steps, and for a chain that begins with a name, because the
    /// name itself costs the unit.
    pub(super) fn chain_start(&self, operand: Expr<'_>) -> CostEstimate {
        let goes_on = match operand.kind() {
            ExprKind::Ident(_) => true,
            ExprKind::Select(select) => !select.test_only,
            ExprKind::Call(_) => self.row(operand).is_some_and(|row| is_step(row.calls.form)),
            _ => false,
        };
        match self.bounds && !goes_on {
            true => STEP,
            false => CostEstimate::ZERO,
        }
    }

    /// Records the path and the entries of a value that can be `left`, `right` or `left + right`. If one side is always empty, the path and
    /// the entries of the other side are recorded. Otherwise, the path is recorded only if it is the path of both sides.
    pub(super) fn join(&mut self, id: ExprId, left: &SizedArgument<'a>, right: &SizedArgument<'a>) {
        if !self.bounds {
            return;
        }
        let is_empty = |side: &SizedArgument<'_>| side.size.is_some_and(|size| size.max == 0);
        let (path, entries) = if is_empty(left) {
            (right.path, self.known_entries(right))
        } else if is_empty(right) {
            (left.path, self.known_entries(left))
        } else {
            let entries = EntrySize::union(self.known_entries(left), self.known_entries(right));
            match self.paths.steps(left.path) == self.paths.steps(right.path) {
                true => (left.path, entries),
                false => (Path::NONE, entries),
            }
        };
        self.set_path(id, path);
        self.set_entries(id, entries);
    }

    /// The sizes of the entries of a list or map; `None` if they are unknown. Recorded sizes take precedence over the host's sizes.
    fn known_entries(&self, argument: &SizedArgument<'a>) -> Option<EntrySize> {
        let given = |step| self.given_step_size(argument.path, step, &Type::Dyn);
        let known = self.entries_of(argument.expr);
        known.or_else(|| match self.type_of(argument.expr) {
            Type::List(element) => Some(EntrySize {
                is_list: true,
                key: SizeEstimate::exact(1),
                value: self.given_step_size(argument.path, "@items", element)?,
            }),
            Type::Map(_) => Some(EntrySize {
                is_list: false,
                key: given("@keys")?,
                value: given("@values")?,
            }),
            _ => None,
        })
    }

    /// The upper bound of a call's cost. Records the path and the sizes of its result.
    pub(super) fn bound_call(
        &mut self,
        expr: Expr<'a>,
        (form, yields): (Option<Form>, Yield),
        arguments: &[SizedArgument<'a>],
        own: CostEstimate,
    ) -> CostEstimate {
        let mut cost = own;
        if let ([operand, key], true) = (arguments, is_step(form)) {
            cost = cost.plus(self.chain_start(operand.expr));
            self.step(expr, operand, key.expr);
        }
        match (yields, arguments) {
            (Yield::Held, [held]) => {
                self.set_path(expr.id, held.path);
                self.set_size(expr.id, held.size);
                self.set_entries(expr.id, self.entries_of(held.expr));
            }
            (Yield::Either, [left, right]) => {
                self.join(expr.id, left, right);
                let size = left.size.zip(right.size);
                self.set_size(expr.id, size.map(|(left, right)| left.union(right)));
            }
            (Yield::Printed, [argument]) => {
                let size = self.text_size(argument);
                self.set_size(expr.id, size);
            }
            // A text has one more part than it has separators.
            (Yield::Parts, [text, ..]) => {
                let size = text.size.map(|text| SizeEstimate {
                    min: 0,
                    max: text.max.saturating_add(1),
                });
                self.forget_size(expr.id);
                self.set_size(expr.id, size);
                let entries = text.size.map(|text| EntrySize {
                    is_list: true,
                    key: SizeEstimate::exact(1),
                    value: SizeEstimate { min: 0, ..text },
                });
                self.set_entries(expr.id, entries);
            }
            // Upstream assumes that the result is as long as the argument.
            (Yield::Larger, _) => self.forget_size(expr.id),
            // A quoted text of unknown size has an unknown size.
            (Yield::Quoted, [text]) if text.size.is_none() => self.forget_size(expr.id),
            _ => {}
        }
        // A call whose overload is only known at run time costs one unit.
        CostEstimate {
            max: cost.max.max(1),
            ..cost
        }
    }

    /// Records the path and the size of the result of a selection or an index, including `.?` and `[?]`.
    fn step(&mut self, expr: Expr<'a>, operand: &SizedArgument<'a>, key: Expr<'a>) {
        let ty = self.type_of(operand.expr);
        let entries = self.entries_of(operand.expr);
        let path = match (ty.as_optional().unwrap_or(ty), key.kind()) {
            (Type::List(_), _) => self.paths.append(operand.path, "@items"),
            (Type::Map(_), _) => self.paths.append(operand.path, "@values"),
            (Type::Struct(_), ExprKind::Constant(Constant::String(field))) => {
                self.paths.append(operand.path, field)
            }
            _ => Path::NONE,
        };
        self.set_path(expr.id, path);
        self.forget_size(expr.id);
        let given = self.given_size(path, self.type_of(expr));
        self.set_size(expr.id, entries.map(|entries| entries.value).or(given));
    }

    /// The size of the text that `string()` returns for a value; `None` if it is unknown.
    fn text_size(&self, argument: &SizedArgument<'a>) -> Option<SizeEstimate> {
        let most = match self.type_of(argument.expr) {
            Type::String | Type::Bytes => return argument.size,
            Type::Bool => text_size::BOOL,
            Type::Int | Type::Uint => text_size::INTEGER,
            Type::Double => text_size::DOUBLE,
            Type::Duration | Type::Timestamp => text_size::TIME,
            _ => return None,
        };
        Some(SizeEstimate { min: 1, max: most })
    }
}

fn is_step(form: Option<Form>) -> bool {
    matches!(form, Some(Form::Index | Form::OptionalIndex))
}
