use super::formulas::*;
use super::*;
use crate::types::Type;
use crate::value::{Arena, Value};

const UNKNOWN: SizeEstimate = SizeEstimate::UNKNOWN;
/// A tenth of the largest cost, rounded as a computation in doubles rounds it.
const TENTH: u64 = 1_844_674_407_370_955_264;

fn size(min: u64, max: u64) -> SizeEstimate {
    SizeEstimate { min, max }
}

/// A call with arguments of these sizes.
struct Sizes<'s>(&'s [SizeEstimate]);

impl CallSite for Sizes<'_> {
    fn arguments(&self) -> usize {
        self.0.len()
    }

    fn has_target(&self) -> bool {
        true
    }

    fn known_size(&self, argument: usize) -> Option<SizeEstimate> {
        self.0.get(argument).copied()
    }

    fn argument_type(&self, _: usize) -> &Type {
        &Type::Dyn
    }

    fn element_size(&self, _: usize) -> Option<SizeEstimate> {
        None
    }

    fn int_literal(&self, _: usize) -> Option<i64> {
        None
    }
}

fn estimate(cost: Cost, sizes: &[SizeEstimate]) -> CallEstimate {
    match cost.formula {
        Formula::Sizes(formula) => formula(sizes),
        Formula::Fixed(units) => CallEstimate::new(CostEstimate::exact(units)),
        Formula::Traversal { estimate, .. } | Formula::Split { estimate, .. } => {
            estimate(&Sizes(sizes))
        }
    }
}

#[test]
fn costs_are_ranges_of_sizes() {
    let check = |cost: Cost, sizes: &[SizeEstimate], min: u64, max: u64| {
        assert_eq!(
            estimate(cost, sizes).cost,
            CostEstimate { min, max },
            "{sizes:?}"
        );
    };
    check(COMPARISON, &[size(1, 1), size(1, 1)], 1, 1);
    check(COMPARISON, &[UNKNOWN, size(0, 0)], 0, 0);
    check(COMPARISON, &[UNKNOWN, size(25, 25)], 1, 3);
    check(COMPARISON, &[UNKNOWN, UNKNOWN], 1, TENTH);
    check(CONCATENATION, &[size(5, 10), size(6, 11)], 2, 3);
    check(LIST_CONCATENATION, &[size(5, 10), UNKNOWN], 1, 1);
    check(IN_LIST, &[UNKNOWN, size(3, 7)], 3, 7);
    check(IN_LIST, &[size(1, 1), UNKNOWN], 0, u64::MAX);
    check(CONTAINS, &[size(0, 100), size(11, 11)], 0, 20);
    check(MATCHES, &[size(0, 9), size(0, 0)], 0, 0);
    check(MATCHES, &[size(0, 10), size(5, 5)], 2, 4);
    check(FORMAT, &[size(1, 11), UNKNOWN], 1, 2);
}

#[test]
fn results_have_sizes_that_may_wrap_around() {
    let check = |cost: Cost, sizes: &[SizeEstimate], result: Option<SizeEstimate>| {
        assert_eq!(estimate(cost, sizes).result_size, result, "{sizes:?}");
    };
    check(CONCATENATION, &[size(1, 2), size(3, 4)], Some(size(4, 6)));
    check(
        CONCATENATION,
        &[size(1, 2), UNKNOWN],
        Some(size(1, u64::MAX)),
    );
    check(
        LIST_CONCATENATION,
        &[size(1, 2), size(3, 4)],
        Some(size(4, 6)),
    );
    check(STRING_TO_BYTES, &[size(1, 2)], Some(size(1, 8)));
    check(STRING_TO_BYTES, &[UNKNOWN], Some(size(0, u64::MAX - 3)));
    check(BYTES_TO_STRING, &[size(9, 9)], Some(size(2, 9)));
    check(QUOTE, &[size(1, 3)], Some(size(3, 8)));
    check(QUOTE, &[UNKNOWN], Some(size(2, 0)));
    check(CONTAINS, &[UNKNOWN, UNKNOWN], None);
}

#[test]
fn an_evaluation_is_charged_by_exact_sizes() {
    let check = |cost: Cost, arguments: &[Option<Value<'_>>], expected: u64| {
        let arguments: Vec<_> = arguments.iter().map(Option::as_ref).collect();
        let tracked = cost.track(&arguments, None).map_err(|e| e.to_string());
        assert_eq!(tracked, Ok(expected), "{arguments:?}");
    };
    let text = |text: &'static str| Some(Value::from(text));
    let arena = Arena::new();
    let optional = Some(arena.some(Value::from("0123456789a")));
    check(Cost::ONE, &[], 1);
    check(COMPARISON, &[text(""), text("")], 0);
    check(COMPARISON, &[Some(Value::from(1)), Some(Value::NULL)], 1);
    check(COMPARISON, &[text("0123456789a"), text("0123456789ab")], 2);
    check(PREFIX, &[text("0123456789a"), text("")], 2);
    check(CONCATENATION, &[text("ünïcödé"), text("日本語")], 1);
    check(CONCATENATION, &[text("ünïcödé"), None], 1);
    check(MATCHES, &[text(""), text("a+b+c")], 2);
    check(COMPARISON, &[optional, optional], 2);
    check(Cost::traversal(0, traversal), &[optional], 1);
    let list = [Value::from(1), Value::from(2), Value::from(3)];
    check(
        IN_LIST,
        &[Some(Value::from(1)), Some(Value::from(&list))],
        3,
    );
    check(IN_LIST, &[None, None], 1);
}

#[test]
fn sums_and_products_stop_at_the_largest_number() {
    let huge = CostEstimate::UNKNOWN;
    assert_eq!(huge.plus(CostEstimate::exact(1)).max, u64::MAX);
    assert_eq!(huge.times(CostEstimate::exact(2)).max, u64::MAX);
    assert_eq!(UNKNOWN.costs(0.25).max, 4_611_686_018_427_387_904);
    assert_eq!(UNKNOWN.costs(2.1).max, u64::MAX);
    assert_eq!(UNKNOWN.costs(0.0).max, 0);
    assert_eq!(size(1, 10).costs(0.1), CostEstimate { min: 1, max: 1 });
}
