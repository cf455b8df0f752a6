//! The costs of cel-go's own functions and operators (`checker/cost.go`, `interpreter/runtimecost.go`). A function that declares no cost
//! costs [`Cost::ONE`].

use super::{
    CallEstimate, CallSite, Cost, CostEstimate, REGEX_FACTOR, SizeEstimate, TRAVERSAL_FACTOR,
};

/// The cost of `==` and `!=`, and of `<`, `<=`, `>` and `>=` for strings and bytes: the cost of reading the smaller operand.
pub const COMPARISON: Cost = Cost::sizes(comparison).standard();
/// The cost of `+` for strings and bytes: the cost of copying both operands.
pub const CONCATENATION: Cost = Cost::sizes(concatenation).standard();
/// The cost of `+` for lists, which copies nothing.
pub const LIST_CONCATENATION: Cost = Cost::sizes(list_concatenation).standard();
/// The cost of `in` for lists: one unit per element.
pub const IN_LIST: Cost = Cost::sizes(in_list).standard();
/// The cost of `text.contains(part)`.
pub const CONTAINS: Cost = Cost::sizes(contains).standard();
/// The cost of `text.matches(pattern)`; before cel-go 0.29, a global call of `matches` costs one unit.
pub const MATCHES: Cost =
    Cost::sizes(|sizes| CallEstimate::new(regex_cost(nth(sizes, 0), nth(sizes, 1)))).standard();
/// The cost of `text.startsWith(part)` and `text.endsWith(part)` before Kubernetes 1.37. Kubernetes' estimate uses the size of `part`; its
/// evaluation uses the size of `text`.
pub const PREFIX: Cost = Cost::traversal(0, prefix_estimate).standard();
/// The cost of `text.startsWith(part)` and `text.endsWith(part)` since Kubernetes 1.37. Estimate and evaluation use the size of `part`.
pub const PART: Cost = Cost::traversal(1, |call| reading(call, 1)).standard();
/// The cost of `bytes(text)`.
pub const STRING_TO_BYTES: Cost = Cost::traversal(0, string_to_bytes).standard();
/// The cost of `string(bytes)`.
pub const BYTES_TO_STRING: Cost = Cost::traversal(0, bytes_to_string).standard();
/// The cost of `strings.quote(text)`.
pub const QUOTE: Cost = Cost::traversal(0, quote).standard();
/// The cost of `template.format(values)`. The size of the text that `format` returns is unbounded.
pub const FORMAT: Cost = Cost::traversal(0, traversal).standard();
/// The cost of functions whose result is at most as large as their first argument: the cost of reading this argument.
pub const COPY: Cost = Cost::traversal(0, |call| traversal(call).with_result(call.size(0)));

/// The cost of reading the first argument once.
pub fn traversal(call: &dyn CallSite) -> CallEstimate {
    reading(call, 0)
}

fn reading(call: &dyn CallSite, argument: usize) -> CallEstimate {
    CallEstimate::new(call.size(argument).costs(TRAVERSAL_FACTOR))
}

/// The size of an argument.
pub fn nth(sizes: &[SizeEstimate], argument: usize) -> SizeEstimate {
    sizes
        .get(argument)
        .copied()
        .unwrap_or(SizeEstimate::UNKNOWN)
}

/// The cost of matching a text against a pattern, computed from their sizes. Matching an empty text is not free.
#[inline]
pub fn regex_cost(text: SizeEstimate, pattern: SizeEstimate) -> CostEstimate {
    text.plus(SizeEstimate::exact(1))
        .costs(TRAVERSAL_FACTOR)
        .times(pattern.costs(REGEX_FACTOR))
}

/// The formula of [`COMPARISON`], for hosts that use another formula for some of their types.
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

fn prefix_estimate(call: &dyn CallSite) -> CallEstimate {
    reading(call, if call.is_bound() { 0 } else { 1 })
}

// In the next three functions, the result's size wraps around, as it does upstream. The largest size of a quoted text of unknown size
// is therefore 0.

fn string_to_bytes(call: &dyn CallSite) -> CallEstimate {
    let size = call.size(0);
    traversal(call).with_result(SizeEstimate {
        min: size.min,
        max: size.max.wrapping_mul(4),
    })
}

fn bytes_to_string(call: &dyn CallSite) -> CallEstimate {
    let size = call.size(0);
    traversal(call).with_result(SizeEstimate {
        min: size.min / 4,
        max: size.max,
    })
}

fn quote(call: &dyn CallSite) -> CallEstimate {
    let size = call.size(0);
    traversal(call).with_result(SizeEstimate {
        min: size.min.wrapping_add(2),
        max: size.max.wrapping_mul(2).wrapping_add(2),
    })
}
