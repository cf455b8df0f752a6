//! The expressions of policies: their environments, compilation and evaluation (apiserver `pkg/admission/plugin/cel`).

mod compile;
mod composition;
mod declared;
mod environment;
mod evaluate;
mod inputs;
mod runner;
mod variables;

pub use compile::{
    CompileError, CompileErrorKind, Compiler, Expression, TypeFault, variables_read,
};
pub use composition::{Bindings, Composition};
pub(crate) use declared::{JSON_PATCH, OBJECT_PATCH, VARIABLES};
pub use declared::{NAMESPACE, REQUEST, declared_type, provider};
pub(crate) use environment::{
    AUTHORIZER, NAMESPACE_OBJECT, OBJECT, OLD_OBJECT, PARAMS, REQUEST_RESOURCE, REQUEST_VARIABLE,
    VARIABLES_VARIABLE,
};
pub use environment::{Declarations, ObjectTypes, POLICY_VARIABLES};
pub use evaluate::Outcome;
pub(crate) use evaluate::{Group, OUT_OF_BUDGET, OutOfBudget};
pub(crate) use inputs::{Inputs, TypedInputs};
pub(crate) use runner::Runner;
pub use variables::CompiledVariable;
pub(crate) use variables::CompiledVariables;

pub use crate::expression_kind::ExpressionKind;

/// The cost limit of one evaluation of an expression or a variable, in cost units.
pub const PER_CALL_LIMIT: u64 = 1_000_000;
/// The cost budget of a policy's validations and messages together, in cost units. Each combination of a binding and a param has its own
/// budget. The policy's audit annotations have a separate budget of the same size.
pub const COST_BUDGET: i64 = 10_000_000;
/// The cost budget of a policy's match conditions together, in cost units. Each combination of a binding and a param has its own budget.
pub const MATCH_CONDITIONS_BUDGET: i64 = 2_500_000;

#[cfg(test)]
mod tests;
