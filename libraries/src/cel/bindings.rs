//! Local bindings (cel-go `ext/bindings.go`). `cel.bind` is a macro alone; what `cel.block` expands to is planned.

use gavel_engine::ast::operators;
use gavel_engine::cost::Cost;
use gavel_engine::decl::{Implementation, Overload};

/// The functions.
pub const BINDINGS: &[Overload] = &[Overload {
    function: operators::BLOCK,
    id: "cel_block_list",
    signature: "(list(dyn), T) -> T",
    implementation: Implementation::Planned,
    cost: Cost::ONE,
    example: "cel.block([1, cel.index(0) + 1], cel.index(1)) == 2",
}];
