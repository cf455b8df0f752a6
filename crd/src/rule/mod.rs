//! Compiles, costs and evaluates the rules of schema nodes (`x-kubernetes-validations`).

mod compile;
mod envs;
mod field_path;
mod tree;

pub(crate) use compile::compile_with_trees;
pub use compile::{CompiledRule, Expression, RuleError, RuleTrees, compile, max_cardinality};
pub use envs::{Age, NodeType, OLD_SELF, RuleEnvs, SELF};
pub use field_path::{Brackets, FieldPath, FieldPathError};
pub(crate) use tree::RuleNode;
pub use tree::{COST_BUDGET, PER_CALL_LIMIT, RuleFindings, RuleLimits, RuleObserver, SchemaRules};
