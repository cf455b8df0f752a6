//! Local bindings (cel-go `ext/bindings.go`). `cel.bind` is only a macro; `cel.block` expands to a function that the
//! planner handles ([`Form::Block`]).

use gavel_engine::ast::operators;
use gavel_engine::decl::{Form, Overload, planned};

/// The functions of local bindings.
#[rustfmt::skip] // One row per line.
pub const BINDINGS: &[Overload] = &[
    planned(operators::BLOCK, "cel_block_list", "(list(dyn), T) -> T", Form::Block, "cel.block([1, cel.index(0) + 1], cel.index(1)) == 2"),
];

#[cfg(test)]
mod tests {
    use crate::testing::check_expression;

    #[test]
    fn a_part_reads_those_before_it() {
        let check = check_expression;
        check(
            "cel.block([1, cel.index(0) + 1], cel.index(0) + cel.index(1))",
            Ok("3"),
        );
        check("cel.block([], 1)", Ok("1"));
        check(
            "cel.block([cel.index(0)], cel.index(0))",
            Err("no such attribute(s): @index0"),
        );
        check(
            "cel.block([cel.index(1), 1], cel.index(0))",
            Err("no such attribute(s): @index1"),
        );
        check(
            "[1, 2].map(x, cel.block([x * 2], cel.index(0) + x))",
            Ok("[3, 6]"),
        );
        check(
            "cel.block([1], cel.block([cel.index(0) + 1], cel.index(0)) + cel.index(0))",
            Ok("3"),
        );
    }

    #[test]
    fn a_part_fails_where_it_is_read() {
        check_expression("cel.block([1 / 0], true || cel.index(0) > 0)", Ok("true"));
        check_expression("cel.block([1 / 0, 2], cel.index(1))", Ok("2"));
        check_expression("cel.block([1 / 0], cel.index(0))", Err("division by zero"));
    }
}
