//! Plans comprehensions and blocks. The expansions of macros are recognized and get plans of their own.

use std::borrow::Cow;

use super::{PlanError, Planner, Step};
use crate::ast::named;
use crate::ast::{Call, Comprehension, Constant, Expr, ExprKind, Name, operators};
use crate::program::path::SlotId;
use crate::program::tree::{Block, FoldKind, FoldStep, General, Insert, IntTest};

impl<'e> Planner<'e> {
    pub(super) fn plan_comprehension(
        &mut self,
        expr: Expr<'e>,
        comprehension: &Comprehension<'e>,
    ) -> Result<Step, PlanError> {
        let range = self.plan(comprehension.iter_range())?;
        // The plan of a macro does not need the accumulator's initial value. For other comprehensions, the initial value is planned before
        // the loop and outside of its scope, as in upstream.
        let form = match form(comprehension) {
            Some(form) => Ok(form),
            None => Err(self.plan(comprehension.accu_init())?),
        };
        let outer = self.scopes.len();
        let around = std::mem::replace(&mut self.innermost, self.slots);
        let var = self.open(comprehension.iter_var());
        let var2 = comprehension.iter_var2().map(|name| self.open(name));
        let kind = match form {
            Ok(form) => self.plan_form(form, var, var2)?,
            Err(init) => {
                let accu = self.open(comprehension.accu_var());
                let condition = self.plan(comprehension.loop_condition())?;
                let step = self.plan(comprehension.loop_step())?;
                // The result can use the accumulator, but not the loop variables.
                self.scopes.truncate(outer);
                self.scopes.push((comprehension.accu_var().into(), accu));
                let result = self.plan(comprehension.result())?;
                FoldKind::General(Box::new(General {
                    accu,
                    init,
                    condition,
                    step,
                    result,
                }))
            }
        };
        self.scopes.truncate(outer);
        self.reads.current.leave(var);
        self.innermost = around;
        Ok(Step::Fold(Box::new(FoldStep {
            id: expr.id,
            range,
            var,
            var2,
            kind,
        })))
    }

    pub(super) fn plan_block(&mut self, call: &Call<'e>) -> Result<Step, PlanError> {
        let complaint = "cel.@block expects a list constructor as the first argument";
        let Some([parts, result]) = call.args.array() else {
            return Err(PlanError::new(complaint));
        };
        let ExprKind::List(list) = parts.kind() else {
            return Err(PlanError::new(complaint));
        };
        let (outer, first) = (self.scopes.len(), self.slots);
        let mut parts = Vec::with_capacity(list.elements.len());
        for (number, part) in list.elements.iter().enumerate() {
            let part = self.plan(part)?;
            parts.push((self.open(operators::block_slot(number).to_string()), part));
        }
        let result = self.plan(result)?;
        self.scopes.truncate(outer);
        self.reads.current.leave(first);
        Ok(Step::Block(Box::new(Block {
            parts: parts.into(),
            result,
        })))
    }

    fn open(&mut self, name: impl Into<Cow<'e, str>>) -> SlotId {
        let slot = self.slots;
        self.slots = self.slots.saturating_add(1);
        self.scopes.push((name.into(), slot));
        slot
    }

    fn plan_form(
        &mut self,
        form: MacroForm<'e>,
        var: SlotId,
        var2: Option<SlotId>,
    ) -> Result<FoldKind, PlanError> {
        Ok(match form {
            MacroForm::Quantifier {
                decisive,
                predicate,
            } => {
                let predicate = self.plan(predicate)?;
                let test = match var2 {
                    None => IntTest::of(&predicate, var),
                    Some(_) => None,
                };
                FoldKind::Quantifier {
                    decisive,
                    predicate,
                    test,
                }
            }
            MacroForm::ExistsOne { predicate } => FoldKind::ExistsOne {
                predicate: self.plan(predicate)?,
            },
            MacroForm::List { filter, element } => FoldKind::List {
                filter: filter.map(|filter| self.plan(filter)).transpose()?,
                element: self.plan(element)?,
            },
            MacroForm::Entry { filter, key, value } => FoldKind::Map {
                filter: filter.map(|filter| self.plan(filter)).transpose()?,
                insert: Insert::Entry {
                    key: self.plan(key)?,
                    value: self.plan(value)?,
                },
            },
            MacroForm::Entries { filter, entries } => FoldKind::Map {
                filter: filter.map(|filter| self.plan(filter)).transpose()?,
                insert: Insert::Entries(self.plan(entries)?),
            },
        })
    }
}

