//! Validates the defaults in a schema against the schema and its rules.

use std::ops::ControlFlow;
use std::sync::Arc;

use gavel_apimachinery::field::{Error, Errors, Path};
use gavel_schema::JsonSchema;
use gavel_schema::default::{DefaultOf, validate_defaults};
use gavel_schema::validate::Validator;

use crate::rule::{COST_BUDGET, RuleEnvs, RuleNode};

/// The errors of the defaults in a structural schema. The rules of all defaults together share one cost budget.
pub(super) fn check(
    schema: &JsonSchema,
    path: &Path<'_>,
    require_pruned: bool,
    envs: &RuleEnvs,
) -> Vec<Error> {
    let mut budget = COST_BUDGET;
    let mut check = |default: DefaultOf<'_>, errors: &mut Errors| {
        let validator = Validator::of_default(default.schema, envs.server());
        let faults = validator.validate(default.path, default.value);
        if !faults.is_empty() {
            errors.extend(faults);
            return ControlFlow::Continue(());
        }
        budget = check_rules(default, budget, envs, errors);
        match budget {
            ..0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    validate_defaults(schema, path, require_pruned, envs.server(), &mut check)
}

/// Runs the rules on a default, appends their errors, and returns the remaining budget. The rules run as for an update that does not change
/// the value. If this run finds no errors, they run again as for a new value.
fn check_rules(default: DefaultOf<'_>, budget: i64, envs: &RuleEnvs, errors: &mut Errors) -> i64 {
    let schema = Arc::new(default.schema.clone());
    let Some(rules) = RuleNode::compile(&schema, default.resource, envs) else {
        return budget;
    };
    let DefaultOf { value, path, .. } = default;
    let unchanged = rules.run_on_part(path, value, Some(value), budget);
    let is_clean = unchanged.errors.is_empty();
    let remaining = unchanged.remaining();
    errors.extend(unchanged.errors);
    if !is_clean {
        return remaining;
    }
    let new = rules.run_on_part(path, value, None, budget);
    let remaining = remaining.min(new.remaining());
    errors.extend(new.errors);
    remaining
}
