//! The strings library (cel-go `ext/strings.go`): searching, cutting, replacing and joining texts.
//!
//! Positions and lengths count code points. The library has grown in versions; each table holds what one of them adds.
//! `format` is a module of its own ([`super::format`]).

mod cost;
mod edit;
mod search;

use gavel_engine::cost::{Cost, formulas};
use gavel_engine::decl::{Implementation, Overload};

use crate::cost::TRAVERSAL;

/// What all versions have, but for `join` and for searches from a position.
pub const STRINGS: &[Overload] = &[
    Overload {
        function: "charAt",
        id: "string_char_at_int",
        signature: "string.(int) -> string",
        implementation: Implementation::Typed(search::char_at),
        cost: Cost::ONE,
        example: "'hello'.charAt(4) == 'o'",
    },
    Overload {
        function: "indexOf",
        id: "string_index_of_string",
        signature: "string.(string) -> int",
        implementation: Implementation::Typed(search::index_of),
        cost: TRAVERSAL,
        example: "'hello mellow'.indexOf('ello') == 1",
    },
    Overload {
        function: "lastIndexOf",
        id: "string_last_index_of_string",
        signature: "string.(string) -> int",
        implementation: Implementation::Typed(search::last_index_of),
        cost: TRAVERSAL,
        example: "'hello mellow'.lastIndexOf('ello') == 7",
    },
    Overload {
        function: "lowerAscii",
        id: "string_lower_ascii",
        signature: "string.() -> string",
        implementation: Implementation::Typed(edit::lower_ascii),
        cost: cost::COPY,
        example: "'TacoCÆt'.lowerAscii() == 'tacocÆt'",
    },
    Overload {
        function: "replace",
        id: "string_replace_string_string",
        signature: "string.(string, string) -> string",
        implementation: Implementation::Typed(edit::replace),
        cost: cost::REPLACE,
        example: "'hello hello'.replace('he', 'we') == 'wello wello'",
    },
    Overload {
        function: "replace",
        id: "string_replace_string_string_int",
        signature: "string.(string, string, int) -> string",
        implementation: Implementation::Typed(edit::replace_some),
        cost: cost::REPLACE,
        example: "'hello hello'.replace('he', 'we', 1) == 'wello hello'",
    },
    Overload {
        function: "split",
        id: "string_split_string",
        signature: "string.(string) -> list(string)",
        implementation: Implementation::Typed(edit::split),
        cost: cost::SPLIT,
        example: "'a-b-c'.split('-') == ['a', 'b', 'c']",
    },
    Overload {
        function: "split",
        id: "string_split_string_int",
        signature: "string.(string, int) -> list(string)",
        implementation: Implementation::Typed(edit::split_some),
        cost: cost::SPLIT,
        example: "'a-b-c'.split('-', 2) == ['a', 'b-c']",
    },
    Overload {
        function: "substring",
        id: "string_substring_int",
        signature: "string.(int) -> string",
        implementation: Implementation::Typed(search::substring_from),
        cost: cost::COPY,
        example: "'tacocat'.substring(4) == 'cat'",
    },
    Overload {
        function: "substring",
        id: "string_substring_int_int",
        signature: "string.(int, int) -> string",
        implementation: Implementation::Typed(search::substring),
        cost: cost::COPY,
        example: "'tacocat'.substring(0, 4) == 'taco'",
    },
    Overload {
        function: "trim",
        id: "string_trim",
        signature: "string.() -> string",
        implementation: Implementation::Typed(edit::trim),
        cost: cost::COPY,
        example: "'  trim\\n'.trim() == 'trim'",
    },
    Overload {
        function: "upperAscii",
        id: "string_upper_ascii",
        signature: "string.() -> string",
        implementation: Implementation::Typed(edit::upper_ascii),
        cost: cost::COPY,
        example: "'TacoCæt'.upperAscii() == 'TACOCæT'",
    },
];

/// `indexOf` and `lastIndexOf` from a position, as cel-go has them: past the end nothing is found.
pub const STRINGS_INDEX_FROM: &[Overload] = &[INDEX_OF_FROM, LAST_INDEX_OF_FROM];

/// The same as CEL's specification has them: past the end they fail.
pub const STRINGS_INDEX_FROM_SPECIFIED: &[Overload] = &[
    Overload {
        implementation: Implementation::Typed(search::index_of_within),
        ..INDEX_OF_FROM
    },
    Overload {
        implementation: Implementation::Typed(search::last_index_of_within),
        ..LAST_INDEX_OF_FROM
    },
];

/// `join` of versions 0 and 1, which differs in the wording of its error.
pub const STRINGS_BEFORE_2: &[Overload] = &[
    Overload {
        implementation: Implementation::Typed(edit::join_converted),
        ..JOIN
    },
    Overload {
        implementation: Implementation::Typed(edit::join_converted),
        ..JOIN_SEPARATED
    },
];

/// What version 1 adds, but for `format`.
pub const STRINGS_SINCE_1: &[Overload] = &[Overload {
    function: "strings.quote",
    id: "strings_quote",
    signature: "(string) -> string",
    implementation: Implementation::Typed(edit::quote),
    cost: formulas::QUOTE,
    example: "strings.quote('a \"b\"') == '\"a \\\\\"b\\\\\"\"'",
}];

/// `join` since version 2.
pub const STRINGS_SINCE_2: &[Overload] = &[JOIN, JOIN_SEPARATED];

/// What version 3 adds.
pub const STRINGS_SINCE_3: &[Overload] = &[Overload {
    function: "reverse",
    id: "string_reverse",
    signature: "string.() -> string",
    implementation: Implementation::Typed(edit::reverse),
    cost: Cost::ONE,
    example: "'gums'.reverse() == 'smug'",
}];

const INDEX_OF_FROM: Overload = Overload {
    function: "indexOf",
    id: "string_index_of_string_int",
    signature: "string.(string, int) -> int",
    implementation: Implementation::Typed(search::index_of_from),
    cost: TRAVERSAL,
    example: "'hello mellow'.indexOf('ello', 2) == 7",
};

const LAST_INDEX_OF_FROM: Overload = Overload {
    function: "lastIndexOf",
    id: "string_last_index_of_string_int",
    signature: "string.(string, int) -> int",
    implementation: Implementation::Typed(search::last_index_of_from),
    cost: TRAVERSAL,
    example: "'hello mellow'.lastIndexOf('ello', 6) == 1",
};

const JOIN: Overload = Overload {
    function: "join",
    id: "list_join",
    signature: "list(string).() -> string",
    implementation: Implementation::Typed(edit::join),
    cost: cost::JOIN,
    example: "['hello', 'mellow'].join() == 'hellomellow'",
};

const JOIN_SEPARATED: Overload = Overload {
    function: "join",
    id: "list_join_string",
    signature: "list(string).(string) -> string",
    implementation: Implementation::Typed(edit::join),
    cost: cost::JOIN,
    example: "['hello', 'mellow'].join(' ') == 'hello mellow'",
};

#[cfg(test)]
mod tests;
