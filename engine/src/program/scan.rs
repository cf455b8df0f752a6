//! Fast loops for predicates that compare the element with a constant int, such as `ports.all(p, p > 0)`. A run of elements that do not
//! decide the result is skipped in one step, unless a limit could be exceeded.

use super::frame::Frame;
use super::path::SlotId;
use super::tree::{IntTest, Step};
use crate::error::EvalError;
use crate::value::{List, ListRepr, Value};

/// The cost of `x < 5`, in cost units.
const TEST: u64 = 2;

impl IntTest {
    /// The test, if the predicate compares the loop variable with a constant int.
    pub(super) fn of(predicate: &Step, var: SlotId) -> Option<Self> {
        let Step::Comparison(comparison) = predicate else {
            return None;
        };
        let (left, right) = (&comparison.operands.left, &comparison.operands.right);
        let (operator, slot, bound) = match (left, right) {
            (Step::Local(slot, _), bound) => (comparison.operator, slot, bound),
            (bound, Step::Local(slot, _)) => (comparison.operator.turned(), slot, bound),
            _ => return None,
        };
        let bound = bound.constant()?.as_int()?;
        (*slot == var).then_some(IntTest { operator, bound })
    }

    /// Skips elements from index `next` on that do not decide the result, as long as no limit has to be checked. Returns the number of
    /// skipped elements. Each skipped element costs `units` cost units in addition to the test.
    pub(super) fn pass_over<'a>(
        &self,
        decisive: bool,
        list: List<'a>,
        next: usize,
        units: u64,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<usize, EvalError> {
        let units = units.saturating_add(TEST);
        let most = frame.free_iterations(units);
        let passes = |value: Value<'_>| {
            let int = value.as_int();
            int.is_some_and(|int| self.operator.holds(int.cmp(&self.bound)) != decisive)
        };
        let passed = match list.0 {
            ListRepr::Values(values) => {
                let values = values.iter().skip(next).take(most);
                values.take_while(|value| passes(**value)).count()
            }
            ListRepr::Json(items) => {
                let items = items.iter().skip(next).take(most);
                items.take_while(|json| passes(Value::from(*json))).count()
            }
            ListRepr::Shaped(items, shape) => {
                let item = shape.items();
                let items = items.iter().skip(next).take(most);
                items.take_while(|json| passes(item.value(json))).count()
            }
            ListRepr::Owned(_) | ListRepr::View(_) => 0,
        };
        frame.iterate_freely(passed, units).map(|()| passed)
    }
}
