//! The results of compiling the expressions of policies and webhooks, as an API server compiles them when it reads them from storage.

use gavel_engine::env::Env;
use gavel_engine::estimate::{NoSizes, bound};
use gavel_policy::api::{MatchCondition, Mutation, Resource, Variable};
use gavel_policy::cel::{Compiler, Declarations, ExpressionKind};

use crate::facts::{Facts, Topic};

/// The variables that most expressions of a policy without params can read.
const ALL: Declarations = Declarations {
    params: false,
    authorizer: true,
    patch_types: false,
};

/// Adds the results of an object's expressions: their compile errors, and upper bounds of their costs for objects of any size. If
/// `has_estimates` is true, the facts already have tighter bounds, and no bounds are added.
pub(crate) fn add(facts: &mut Facts, resource: &Resource, stored: &Env, has_estimates: bool) {
    let mut added = Added {
        facts,
        compiler: Compiler::new(stored),
        has_estimates,
    };
    match resource {
        Resource::ValidatingAdmissionPolicy(policy) => {
            let spec = &policy.spec;
            let all = Declarations {
                params: spec.param_kind.is_some(),
                ..ALL
            };
            added.variables(&spec.variables, all, stored);
            added.conditions("spec", &spec.match_conditions, all);
            for (n, validation) in spec.validations.iter().enumerate() {
                let field = format!("spec.validations[{n}]");
                let text = &validation.expression;
                let kind = ExpressionKind::Validation;
                added.expression(kind, format!("{field}.expression"), text, all);
                let text = &validation.message_expression;
                if !text.is_empty() {
                    let field = format!("{field}.messageExpression");
                    let declared = Declarations {
                        authorizer: false,
                        ..all
                    };
                    added.expression(ExpressionKind::Message, field, text, declared);
                }
            }
            for (n, annotation) in spec.audit_annotations.iter().enumerate() {
                let field = format!("spec.auditAnnotations[{n}].valueExpression");
                let text = &annotation.value_expression;
                added.expression(ExpressionKind::AuditAnnotation, field, text, all);
            }
        }
        Resource::MutatingAdmissionPolicy(policy) => {
            let spec = &policy.spec;
            let all = Declarations {
                params: spec.param_kind.is_some(),
                ..ALL
            };
            added.variables(&spec.variables, all, stored);
            added.conditions("spec", &spec.match_conditions, all);
            for (n, mutation) in spec.mutations.iter().enumerate() {
                added.mutation(&format!("spec.mutations[{n}]"), mutation, all);
            }
        }
        Resource::ValidatingWebhookConfiguration(configuration) => {
            for (n, webhook) in configuration.webhooks.iter().enumerate() {
                added.conditions(
                    &format!("webhooks[{n}]"),
                    webhook.match_conditions.as_deref().unwrap_or_default(),
                    ALL,
                );
            }
        }
        Resource::MutatingWebhookConfiguration(configuration) => {
            for (n, webhook) in configuration.webhooks.iter().enumerate() {
                added.conditions(
                    &format!("webhooks[{n}]"),
                    webhook.match_conditions.as_deref().unwrap_or_default(),
                    ALL,
                );
            }
        }
        Resource::ValidatingAdmissionPolicyBinding(_)
        | Resource::MutatingAdmissionPolicyBinding(_) => {}
    }
}

struct Added<'f> {
    facts: &'f mut Facts,
    compiler: Compiler,
    has_estimates: bool,
}

impl Added<'_> {
    fn variables(&mut self, variables: &[Variable], declared: Declarations, stored: &Env) {
        self.compiler = Compiler::with_variables(stored);
        for (n, Variable { name, expression }) in variables.iter().enumerate() {
            let field = format!("spec.variables[{n}].expression");
            self.expression(ExpressionKind::Variable, field, expression, declared);
            self.compiler.compile_variable(name, expression, declared);
        }
    }

    fn conditions(&mut self, of: &str, conditions: &[MatchCondition], declared: Declarations) {
        for (n, condition) in conditions.iter().enumerate() {
            let field = format!("{of}.matchConditions[{n}].expression");
            let kind = ExpressionKind::MatchCondition;
            self.expression(kind, field, &condition.expression, declared);
        }
    }

    fn mutation(&mut self, field: &str, mutation: &Mutation, declared: Declarations) {
        let declared = Declarations {
            patch_types: true,
            ..declared
        };
        if let Some(configuration) = &mutation.apply_configuration {
            let field = format!("{field}.applyConfiguration.expression");
            let kind = ExpressionKind::ApplyConfiguration;
            self.expression(kind, field, &configuration.expression, declared);
        }
        if let Some(patch) = &mutation.json_patch {
            let field = format!("{field}.jsonPatch.expression");
            self.expression(
                ExpressionKind::JsonPatch,
                field,
                &patch.expression,
                declared,
            );
        }
    }

    fn expression(
        &mut self,
        kind: ExpressionKind,
        field: String,
        text: &str,
        declared: Declarations,
    ) {
        let expression = self.compiler.compile(kind, text, declared);
        if let Err(error) = expression.program() {
            self.facts
                .add(Topic::Compilation, field, error.message.clone());
            return;
        }
        if self.has_estimates {
            return;
        }
        if let Ok(checked) = self.compiler.check(text, declared) {
            let cost = bound(&checked, &NoSizes).cost;
            let cost = cost.map_or("unbounded".to_owned(), |cost| cost.max.to_string());
            self.facts.add(Topic::Estimate, field, cost);
        }
    }
}
