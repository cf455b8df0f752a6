//! The validation of a schema (apiextensions-apiserver `validation.go`, `validateCustomResourceDefinitionValidation`).

use gavel_apimachinery::field::{Error, Errors, Path};
use gavel_schema::JsonSchema;

use super::Validation;

mod check;
mod context;
mod convertible;
mod cost;
mod defaults;
mod lists;
mod openapi;
mod root;
mod rule_syntax;
mod rules;
mod structural;

pub(crate) use convertible::conversion_error;
pub use cost::{RULE_LIMIT, SCHEMA_LIMIT};
pub(super) use lists::{check_entries, mergeable_item_of_set};
pub(super) use openapi::TYPES;

pub(super) use check::{KeptRules, MAX_SELECTABLE_FIELDS, SchemaCheck};
pub(super) use context::{Context, Step};
pub(super) use cost::TotalCost;
pub(super) use rules::rule_cost;

use openapi::OpenApi;

impl SchemaCheck<'_> {
    /// Appends the errors of a validation's schema; `path` is the path of the validation.
    pub(super) fn run(self, validation: Option<&Validation>, path: &Path<'_>, errors: &mut Errors) {
        let Some(schema) = validation.and_then(|validation| validation.schema.as_deref()) else {
            return;
        };
        let mut found = Errors::default();
        if self.has_status {
            root::check(schema, path, &mut found);
        }
        if schema.nullable {
            let detail = "nullable cannot be true at the root";
            let path = path.child("openAPIV3Schema.nullable");
            found.push(Error::forbidden(&path, detail));
        }
        let schema_path = path.child("openAPIV3Schema");
        let unconvertible = conversion_error(schema).filter(|_| self.require_structural);
        let mut context = None;
        if self.require_structural && unconvertible.is_none() {
            let before = found.len();
            found.extend(structural::check(schema, &schema_path));
            if found.len() == before {
                let require_pruned = self.options.require_pruned_defaults;
                found.extend(defaults::check(
                    schema,
                    &schema_path,
                    require_pruned,
                    self.envs,
                ));
            }
            if found.len() == before {
                context = Some(Context::root(schema, self.envs.server()));
            }
        }
        let mut walk = OpenApi::new(self);
        walk.check(schema, &schema_path, context.as_ref());
        found.extend(walk.schema_errors.into_vec());
        found.extend(walk.rule_errors.into_vec());
        if found.is_empty()
            && let Some(error) = unconvertible
        {
            found.push(Error::invalid(&schema_path, "", error));
        }
        walk.total.check(&schema_path, &mut found);
        errors.extend(found.into_vec());
    }
}

/// Whether a schema is structural.
pub(super) fn is_structural(schema: &JsonSchema) -> bool {
    conversion_error(schema).is_none() && structural::check(schema, &Path::root()).is_empty()
}
