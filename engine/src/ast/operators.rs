//! The names that the parser gives to operators and to the functions of macro expansions.

use smol_str::{SmolStr, format_smolstr};

/// `a ? b : c`
pub const CONDITIONAL: &str = "_?_:_";
/// `a && b`
pub const LOGICAL_AND: &str = "_&&_";
/// `a || b`
pub const LOGICAL_OR: &str = "_||_";
/// `!a`
pub const LOGICAL_NOT: &str = "!_";
/// `a == b`
pub const EQUALS: &str = "_==_";
/// `a != b`
pub const NOT_EQUALS: &str = "_!=_";
/// `a < b`
pub const LESS: &str = "_<_";
/// `a <= b`
pub const LESS_EQUALS: &str = "_<=_";
/// `a > b`
pub const GREATER: &str = "_>_";
/// `a >= b`
pub const GREATER_EQUALS: &str = "_>=_";
/// `a + b`
pub const ADD: &str = "_+_";
/// `a - b`
pub const SUBTRACT: &str = "_-_";
/// `a * b`
pub const MULTIPLY: &str = "_*_";
/// `a / b`
pub const DIVIDE: &str = "_/_";
/// `a % b`
pub const MODULO: &str = "_%_";
/// `-a`
pub const NEGATE: &str = "-_";
/// `a[b]`
pub const INDEX: &str = "_[_]";
/// `a[?b]`
pub const OPT_INDEX: &str = "_[?_]";
/// `a.?b`
pub const OPT_SELECT: &str = "_?._";
/// `a in b`
pub const IN: &str = "@in";
/// The function that makes a quantifier continue after an error.
pub const NOT_STRICTLY_FALSE: &str = "@not_strictly_false";
/// The function that `cel.block` expands to.
pub const BLOCK: &str = "cel.@block";
/// The function that `transformMap` and similar macros expand to. It adds one entry, or all entries of another map, to a map.
pub const MAP_INSERT: &str = "cel.@mapInsert";
/// The function that `sortBy` expands to.
pub const SORT_BY_KEYS: &str = "@sortByAssociatedKeys";
/// The name of the accumulator in macro expansions.
pub const ACCUMULATOR: &str = "@result";
/// The name of the loop variable in macro expansions that never read it.
pub const UNUSED: &str = "#unused";

/// The name of the variable that refers to slot `number` of a `cel.block`.
pub fn block_slot(number: impl std::fmt::Display) -> SmolStr {
    format_smolstr!("@index{number}")
}
