//! Local bindings (cel-go `ext/bindings.go`). `cel.bind` is a macro alone; what `cel.block` expands to is planned.

use gavel_engine::cost::Cost;
use gavel_engine::decl::{Implementation, Overload};

/// The functions.
pub const BINDINGS: &[Overload] = &[Overload {
    function: "cel.@block",
    id: "cel_block_list",
    signature: "(list(dyn), T) -> T",
    implementation: Implementation::Planned,
    cost: Cost::ONE,
    example: "cel.block([1, cel.index(0) + 1], cel.index(1)) == 2",
}];

/// The names under which a block's result and its later slots read the slots. The checker knows them as variables; more
/// slots than these cannot be read.
pub(crate) fn slots() -> impl Iterator<Item = String> {
    const SLOTS: usize = 64;
    (0..SLOTS).map(|slot| format!("@index{slot}"))
}
