//! The names that the parser gives to operators and to the functions of macro expansions.

use smol_str::{SmolStr, format_smolstr};

/// Declares the names, each as a constant, and lists all of them.
macro_rules! given {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $text;)*

        /// All of these names. A tree refers to them by their positions in this list.
        pub(crate) const GIVEN: &[&str] = &[$($text),*];
    };
}

given! {
    /// `a ? b : c`
    CONDITIONAL = "_?_:_";
    /// `a && b`
    LOGICAL_AND = "_&&_";
    /// `a || b`
    LOGICAL_OR = "_||_";
    /// `!a`
    LOGICAL_NOT = "!_";
    /// `a == b`
    EQUALS = "_==_";
    /// `a != b`
    NOT_EQUALS = "_!=_";
    /// `a < b`
    LESS = "_<_";
    /// `a <= b`
    LESS_EQUALS = "_<=_";
    /// `a > b`
    GREATER = "_>_";
    /// `a >= b`
    GREATER_EQUALS = "_>=_";
    /// `a + b`
    ADD = "_+_";
    /// `a - b`
    SUBTRACT = "_-_";
    /// `a * b`
    MULTIPLY = "_*_";
    /// `a / b`
    DIVIDE = "_/_";
    /// `a % b`
    MODULO = "_%_";
    /// `-a`
    NEGATE = "-_";
    /// `a[b]`
    INDEX = "_[_]";
    /// `a[?b]`
    OPT_INDEX = "_[?_]";
    /// `a.?b`
    OPT_SELECT = "_?._";
    /// `a in b`
    IN = "@in";
    /// The function that makes a quantifier continue after an error.
    NOT_STRICTLY_FALSE = "@not_strictly_false";
    /// The function that `cel.block` expands to.
    BLOCK = "cel.@block";
    /// The function that `transformMap` and similar macros expand to. It adds one entry, or all entries of another map, to a map.
    MAP_INSERT = "cel.@mapInsert";
    /// The function that `sortBy` expands to.
    SORT_BY_KEYS = "@sortByAssociatedKeys";
    /// The name of the accumulator in macro expansions.
    ACCUMULATOR = "@result";
    /// The name of the loop variable in macro expansions that never read it.
    UNUSED = "#unused";
}

/// The name of the variable that refers to slot `number` of a `cel.block`.
pub fn block_slot(number: impl std::fmt::Display) -> SmolStr {
    format_smolstr!("@index{number}")
}
