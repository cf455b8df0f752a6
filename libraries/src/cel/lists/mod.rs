//! The lists library in its version 3 (cel-go `ext/lists.go`): parts, orders and ranges of lists.
//!
//! Kubernetes has offered no other version. `sortBy` is a macro, which calls `@sortByAssociatedKeys`; `first` and `last`
//! belong to the optionals library.

mod bodies;
mod cost;
mod sorting;

use gavel_engine::cost::Cost;
use gavel_engine::decl::{Implementation, Overload};

/// The functions.
pub const LISTS: &[Overload] = &[
    Overload {
        function: "slice",
        id: "list_slice",
        signature: "list(T).(int, int) -> list(T)",
        implementation: Implementation::Typed(bodies::slice),
        cost: cost::SLICE,
        example: "[1, 2, 3, 4].slice(1, 3) == [2, 3]",
    },
    // What is flat already is let through, though no overload is declared for it.
    Overload {
        function: "flatten",
        id: "list_flatten",
        signature: "list(list(T)).() -> list(T)",
        implementation: Implementation::Shared(bodies::flatten),
        cost: cost::FLATTEN,
        example: "[[1], [2, 3]].flatten() == [1, 2, 3]",
    },
    Overload {
        function: "flatten",
        id: "list_flatten_int",
        signature: "list(dyn).(int) -> list(dyn)",
        implementation: Implementation::Shared(bodies::flatten),
        cost: cost::FLATTEN,
        example: "[[[1]], [[2], [3]]].flatten(2) == [1, 2, 3]",
    },
    sort(
        "list_int_sort",
        "list(int).() -> list(int)",
        cost::SORT,
        "[3, 1, 2].sort() == [1, 2, 3]",
    ),
    sort(
        "list_uint_sort",
        "list(uint).() -> list(uint)",
        cost::SORT,
        "[2u, 1u].sort() == [1u, 2u]",
    ),
    sort(
        "list_double_sort",
        "list(double).() -> list(double)",
        cost::SORT,
        "[2.5, -1.0].sort() == [-1.0, 2.5]",
    ),
    sort(
        "list_bool_sort",
        "list(bool).() -> list(bool)",
        cost::SORT,
        "[true, false].sort() == [false, true]",
    ),
    sort(
        "list_google.protobuf.Duration_sort",
        "list(duration).() -> list(duration)",
        cost::SORT,
        "[duration('1h'), duration('1m')].sort()[0] == duration('1m')",
    ),
    sort(
        "list_google.protobuf.Timestamp_sort",
        "list(timestamp).() -> list(timestamp)",
        cost::SORT,
        "[timestamp(2), timestamp(1)].sort()[0] == timestamp(1)",
    ),
    sort(
        "list_string_sort",
        "list(string).() -> list(string)",
        cost::SORT_TEXTS,
        "['b', 'a'].sort() == ['a', 'b']",
    ),
    sort(
        "list_bytes_sort",
        "list(bytes).() -> list(bytes)",
        cost::SORT_TEXTS,
        "[b'b', b'a'].sort() == [b'a', b'b']",
    ),
    sort_by(
        "list_int_sortByAssociatedKeys",
        "list(T).(list(int)) -> list(T)",
        cost::SORT_BY,
        "[1, 2, 3].sortBy(x, -x) == [3, 2, 1]",
    ),
    sort_by(
        "list_uint_sortByAssociatedKeys",
        "list(T).(list(uint)) -> list(T)",
        cost::SORT_BY,
        "[2, 1].sortBy(x, uint(x)) == [1, 2]",
    ),
    sort_by(
        "list_double_sortByAssociatedKeys",
        "list(T).(list(double)) -> list(T)",
        cost::SORT_BY,
        "[1, 2].sortBy(x, 1.0 / double(x)) == [2, 1]",
    ),
    sort_by(
        "list_bool_sortByAssociatedKeys",
        "list(T).(list(bool)) -> list(T)",
        cost::SORT_BY,
        "[1, 2].sortBy(x, x < 2) == [2, 1]",
    ),
    sort_by(
        "list_google.protobuf.Duration_sortByAssociatedKeys",
        "list(T).(list(duration)) -> list(T)",
        cost::SORT_BY,
        "['1h', '1m'].sortBy(d, duration(d)) == ['1m', '1h']",
    ),
    sort_by(
        "list_google.protobuf.Timestamp_sortByAssociatedKeys",
        "list(T).(list(timestamp)) -> list(T)",
        cost::SORT_BY,
        "[2, 1].sortBy(t, timestamp(t)) == [1, 2]",
    ),
    sort_by(
        "list_string_sortByAssociatedKeys",
        "list(T).(list(string)) -> list(T)",
        cost::SORT_TEXTS_BY,
        "[10, 9].sortBy(x, string(x)) == [10, 9]",
    ),
    sort_by(
        "list_bytes_sortByAssociatedKeys",
        "list(T).(list(bytes)) -> list(T)",
        cost::SORT_TEXTS_BY,
        "['b', 'a'].sortBy(s, bytes(s)) == ['a', 'b']",
    ),
    Overload {
        function: "lists.range",
        id: "lists_range",
        signature: "(int) -> list(int)",
        implementation: Implementation::Typed(bodies::range),
        cost: cost::RANGE,
        example: "lists.range(3) == [0, 1, 2]",
    },
    Overload {
        function: "reverse",
        id: "list_reverse",
        signature: "list(T).() -> list(T)",
        implementation: Implementation::Typed(bodies::reverse),
        cost: cost::REVERSE,
        example: "[5, 3, 1].reverse() == [1, 3, 5]",
    },
    Overload {
        function: "distinct",
        id: "list_distinct",
        signature: "list(T).() -> list(T)",
        implementation: Implementation::Typed(bodies::distinct),
        cost: cost::DISTINCT,
        example: "[1, 2, 2, 1].distinct() == [1, 2]",
    },
];

/// The rows that refuse sizes below zero and above a million.
pub const LISTS_WITH_BOUNDED_RANGE: &[Overload] = &[Overload {
    function: "lists.range",
    id: "lists_range",
    signature: "(int) -> list(int)",
    implementation: Implementation::Typed(bodies::bounded_range),
    cost: cost::RANGE,
    example: "lists.range(3) == [0, 1, 2]",
}];

const fn sort(
    id: &'static str,
    signature: &'static str,
    cost: Cost,
    example: &'static str,
) -> Overload {
    Overload {
        function: "sort",
        id,
        signature,
        implementation: Implementation::Shared(sorting::sort),
        cost,
        example,
    }
}

const fn sort_by(
    id: &'static str,
    signature: &'static str,
    cost: Cost,
    example: &'static str,
) -> Overload {
    Overload {
        function: "@sortByAssociatedKeys",
        id,
        signature,
        implementation: Implementation::Shared(sorting::sort_by_keys),
        cost,
        example,
    }
}

#[cfg(test)]
mod tests;
