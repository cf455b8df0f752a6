//! The costs of the strings library's functions in Kubernetes, which looks up costs by the functions' names (`pkg/cel/library/cost.go`).

use gavel_engine::cost::formulas::{self, nth};
use gavel_engine::cost::{
    CallEstimate, CallSite, Cost, SizeEstimate, TRAVERSAL_FACTOR, tracked_size,
};
use gavel_engine::value::Value;

/// The cost of functions that read the receiver and create a text of at most its length.
pub(super) const COPY: Cost = formulas::COPY.of_name();
/// The cost of `replace`.
pub(super) const REPLACE: Cost = Cost::sizes(replace).of_name();
/// The cost of `split`.
pub(super) const SPLIT: Cost = Cost::split(split_estimate, |arguments, _| {
    Ok(copied(arguments.first().copied().flatten()))
})
.of_name();
/// The cost of `join`.
pub(super) const JOIN: Cost = Cost::split(join_estimate, |_, result| Ok(copied(result))).of_name();

/// The cost of each code point that is read and then written to the result.
const COPY_FACTOR: f64 = 2.0 * TRAVERSAL_FACTOR;

fn replace(sizes: &[SizeEstimate]) -> CallEstimate {
    let (text, old, new) = (nth(sizes, 0), nth(sizes, 1), nth(sizes, 2));
    // The result is longest for the shortest `old` and the longest `new`. It is shortest for the longest `old` and the shortest `new`.
    // An empty `old` is found around every code point and removes nothing.
    let max = if old.min == 0 {
        replaced(text.max.saturating_add(1), new.max, text.max)
    } else if new.max <= old.min {
        text.max
    } else {
        replaced(divide_up(text.max, old.min), new.max, 0)
    };
    let min = if old.max == 0 {
        replaced(text.min.saturating_add(1), new.min, text.min)
    } else if old.max <= new.min {
        text.min
    } else {
        replaced(divide_up(text.min, old.max), new.min, 0)
    };
    CallEstimate::new(text.costs(COPY_FACTOR)).with_result(SizeEstimate { min, max })
}

/// The size of a result that consists of `retained` code points and `count` texts of size `new`.
fn replaced(count: u64, new: u64, retained: u64) -> u64 {
    count.saturating_mul(new).saturating_add(retained)
}

/// `size / part`, rounded up. As upstream, computes the quotient as a double.
fn divide_up(size: u64, part: u64) -> u64 {
    SizeEstimate::exact(1).costs(size as f64 / part as f64).max
}

fn split_estimate(call: &dyn CallSite) -> CallEstimate {
    let text = call.size(0);
    // In the worst case every code point becomes an element. A negative limit, which means no limit, wraps around as upstream.
    let max = call.int_literal(2).map_or(text.max, i64::cast_unsigned);
    CallEstimate::new(text.costs(COPY_FACTOR)).with_result(SizeEstimate { min: 0, max })
}

fn join_estimate(call: &dyn CallSite) -> CallEstimate {
    let list = call.size(0);
    // A receiver of unknown type costs nothing.
    let mut size = match call.element_type(0) {
        None if call.is_bound() => SizeEstimate::UNKNOWN,
        Some(_) => list.times(call.element_size(0).unwrap_or(SizeEstimate::UNKNOWN)),
        None => SizeEstimate::exact(0),
    };
    if call.arguments() > 1 {
        let separators = SizeEstimate {
            min: list.min.saturating_sub(1),
            max: list.max.saturating_sub(1),
        };
        size = size.plus(call.size(1).times(separators));
    }
    let factor = if call.is_bound() {
        COPY_FACTOR
    } else {
        TRAVERSAL_FACTOR
    };
    CallEstimate::new(size.costs(factor)).with_result(size)
}

/// The cost of copying a text.
fn copied(text: Option<&Value<'_>>) -> u64 {
    let size = SizeEstimate::exact(tracked_size(text));
    size.costs(COPY_FACTOR).max
}
