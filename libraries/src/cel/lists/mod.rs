//! Version 3 of the lists library (cel-go `ext/lists.go`): slices, sorting and ranges.
//!
//! Kubernetes has offered no other version. `sortBy` is a macro, which calls `@sortByAssociatedKeys`; `first` and `last`
//! belong to the optionals library.

mod bodies;
mod cost;
mod sorting;

use gavel_engine::ast::operators::SORT_BY_KEYS;
use gavel_engine::body;
use gavel_engine::decl::{Overload, Yield, row};

/// The functions of the lists library.
#[rustfmt::skip] // One row per line.
pub const LISTS: &[Overload] = &[
    row("slice", "list_slice", "list(T).(int, int) -> list(T)", body!(bodies::slice), "[1, 2, 3, 4].slice(1, 3) == [2, 3]").cost(cost::SLICE),
    // A list that is already flat is accepted, although no overload is declared for it.
    row("flatten", "list_flatten", "list(list(T)).() -> list(T)", bodies::flatten, "[[1], [2, 3]].flatten() == [1, 2, 3]").yields(Yield::Larger).shared().cost(cost::FLATTEN),
    row("flatten", "list_flatten_int", "list(dyn).(int) -> list(dyn)", bodies::flatten, "[[[1]], [[2], [3]]].flatten(2) == [1, 2, 3]").yields(Yield::Larger).shared().cost(cost::FLATTEN),
    sort("list_int_sort", "list(int).() -> list(int)", "[3, 1, 2].sort() == [1, 2, 3]"),
    sort("list_uint_sort", "list(uint).() -> list(uint)", "[2u, 1u].sort() == [1u, 2u]"),
    sort("list_double_sort", "list(double).() -> list(double)", "[2.5, -1.0].sort() == [-1.0, 2.5]"),
    sort("list_bool_sort", "list(bool).() -> list(bool)", "[true, false].sort() == [false, true]"),
    sort("list_google.protobuf.Duration_sort", "list(duration).() -> list(duration)", "[duration('1h'), duration('1m')].sort()[0] == duration('1m')"),
    sort("list_google.protobuf.Timestamp_sort", "list(timestamp).() -> list(timestamp)", "[timestamp(2), timestamp(1)].sort()[0] == timestamp(1)"),
    sort("list_string_sort", "list(string).() -> list(string)", "['b', 'a'].sort() == ['a', 'b']").cost(cost::SORT_TEXTS),
    sort("list_bytes_sort", "list(bytes).() -> list(bytes)", "[b'b', b'a'].sort() == [b'a', b'b']").cost(cost::SORT_TEXTS),
    sort_by("list_int_sortByAssociatedKeys", "list(T).(list(int)) -> list(T)", "[1, 2, 3].sortBy(x, -x) == [3, 2, 1]"),
    sort_by("list_uint_sortByAssociatedKeys", "list(T).(list(uint)) -> list(T)", "[2, 1].sortBy(x, uint(x)) == [1, 2]"),
    sort_by("list_double_sortByAssociatedKeys", "list(T).(list(double)) -> list(T)", "[1, 2].sortBy(x, 1.0 / double(x)) == [2, 1]"),
    sort_by("list_bool_sortByAssociatedKeys", "list(T).(list(bool)) -> list(T)", "[1, 2].sortBy(x, x < 2) == [2, 1]"),
    sort_by("list_google.protobuf.Duration_sortByAssociatedKeys", "list(T).(list(duration)) -> list(T)", "['1h', '1m'].sortBy(d, duration(d)) == ['1m', '1h']"),
    sort_by("list_google.protobuf.Timestamp_sortByAssociatedKeys", "list(T).(list(timestamp)) -> list(T)", "[2, 1].sortBy(t, timestamp(t)) == [1, 2]"),
    sort_by("list_string_sortByAssociatedKeys", "list(T).(list(string)) -> list(T)", "[10, 9].sortBy(x, string(x)) == [10, 9]").cost(cost::SORT_TEXTS_BY),
    sort_by("list_bytes_sortByAssociatedKeys", "list(T).(list(bytes)) -> list(T)", "['b', 'a'].sortBy(s, bytes(s)) == ['a', 'b']").cost(cost::SORT_TEXTS_BY),
    row("lists.range", "lists_range", "(int) -> list(int)", body!(bodies::range), "lists.range(3) == [0, 1, 2]").cost(cost::RANGE),
    row("reverse", "list_reverse", "list(T).() -> list(T)", body!(bodies::reverse), "[5, 3, 1].reverse() == [1, 3, 5]").cost(cost::REVERSE),
    row("distinct", "list_distinct", "list(T).() -> list(T)", body!(bodies::distinct), "[1, 2, 2, 1].distinct() == [1, 2]").cost(cost::DISTINCT),
];

/// The row of a `lists.range` that rejects sizes below zero and above a million.
#[rustfmt::skip] // One row per line.
pub const LISTS_WITH_BOUNDED_RANGE: &[Overload] = &[
    row("lists.range", "lists_range", "(int) -> list(int)", body!(bodies::bounded_range), "lists.range(3) == [0, 1, 2]").cost(cost::RANGE),
];

/// The row of `flatten` on servers where a depth below zero costs as much as a depth of one.
#[rustfmt::skip] // One row per line.
pub const LISTS_FLATTENED_ONCE_AT_LEAST: &[Overload] = &[
    row("flatten", "list_flatten_int", "list(dyn).(int) -> list(dyn)", bodies::flatten, "[[[1]], [[2], [3]]].flatten(2) == [1, 2, 3]").yields(Yield::Larger).shared().cost(cost::FLATTEN_ONCE_AT_LEAST),
];

const fn sort(id: &'static str, signature: &'static str, example: &'static str) -> Overload {
    row("sort", id, signature, body!(sorting::sort), example)
        .shared()
        .cost(cost::SORT)
}

const fn sort_by(id: &'static str, signature: &'static str, example: &'static str) -> Overload {
    row(
        SORT_BY_KEYS,
        id,
        signature,
        body!(sorting::sort_by_keys),
        example,
    )
    .shared()
    .cost(cost::SORT_BY)
}

#[cfg(test)]
mod tests;
