//! The rules of a schema's nodes (`x-kubernetes-validations`): compiled, and what they may cost.

mod compile;
mod envs;
mod field_path;

pub use compile::{CompiledRule, Expression, compile, max_cardinality};
pub use envs::{Age, NodeType, OLD_SELF, RuleEnvs, SELF};
pub use field_path::{Brackets, FieldPath, FieldPathError};
