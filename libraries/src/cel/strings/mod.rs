//! The strings library (cel-go `ext/strings.go`): searching, cutting, replacing and joining texts.
//!
//! Positions and lengths count code points. The library has several versions; each table has the functions that one version adds. `format`
//! is a module of its own ([`super::format`]).

mod cost;
mod edit;
mod search;

use gavel_engine::body;
use gavel_engine::cost::formulas;
use gavel_engine::decl::{Overload, Yield, row};

use crate::cost::TRAVERSAL;

/// The functions of all versions, except `join` and searches from a position.
#[rustfmt::skip] // One row per line.
pub const STRINGS: &[Overload] = &[
    row("charAt", "string_char_at_int", "string.(int) -> string", body!(search::char_at), "'hello'.charAt(4) == 'o'"),
    row("indexOf", "string_index_of_string", "string.(string) -> int", body!(search::index_of), "'hello mellow'.indexOf('ello') == 1").cost(TRAVERSAL),
    row("lastIndexOf", "string_last_index_of_string", "string.(string) -> int", body!(search::last_index_of), "'hello mellow'.lastIndexOf('ello') == 7").cost(TRAVERSAL),
    row("lowerAscii", "string_lower_ascii", "string.() -> string", body!(edit::lower_ascii), "'TacoCÆt'.lowerAscii() == 'tacocÆt'").cost(cost::COPY),
    row("replace", "string_replace_string_string", "string.(string, string) -> string", body!(edit::replace), "'hello hello'.replace('he', 'we') == 'wello wello'").cost(cost::REPLACE),
    row("replace", "string_replace_string_string_int", "string.(string, string, int) -> string", body!(edit::replace_some), "'hello hello'.replace('he', 'we', 1) == 'wello hello'").cost(cost::REPLACE),
    row("split", "string_split_string", "string.(string) -> list(string)", body!(edit::split), "'a-b-c'.split('-') == ['a', 'b', 'c']").yields(Yield::Parts).cost(cost::SPLIT),
    row("split", "string_split_string_int", "string.(string, int) -> list(string)", body!(edit::split_some), "'a-b-c'.split('-', 2) == ['a', 'b-c']").yields(Yield::Parts).cost(cost::SPLIT),
    row("substring", "string_substring_int", "string.(int) -> string", body!(search::substring_from), "'tacocat'.substring(4) == 'cat'").cost(cost::COPY),
    row("substring", "string_substring_int_int", "string.(int, int) -> string", body!(search::substring), "'tacocat'.substring(0, 4) == 'taco'").cost(cost::COPY),
    row("trim", "string_trim", "string.() -> string", body!(str::trim), "'  trim\\n'.trim() == 'trim'").cost(cost::COPY),
    row("upperAscii", "string_upper_ascii", "string.() -> string", body!(edit::upper_ascii), "'TacoCæt'.upperAscii() == 'TACOCæT'").cost(cost::COPY),
];

/// `indexOf` and `lastIndexOf` from a position, as cel-go implements them: past the end, only the empty text is found.
#[rustfmt::skip] // One row per line.
pub const STRINGS_INDEX_FROM: &[Overload] = &[INDEX_OF_FROM, LAST_INDEX_OF_FROM];

/// `indexOf` and `lastIndexOf` from a position, on servers where a position below zero always fails. An empty text is found at the end if
/// the position is past the end.
#[rustfmt::skip] // One row per line.
pub const STRINGS_INDEX_FROM_ZERO: &[Overload] = &[
    INDEX_OF_FROM.body(body!(search::index_of_from_zero)),
    LAST_INDEX_OF_FROM.body(body!(search::last_index_of_from_zero)),
];

/// `indexOf` and `lastIndexOf` from a position, as CEL's specification defines them: a position outside of the text is an error, unless the
/// text to find is empty.
#[rustfmt::skip] // One row per line.
pub const STRINGS_INDEX_FROM_SPECIFIED: &[Overload] = &[
    INDEX_OF_FROM.body(body!(search::index_of_within)),
    LAST_INDEX_OF_FROM.body(body!(search::last_index_of_within)),
];

/// `join` of versions 0 and 1, which differs in the wording of its error.
#[rustfmt::skip] // One row per line.
pub const STRINGS_BEFORE_2: &[Overload] = &[
    JOIN.body(body!(edit::join_all_converted)),
    JOIN_SEPARATED.body(body!(edit::join_converted)),
];

/// The functions that version 1 adds, except `format`.
#[rustfmt::skip] // One row per line.
pub const STRINGS_SINCE_1: &[Overload] = &[row("strings.quote", "strings_quote", "(string) -> string", body!(edit::quote), "strings.quote('a \"b\"') == '\"a \\\\\"b\\\\\"\"'").yields(Yield::Quoted).cost(formulas::QUOTE)];

/// `join` since version 2.
#[rustfmt::skip] // One row per line.
pub const STRINGS_SINCE_2: &[Overload] = &[JOIN, JOIN_SEPARATED];

/// The functions that version 3 adds.
#[rustfmt::skip] // One row per line.
pub const STRINGS_SINCE_3: &[Overload] = &[row("reverse", "string_reverse", "string.() -> string", body!(edit::reverse), "'gums'.reverse() == 'smug'")];

#[rustfmt::skip] // One row per line.
const INDEX_OF_FROM: Overload = row("indexOf", "string_index_of_string_int", "string.(string, int) -> int", body!(search::index_of_from), "'hello mellow'.indexOf('ello', 2) == 7").cost(TRAVERSAL);

#[rustfmt::skip] // One row per line.
const LAST_INDEX_OF_FROM: Overload = row("lastIndexOf", "string_last_index_of_string_int", "string.(string, int) -> int", body!(search::last_index_of_from), "'hello mellow'.lastIndexOf('ello', 6) == 1").cost(TRAVERSAL);

#[rustfmt::skip] // One row per line.
const JOIN: Overload = row("join", "list_join", "list(string).() -> string", body!(edit::join_all), "['hello', 'mellow'].join() == 'hellomellow'").cost(cost::JOIN);

#[rustfmt::skip] // One row per line.
const JOIN_SEPARATED: Overload = row("join", "list_join_string", "list(string).(string) -> string", body!(edit::join), "['hello', 'mellow'].join(' ') == 'hello mellow'").cost(cost::JOIN);

#[cfg(test)]
mod tests;
