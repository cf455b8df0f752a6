//! The cost of comprehensions: loops, and comprehensions that only bind a variable.

use super::estimator::{Estimator, ScopedVariable};
use crate::ast::{Comprehension, Constant, Expr, ExprKind};
use crate::cost::CostEstimate;
use crate::types::Type;

/// The accumulator's name in macro expansions of older versions of cel-go. A comprehension with this name never counts as a binding.
pub(super) const OLD_ACCUMULATOR: &str = "__result__";

impl<'a> Estimator<'a> {
    /// The cost of a comprehension. Like upstream, the estimator looks up the size of the range after it has visited the loop's body. By
    /// then, the range's path may have changed, because paths in the body may share the memory of the range's path (see the module `path`).
    pub(super) fn comprehension(
        &mut self,
        expr: Expr<'a>,
        fold: Comprehension<'a>,
    ) -> CostEstimate {
        let outer = self.locals.len();
        let start = self
            .cost(fold.iter_range())
            .plus(self.cost(fold.accu_init()));
        let accumulator = ScopedVariable {
            name: fold.accu_var(),
            path: self.path_of(fold.accu_init()),
            size: self.size_of(fold.accu_init()),
            entries: self.entries_of(fold.accu_init()),
        };
        self.locals.push(accumulator);
        if is_binding(&fold) {
            let result = self.cost(fold.result());
            // Upstream removes the variable before it determines the size of the result.
            if !self.bounds {
                self.locals.truncate(outer);
            }
            self.copy_sizes(expr.id, fold.result());
            self.locals.truncate(outer);
            return start.plus(result);
        }

        self.push_loop_variables(fold);
        let each = self
            .cost(fold.loop_condition())
            .plus(self.cost(fold.loop_step()));
        let collected = self.path_of(fold.loop_step());
        self.locals.truncate(outer.saturating_add(1));
        let result = self.cost(fold.result());
        self.locals.truncate(outer);

        let count = self.size_or_unknown(fold.iter_range());
        match fold.accu_init().kind() {
            ExprKind::Constant(_) => {
                let size = self.size_of(fold.accu_init());
                self.set_size(expr.id, size);
            }
            ExprKind::List(_) | ExprKind::Map(_) => {
                self.set_size(expr.id, Some(count));
                self.set_entries(expr.id, self.entries_of(fold.loop_step()));
                if self.bounds {
                    self.set_path(expr.id, collected);
                }
            }
            _ => {}
        }
        start.plus(result).plus(count.costs_each(each))
    }

    /// Pushes the loop variables. The path of each variable is the range's path with one more step. As in upstream, the step of the second
    /// variable may overwrite the step of the first, because paths share memory (see `path`).
    fn push_loop_variables(&mut self, fold: Comprehension<'a>) {
        let entries = self.entries_of(fold.iter_range());
        let is_list = match entries {
            Some(entries) => entries.is_list,
            None => matches!(self.type_of(fold.iter_range()), Type::List(_)),
        };
        let range = self.path_of(fold.iter_range());
        let key = entries.map(|entries| entries.key);
        let value = entries.map(|entries| entries.value);
        let variables = match fold.iter_var2() {
            None if is_list => [Some((fold.iter_var(), "@items", value)), None],
            None => [Some((fold.iter_var(), "@keys", key)), None],
            Some(second) if is_list => [
                Some((fold.iter_var(), "@indices", key)),
                Some((second, "@items", value)),
            ],
            Some(second) => [
                Some((fold.iter_var(), "@keys", key)),
                Some((second, "@values", value)),
            ],
        };
        for (name, step, size) in variables.into_iter().flatten() {
            let path = self.paths.append(range, step);
            self.locals.push(ScopedVariable {
                name,
                path,
                size,
                entries: None,
            });
        }
    }
}

/// Whether a comprehension only binds a value to its accumulator, without a loop. `cel.bind`, `optMap` and `sortBy` expand to bindings.
fn is_binding(fold: &Comprehension<'_>) -> bool {
    matches!(fold.iter_range().kind(), ExprKind::List(list) if list.elements.is_empty())
        && fold.loop_condition().as_constant() == Some(Constant::Bool(false))
        && fold.accu_var() != OLD_ACCUMULATOR
}
