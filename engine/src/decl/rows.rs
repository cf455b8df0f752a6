//! Short ways to write the rows of a table.

use super::{Function, Implementation, Overload};
use crate::cost::Cost;

/// A row of any kind.
pub const fn row(
    function: &'static str,
    id: &'static str,
    signature: &'static str,
    implementation: Implementation,
    cost: Cost,
    example: &'static str,
) -> Overload {
    Overload {
        function,
        id,
        signature,
        implementation,
        cost,
        example,
    }
}

/// A row whose overload is found by the types of the arguments.
pub const fn typed(
    function: &'static str,
    id: &'static str,
    signature: &'static str,
    body: Function,
    cost: Cost,
    example: &'static str,
) -> Overload {
    let implementation = Implementation::Typed(body);
    row(function, id, signature, implementation, cost, example)
}

/// A row likewise, of which a call costs one unit.
pub const fn typed_one(
    function: &'static str,
    id: &'static str,
    signature: &'static str,
    body: Function,
    example: &'static str,
) -> Overload {
    typed(function, id, signature, body, Cost::ONE, example)
}

/// A row of a function whose one body judges the arguments of all its overloads.
pub const fn shared(
    function: &'static str,
    id: &'static str,
    signature: &'static str,
    body: Function,
    cost: Cost,
    example: &'static str,
) -> Overload {
    let implementation = Implementation::Shared(body);
    row(function, id, signature, implementation, cost, example)
}

/// A row of an operator that is part of the plan.
pub const fn planned(
    function: &'static str,
    id: &'static str,
    signature: &'static str,
    example: &'static str,
) -> Overload {
    let implementation = Implementation::Planned;
    row(function, id, signature, implementation, Cost::ONE, example)
}