/// The expansion of a macro, without its accumulator.
enum MacroForm<'e> {
    Quantifier {
        decisive: bool,
        predicate: Expr<'e>,
    },
    ExistsOne {
        predicate: Expr<'e>,
    },
    List {
        filter: Option<Expr<'e>>,
        element: Expr<'e>,
    },
    Entry {
        filter: Option<Expr<'e>>,
        key: Expr<'e>,
        value: Expr<'e>,
    },
    Entries {
        filter: Option<Expr<'e>>,
        entries: Expr<'e>,
    },
}

/// The macro that expanded to this comprehension; `None` if it is not a known expansion. Only macros can use the accumulator's name.
fn form<'e>(comprehension: &Comprehension<'e>) -> Option<MacroForm<'e>> {
    if comprehension.accu_name() != named::ACCUMULATOR {
        return None;
    }
    let condition = comprehension.loop_condition();
    let step = comprehension.loop_step();
    match comprehension.accu_init().kind() {
        ExprKind::Constant(Constant::Bool(first)) => {
            let decisive = !first;
            let function = match decisive {
                true => named::LOGICAL_OR,
                false => named::LOGICAL_AND,
            };
            let [accu, predicate] = step.as_call(function)?;
            let asked = only(condition, named::NOT_STRICTLY_FALSE)?;
            let asked = if decisive {
                only(asked, named::LOGICAL_NOT)?
            } else {
                asked
            };
            let matches = is_accu(accu) && is_accu(asked) && is_accu(comprehension.result());
            matches.then_some(MacroForm::Quantifier {
                decisive,
                predicate,
            })
        }
        ExprKind::Constant(Constant::Int(0)) if is_true(condition) => {
            let [predicate, count, accu] = step.as_call(named::CONDITIONAL)?;
            let [counted, one] = count.as_call(named::ADD)?;
            let [result, expected] = comprehension.result().as_call(named::EQUALS)?;
            let matches =
                [accu, counted, result].into_iter().all(is_accu) && is_one(one) && is_one(expected);
            matches.then_some(MacroForm::ExistsOne { predicate })
        }
        ExprKind::List(list) if list.elements.is_empty() && is_collected(comprehension) => {
            let (filter, step) = filtered(step);
            let [accu, addition] = step.as_call(named::ADD)?;
            match addition.kind() {
                ExprKind::List(list) if is_accu(accu) && list.optional_indices.is_empty() => {
                    let [element] = list.elements.array()?;
                    Some(MacroForm::List { filter, element })
                }
                _ => None,
            }
        }
        ExprKind::Map(entries) if entries.is_empty() && is_collected(comprehension) => {
            let (filter, step) = filtered(step);
            if let Some([accu, key, value]) = step.as_call(named::MAP_INSERT) {
                return is_accu(accu).then_some(MacroForm::Entry { filter, key, value });
            }
            let [accu, entries] = step.as_call(named::MAP_INSERT)?;
            is_accu(accu).then_some(MacroForm::Entries { filter, entries })
        }
        _ => None,
    }
}

fn is_collected(comprehension: &Comprehension<'_>) -> bool {
    is_true(comprehension.loop_condition()) && is_accu(comprehension.result())
}

/// Splits a loop step `p ? step : A` into the predicate `p` and the inner `step`. Any other loop step is returned without a predicate.
fn filtered(step: Expr<'_>) -> (Option<Expr<'_>>, Expr<'_>) {
    match step.as_call(named::CONDITIONAL) {
        Some([predicate, step, accu]) if is_accu(accu) => (Some(predicate), step),
        _ => (None, step),
    }
}

fn only<'e>(expr: Expr<'e>, function: Name) -> Option<Expr<'e>> {
    expr.as_call(function).map(|[argument]| argument)
}

fn is_accu(expr: Expr<'_>) -> bool {
    expr.is_ident(named::ACCUMULATOR)
}

fn is_true(expr: Expr<'_>) -> bool {
    expr.as_constant() == Some(Constant::Bool(true))
}

fn is_one(expr: Expr<'_>) -> bool {
    expr.as_constant() == Some(Constant::Int(1))
}
