//! Fast loops for predicates that compare the element with a constant int, such as `ports.all(p, p > 0)`. A run of elements that do not
//! decide the result is skipped in one step, unless a limit could be exceeded.

use super::frame::Frame;
use super::path::SlotId;
use super::tree::{IntTest, Operator, Step};
use crate::error::EvalError;
use crate::value::{ItemShape, List, ListRepr, Value};

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

    /// The least and the greatest int that do not decide the result. If no int passes, the least is the greater one.
    fn passing(&self, decisive: bool) -> (i64, i64) {
        const NONE: (i64, i64) = (i64::MAX, i64::MIN);
        let below = || Some((i64::MIN, self.bound.checked_sub(1)?));
        let above = || Some((self.bound.checked_add(1)?, i64::MAX));
        let passing = match (self.operator, decisive) {
            (Operator::Less, false) | (Operator::GreaterEquals, true) => below(),
            (Operator::LessEquals, false) | (Operator::Greater, true) => {
                Some((i64::MIN, self.bound))
            }
            (Operator::Greater, false) | (Operator::LessEquals, true) => above(),
            (Operator::GreaterEquals, false) | (Operator::Less, true) => {
                Some((self.bound, i64::MAX))
            }
        };
        passing.unwrap_or(NONE)
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
        let (least, greatest) = self.passing(decisive);
        let passes = |int: Option<i64>| int.is_some_and(|int| least <= int && int <= greatest);
        let passed = match list.0 {
            ListRepr::Values(values) => run(values, next, most, |value| passes(value.as_int())),
            ListRepr::Json(items) => {
                run(items, next, most, |json| passes(Value::from(json).as_int()))
            }
            ListRepr::Shaped(items, shape) => {
                let item = ItemShape::of(shape);
                run(items, next, most, |json| passes(item.int(json)))
            }
            ListRepr::Owned(_) | ListRepr::View(_) => 0,
        };
        frame.iterate_freely(passed, units).map(|()| passed)
    }
}

/// The number of elements, from index `next` on, up to the first that does not pass; at most `most`.
#[inline(always)]
fn run<'a, T>(
    elements: &'a [T],
    next: usize,
    most: usize,
    passes: impl Fn(&'a T) -> bool,
) -> usize {
    let elements = elements.get(next..).unwrap_or_default();
    let elements = elements.get(..most).unwrap_or(elements);
    let stop = elements.iter().position(|element| !passes(element));
    stop.unwrap_or(elements.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ints_pass_as_the_operator_says() {
        let operators = [
            Operator::Less,
            Operator::LessEquals,
            Operator::Greater,
            Operator::GreaterEquals,
        ];
        let ints = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX];
        for operator in operators {
            for bound in ints {
                for decisive in [false, true] {
                    let (least, greatest) = IntTest { operator, bound }.passing(decisive);
                    for int in ints {
                        let expected = operator.holds(int.cmp(&bound)) != decisive;
                        let passes = least <= int && int <= greatest;
                        assert_eq!(passes, expected, "{int} {operator:?} {bound}, {decisive}");
                    }
                }
            }
        }
    }
}
