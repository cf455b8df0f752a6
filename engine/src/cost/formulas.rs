//! The costs of cel-go's own functions and operators (`checker/cost.go`, `interpreter/runtimecost.go`), which rows refer to. All
//! other functions cost [`Cost::ONE`].

use super::call::tracked_held_size;
use super::{
    CallEstimate, CallSite, Cost, CostEstimate, REGEX_FACTOR, SizeEstimate, TRAVERSAL_FACTOR,
};
use crate::error::EvalError;
use crate::value::Value;

/// The cost of `==` and `!=`, and of `<`, `<=`, `>` and `>=` for strings and bytes: the smaller side is read.
pub const COMPARISON: Cost = Cost::sizes(comparison).standard();
/// The cost of `+` for strings and bytes: both are copied.
pub const CONCATENATION: Cost = Cost::sizes(concatenation).standard();
/// The cost of `+` for lists, which copies nothing.
pub const LIST_CONCATENATION: Cost = Cost::sizes(list_concatenation).standard();
/// The cost of `in` for lists: every element is compared.
pub const IN_LIST: Cost = Cost::sizes(in_list).standard();
/// The cost of `text.contains(part)`.
pub const CONTAINS: Cost = Cost::sizes(contains).standard();
/// The cost of `text.matches(pattern)`; before cel-go 0.29, a global call of `matches` costs one unit.
pub const MATCHES: Cost = Cost::sizes(matches).standard();
/// The cost of `text.startsWith(part)` and `endsWith`: Kubernetes' estimate uses the size of the part, its evaluation the size of the text.
pub const PREFIX: Cost = Cost::split(prefix_estimate, prefix_track).standard();
/// The cost of `startsWith` and `endsWith` since 1.37: both the estimate and the evaluation use the size of the part.
pub const PART: Cost =
    Cost::sizes(|sizes| CallEstimate::new(nth(sizes, 1).costs(TRAVERSAL_FACTOR))).standard();
/// The cost of `bytes(text)`.
pub const STRING_TO_BYTES: Cost = Cost::sizes(string_to_bytes).standard();
/// The cost of `string(bytes)`.
pub const BYTES_TO_STRING: Cost = Cost::sizes(bytes_to_string).standard();
/// The cost of `strings.quote(text)`.
pub const QUOTE: Cost = Cost::sizes(quote).standard();
/// The cost of `template.format(values)`. The size of its result is unbounded.
pub const FORMAT: Cost = Cost::sizes(traversal).standard();

/// The cost of reading the first argument once.
pub fn traversal(sizes: &[SizeEstimate]) -> CallEstimate {
    CallEstimate::new(nth(sizes, 0).costs(TRAVERSAL_FACTOR))
}

/// The size of an argument.
pub fn nth(sizes: &[SizeEstimate], argument: usize) -> SizeEstimate {
    sizes
        .get(argument)
        .copied()
        .unwrap_or(SizeEstimate::UNKNOWN)
}

/// The cost of matching texts of one size against patterns of another. An empty text is not free.
pub fn regex_cost(text: SizeEstimate, pattern: SizeEstimate) -> CostEstimate {
    text.plus(SizeEstimate::exact(1))
        .costs(TRAVERSAL_FACTOR)
        .times(pattern.costs(REGEX_FACTOR))
}

/// The formula of [`COMPARISON`], for hosts that replace it for some of their types.
pub fn comparison(sizes: &[SizeEstimate]) -> CallEstimate {
    let max = nth(sizes, 0).max.min(nth(sizes, 1).max);
    let range = CostEstimate {
        min: max.min(1),
        max,
    };
    CallEstimate::new(range.scaled(TRAVERSAL_FACTOR))
}

fn concatenation(sizes: &[SizeEstimate]) -> CallEstimate {
    let size = nth(sizes, 0).plus(nth(sizes, 1));
    CallEstimate::new(size.costs(TRAVERSAL_FACTOR)).with_result(size)
}

fn list_concatenation(sizes: &[SizeEstimate]) -> CallEstimate {
    CallEstimate::new(CostEstimate::exact(1)).with_result(nth(sizes, 0).plus(nth(sizes, 1)))
}

fn in_list(sizes: &[SizeEstimate]) -> CallEstimate {
    CallEstimate::new(nth(sizes, 1).costs(1.0))
}

fn contains(sizes: &[SizeEstimate]) -> CallEstimate {
    let text = nth(sizes, 0).costs(TRAVERSAL_FACTOR);
    CallEstimate::new(text.times(nth(sizes, 1).costs(TRAVERSAL_FACTOR)))
}

fn matches(sizes: &[SizeEstimate]) -> CallEstimate {
    CallEstimate::new(regex_cost(nth(sizes, 0), nth(sizes, 1)))
}

fn prefix_estimate(call: &dyn CallSite) -> CallEstimate {
    let read = if call.is_bound() { 0 } else { 1 };
    CallEstimate::new(call.size(read).costs(TRAVERSAL_FACTOR))
}

fn prefix_track<'v>(
    arguments: &[Option<Value<'v>>],
    _result: Option<Value<'v>>,
) -> Result<u64, EvalError> {
    let text = arguments.first().and_then(Option::as_ref);
    Ok(SizeEstimate::exact(tracked_held_size(text))
        .costs(TRAVERSAL_FACTOR)
        .max)
}

// The sizes of the next three results wrap around as upstream's do: a quoted text of unknown size therefore has size 0.

fn string_to_bytes(sizes: &[SizeEstimate]) -> CallEstimate {
    let size = nth(sizes, 0);
    traversal(sizes).with_result(SizeEstimate {
        min: size.min,
        max: size.max.wrapping_mul(4),
    })
}

fn bytes_to_string(sizes: &[SizeEstimate]) -> CallEstimate {
    let size = nth(sizes, 0);
    traversal(sizes).with_result(SizeEstimate {
        min: size.min / 4,
        max: size.max,
    })
}

fn quote(sizes: &[SizeEstimate]) -> CallEstimate {
    let size = nth(sizes, 0);
    traversal(sizes).with_result(SizeEstimate {
        min: size.min.wrapping_add(2),
        max: size.max.wrapping_mul(2).wrapping_add(2),
    })
}
