//! The libraries that Kubernetes adds to CEL (apiserver `pkg/cel/library`), and the types of their values.

use gavel_engine::cost::Cost;
use gavel_engine::decl::{Function, Implementation, Overload};

pub mod authorizer;
pub mod cidr;
pub mod equality;
pub mod format;
pub mod ip;
pub mod json_patch;
pub mod lists;
pub mod quantity;
pub mod regex;
pub mod semver;
pub mod urls;
pub mod values;

/// A row whose overload is found by the types of the arguments.
const fn typed(
    function: &'static str,
    id: &'static str,
    signature: &'static str,
    body: Function,
    cost: Cost,
    example: &'static str,
) -> Overload {
    Overload {
        function,
        id,
        signature,
        implementation: Implementation::Typed(body),
        cost,
        example,
    }
}
