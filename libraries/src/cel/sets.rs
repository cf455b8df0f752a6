//! The sets library (cel-go `ext/sets.go`): lists compared as sets. Their elements may repeat and have any order.

use gavel_engine::body;
use gavel_engine::cost::formulas::nth;
use gavel_engine::cost::{CallEstimate, Cost, CostEstimate, SizeEstimate};
use gavel_engine::decl::{CallContext, Overload, row};
use gavel_engine::error::EvalError;
use gavel_engine::value::{List, list_contains};

use super::members::Members;

/// The functions of the sets library.
#[rustfmt::skip] // One row per line.
pub const SETS: &[Overload] = &[
    row("sets.contains", "list_sets_contains_list", "(list(T), list(T)) -> bool", body!(contains_all), "sets.contains([1, 2, 3, 4], [2, 3])").cost(Cost::sizes(one_way)),
    row("sets.equivalent", "list_sets_equivalent_list", "(list(T), list(T)) -> bool", body!(equivalent), "sets.equivalent([1, 2], [2, 1, 1])").cost(Cost::sizes(both_ways)),
    row("sets.intersects", "list_sets_intersects_list", "(list(T), list(T)) -> bool", body!(intersects), "sets.intersects([1, 2], [2, 3])").cost(Cost::sizes(one_way)),
];

fn equivalent<'a>(
    call: &CallContext<'a>,
    left: List<'a>,
    right: List<'a>,
) -> Result<bool, EvalError> {
    Ok(contains_all(call, left, right)? && contains_all(call, right, left)?)
}

fn intersects<'a>(
    call: &CallContext<'a>,
    left: List<'a>,
    right: List<'a>,
) -> Result<bool, EvalError> {
    first(call, right, left, true)
}

fn contains_all<'a>(
    call: &CallContext<'a>,
    list: List<'a>,
    elements: List<'a>,
) -> Result<bool, EvalError> {
    Ok(!first(call, list, elements, false)?)
}

/// Whether the list contains any of `elements`; if `wanted` is false, whether any of `elements` is not in the list.
fn first<'a>(
    call: &CallContext<'a>,
    list: List<'a>,
    elements: List<'a>,
    wanted: bool,
) -> Result<bool, EvalError> {
    let host = call.host();
    /// The number of comparisons below which preparing a lookup takes longer than comparing.
    const FEW: usize = 256;
    if list.len().saturating_mul(elements.len()) <= FEW {
        for element in elements {
            let contains = match list_contains(list, &element, host) {
                // Another element may still be in both lists if this one cannot be compared.
                Err(error) if wanted && !error.is_fatal() => false,
                contains => contains?,
            };
            if contains == wanted {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    let members = Members::of(list, call)?;
    for element in elements {
        if members.contain(&element, host)? == wanted {
            return Ok(true);
        }
    }
    Ok(false)
}

fn one_way(sizes: &[SizeEstimate]) -> CallEstimate {
    comparisons(sizes, 1.0)
}

fn both_ways(sizes: &[SizeEstimate]) -> CallEstimate {
    comparisons(sizes, 2.0)
}

/// The cost of comparing every element of one list with every element of the other, `factor` times, plus one unit for the call.
fn comparisons(sizes: &[SizeEstimate], factor: f64) -> CallEstimate {
    let pairs = nth(sizes, 0).times(nth(sizes, 1));
    CallEstimate::new(pairs.costs(factor).plus(CostEstimate::exact(1)))
}

#[cfg(test)]
mod tests {
    use gavel_engine::value::Arena;

    use super::*;
    use crate::testing::check;
    use crate::testing::{double, int, uint};
    use gavel_engine::value::Value;

    #[test]
    fn compares_sets() {
        let set = |id, left: &[Value<'_>], right: &[Value<'_>], expected: bool| {
            let arguments = [Value::from(left), Value::from(right)];
            let expected = if expected { "true" } else { "false" };
            check(SETS, id, &arguments, Ok(expected));
        };
        let contains = |left: &[_], right: &[_], expected| {
            set("list_sets_contains_list", left, right, expected);
        };
        contains(&[], &[], true);
        contains(&[], &[int(1)], false);
        contains(
            &[int(1), double(2.0), uint(3)],
            &[double(1.0), uint(2), int(3)],
            true,
        );
        contains(&[int(1)], &[int(1), int(2)], false);
        let equivalent = |left: &[_], right: &[_], expected| {
            set("list_sets_equivalent_list", left, right, expected);
        };
        equivalent(&[int(1)], &[int(1), uint(1), double(1.0)], true);
        equivalent(&[int(1), int(2)], &[int(1)], false);
        equivalent(&[int(1)], &[int(1), int(2)], false);
        let intersects = |left: &[_], right: &[_], expected| {
            set("list_sets_intersects_list", left, right, expected);
        };
        intersects(&[int(1)], &[], false);
        intersects(&[int(1)], &[int(2), uint(1)], true);
        intersects(&[int(1)], &[int(2)], false);
    }

    #[test]
    fn long_lists_compare_alike() {
        let many: Vec<Value<'_>> = (0..1000).map(int).collect();
        let some: Vec<Value<'_>> = (500..1000).map(|n| double(n as f64)).collect();
        let (many, some) = (List::from(many.as_slice()), List::from(some.as_slice()));
        let arena = Arena::new();
        let call = CallContext::new(&arena);
        assert!(contains_all(&call, many, some).unwrap());
        assert!(!contains_all(&call, some, many).unwrap());
        assert!(first(&call, many, some, true).unwrap());
    }

    #[test]
    fn costs_a_unit_a_comparison() {
        let list = [int(1), int(2)];
        let list = Value::from(&list);
        let arguments = [Some(&list), Some(&list)];
        let track =
            |row: usize, arguments: &[_]| SETS[row].calls.cost.track(arguments, None).unwrap();
        assert_eq!((track(0, &arguments), track(1, &arguments)), (5, 9));
        assert_eq!(track(2, &[None, Some(&list)]), 3);
        let unknown = one_way(&[SizeEstimate::UNKNOWN, SizeEstimate::exact(2)]);
        assert_eq!((unknown.cost.min, unknown.cost.max), (1, u64::MAX));
    }
}
