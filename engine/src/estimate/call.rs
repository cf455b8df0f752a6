//! The cost of calls.

use smallvec::SmallVec;

use super::comprehension::OLD_ACCUMULATOR;
use super::estimator::{EntrySize, Estimator};
use super::path::Path;
use crate::ast::{Call, Constant, Expr, operators};
use crate::check::{Candidates, Reference};
use crate::cost::{CallEstimate, CallSite, Cost, CostEstimate, Formula, SizeEstimate};
use crate::decl::{Form, FunctionDecl, OverloadDecl, Yield};
use crate::types::Type;

/// An argument, with the size that was known when its cost was estimated.
#[derive(Debug, Clone, Copy)]
pub(super) struct SizedArgument<'a> {
    pub(super) expr: Expr<'a>,
    cost: CostEstimate,
    pub(super) path: Path,
    pub(super) size: Option<SizeEstimate>,
}

/// A call, as the cost formula of one of its overloads sees it.
#[derive(Debug)]
struct Site<'s, 'a> {
    estimator: &'s Estimator<'a>,
    arguments: &'s [SizedArgument<'a>],
    has_target: bool,
    /// Whether the formula is cel-go's own. A formula of cel-go only uses the sizes that were known when the arguments were estimated.
    standard: bool,
}

impl<'a> Estimator<'a> {
    /// The cost of a call with its arguments. Like upstream, it visits the receiver after the arguments.
    pub(super) fn call(&mut self, expr: Expr<'a>, call: Call<'a>) -> CostEstimate {
        let row = self.row(expr);
        let (form, yields) =
            row.map_or_else(Default::default, |row| (row.calls.form, row.calls.yields));
        if let (Yield::Argument, Some([argument])) = (yields, call.args.array()) {
            let cost = self.cost(argument).plus(CostEstimate::exact(1));
            self.copy_sizes(expr.id, argument);
            return cost;
        }
        let mut arguments = SmallVec::<[SizedArgument<'a>; 4]>::new();
        for argument in call.args.iter() {
            arguments.push(self.argument(argument));
        }
        let Some(Reference::Call {
            function,
            candidates,
        }) = self.checked.reference(expr.id)
        else {
            return CostEstimate::ZERO;
        };
        if let Some(target) = call.target {
            let target = self.argument(target);
            arguments.insert(0, target);
        }
        match (form, arguments.as_slice()) {
            (Some(Form::And | Form::Or), [left, right]) => CostEstimate {
                min: left.cost.min,
                max: left.cost.plus(right.cost).max,
            },
            (Some(Form::Conditional), [condition, yes, no]) => {
                let size =
                    |branch: &SizedArgument<'_>| branch.size.unwrap_or(SizeEstimate::UNKNOWN);
                let entries = EntrySize::union(self.entries_of(yes.expr), self.entries_of(no.expr));
                self.set_entries(expr.id, entries);
                self.set_size(expr.id, Some(size(yes).union(size(no))));
                self.join(expr.id, yes, no);
                condition.cost.plus(yes.cost.union(no.cost))
            }
            (_, all) => {
                if let (Yield::Sum, [left, right]) = (yields, all) {
                    let entries =
                        EntrySize::union(self.entries_of(left.expr), self.entries_of(right.expr));
                    self.set_entries(expr.id, entries);
                    self.join(expr.id, left, right);
                }
                let own = self.overloads(expr, (function, candidates), all, call.target.is_some());
                let own = match self.bounds {
                    true => self.bound_call(expr, (form, yields), all, own),
                    false => own,
                };
                all.iter()
                    .fold(own, |sum, argument| sum.plus(argument.cost))
            }
        }
    }

    /// The first possible overload of a call; `None` if the checker did not resolve the call.
    pub(super) fn row(&self, call: Expr<'_>) -> Option<&'a OverloadDecl> {
        match self.checked.reference(call.id)? {
            Reference::Call {
                function,
                candidates,
            } => {
                let overload = function.overloads.get(candidates.iter().next()?)?;
                Some(overload)
            }
            _ => None,
        }
    }

    /// The cost of a call without its arguments: the range that contains the costs of all possible overloads.
    fn overloads(
        &mut self,
        expr: Expr<'a>,
        (function, candidates): (&'a FunctionDecl, Candidates<'a>),
        arguments: &[SizedArgument<'a>],
        has_target: bool,
    ) -> CostEstimate {
        let mut cost: Option<CostEstimate> = None;
        let mut size: Option<SizeEstimate> = None;
        for candidate in candidates.iter() {
            let Some(overload) = function.overloads.get(candidate) else {
                continue;
            };
            let estimate = self.overload(overload.calls.cost, arguments, has_target);
            cost = Some(cost.map_or(estimate.cost, |cost| cost.union(estimate.cost)));
            size = match (size, estimate.result_size) {
                (Some(size), Some(more)) => Some(size.union(more)),
                (known, more) => known.or(more),
            };
            let step = match overload.calls.yields {
                Yield::Items => Some("@items"),
                Yield::Values => Some("@values"),
                _ => None,
            };
            if let (Some(step), Some(container)) = (step, arguments.first()) {
                size = self.entries_of(container.expr).map(|entries| entries.value);
                let path = self.path_of(container.expr);
                let path = self.paths.append(path, step);
                self.set_path(expr.id, path);
            }
            size = size.or_else(|| self.size_of(expr));
        }
        self.set_size(expr.id, size);
        cost.unwrap_or(CostEstimate::ZERO)
    }

    fn overload(
        &self,
        cost: Cost,
        arguments: &[SizedArgument<'a>],
        has_target: bool,
    ) -> CallEstimate {
        let site = Site {
            estimator: self,
            arguments,
            has_target,
            standard: cost.standard,
        };
        match cost.formula {
            Formula::Fixed(units) => CallEstimate::new(CostEstimate::exact(units)),
            Formula::Sizes(formula) => {
                let sizes: SmallVec<[SizeEstimate; 4]> =
                    (0..arguments.len()).map(|i| site.size(i)).collect();
                formula(&sizes)
            }
            Formula::Traversal { estimate, .. } | Formula::Split { estimate, .. } => {
                estimate(&site)
            }
        }
    }

    fn argument(&mut self, expr: Expr<'a>) -> SizedArgument<'a> {
        let cost = self.cost(expr);
        let path = self.path_of(expr);
        let path = match self.paths.steps(path).first() {
            Some(&(operators::ACCUMULATOR | OLD_ACCUMULATOR)) => Path::NONE,
            _ => path,
        };
        SizedArgument {
            expr,
            cost,
            path,
            size: self.size_of(expr),
        }
    }
}

impl CallSite for Site<'_, '_> {
    fn arguments(&self) -> usize {
        self.arguments.len()
    }

    fn has_target(&self) -> bool {
        self.has_target
    }

    fn known_size(&self, argument: usize) -> Option<SizeEstimate> {
        let node = self.arguments.get(argument)?;
        node.size.or_else(|| match self.standard {
            true => None,
            false => self
                .estimator
                .given_size(node.path, self.estimator.type_of(node.expr)),
        })
    }

    fn argument_type(&self, argument: usize) -> &Type {
        self.arguments
            .get(argument)
            .map_or(&Type::Dyn, |node| self.estimator.type_of(node.expr))
    }

    fn element_size(&self, argument: usize) -> Option<SizeEstimate> {
        let element = self.element_type(argument)?;
        let list = self.arguments.get(argument)?;
        let entries = self.estimator.entries_of(list.expr);
        match entries.filter(|_| self.estimator.bounds) {
            Some(entries) => Some(entries.value),
            None => self.estimator.given_step_size(list.path, "@items", element),
        }
    }

    fn is_bound(&self) -> bool {
        self.estimator.bounds
    }

    fn int_literal(&self, argument: usize) -> Option<i64> {
        match self.arguments.get(argument)?.expr.as_constant()? {
            Constant::Int(value) => Some(value),
            _ => None,
        }
    }
}
