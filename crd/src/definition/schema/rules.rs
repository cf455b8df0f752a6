//! Compiles the rules of a node and compares their costs with the limits.

use gavel_apimachinery::field::{BadValue, Error, ExpressionPlace, Path};
use gavel_apimachinery::server::Difference;

use super::context::Context;
use super::cost::{RULE_LIMIT, excess};
use super::openapi::OpenApi;
use crate::definition::go_json;
use crate::rule::{self, Age, CompiledRule};
use gavel_schema::{JsonSchema, ValidationRule};

impl OpenApi<'_> {
    /// Compiles the rules of a node and appends their errors. The node must have no other errors.
    pub(super) fn check_rules(
        &mut self,
        schema: &JsonSchema,
        uncorrelatable: Option<&Path<'_>>,
        path: &Path<'_>,
        context: &Context<'_>,
    ) {
        let path = path.child("x-kubernetes-validations");
        let node = match context.node_type() {
            Ok(node) => node,
            Err(error) => {
                let mut error = Error::internal(&path, error);
                let server = self.check.envs.server();
                if !server.has(Difference::InternalErrorsHaveValues) {
                    error.bad_value = BadValue::Omitted;
                }
                self.rule_errors.push(error);
                return;
            }
        };
        let options = self.check.options;
        let age = |known: bool| match known {
            true => Age::Stored,
            false => Age::New,
        };
        let ages = |rule: &ValidationRule| {
            let (rule, message) = (rule.rule.as_str(), rule.message_expression.as_str());
            let knows_message = options.known_messages.contains(message);
            (age(options.known_rules.contains(rule)), age(knows_message))
        };
        let compiled = rule::compile_with_trees(schema, node, self.check.envs, ages);
        let cardinality = context.cardinality();
        let cardinality = cardinality.unwrap_or_else(|| rule::max_cardinality(node));
        for (n, (rule, (compiled, _))) in schema.validations.iter().zip(&compiled).enumerate() {
            let path = path.index(n);
            self.check_rule(rule, compiled, cardinality, &path);
            self.check_old_self(rule, compiled, uncorrelatable, &path);
        }
        if let Some(kept) = self.check.kept {
            kept.keep(&path, compiled);
        }
    }

    fn check_rule(
        &mut self,
        rule: &ValidationRule,
        compiled: &CompiledRule,
        cardinality: u64,
        path: &Path<'_>,
    ) {
        let (rule_path, message_path) = (path.child("rule"), path.child("messageExpression"));
        let cost = rule_cost(compiled, cardinality);
        self.check_cost("estimated rule cost", cost, &rule_path);
        let value = || BadValue::Text(go_json::rule(rule));
        if let Err(error) = &compiled.rule {
            let error = Error::invalid(&rule_path, value(), &error.message)
                .in_expression(ExpressionPlace::new(error.position));
            self.rule_errors.push(error);
        }
        match compiled.message.as_deref() {
            Some(Err(error)) => {
                let error = Error::invalid(&message_path, value(), &error.message)
                    .in_expression(ExpressionPlace::new(error.position));
                self.rule_errors.push(error);
            }
            Some(Ok(message)) => {
                let what = "estimated messageExpression cost";
                self.check_cost(what, message.max_cost, &message_path);
            }
            None => {}
        }
    }

    fn check_cost(&mut self, what: &str, cost: u64, path: &Path<'_>) {
        if cost > RULE_LIMIT && !self.check.is_unchanged {
            let error = Error::forbidden(path, excess(what, cost, RULE_LIMIT));
            self.rule_errors.push(error);
        }
        self.total.add(path, cost);
    }

    fn check_old_self(
        &mut self,
        rule: &ValidationRule,
        compiled: &CompiledRule,
        uncorrelatable: Option<&Path<'_>>,
        path: &Path<'_>,
    ) {
        if compiled.uses_old_self {
            if let Some(uncorrelatable) = uncorrelatable {
                let detail = format!(
                    "oldSelf cannot be used on the uncorrelatable portion of the schema within {uncorrelatable}"
                );
                let error = Error::invalid(&path.child("rule"), &rule.rule, detail);
                self.rule_errors.push(error);
            }
        } else if let Some(optional) = rule.optional_old_self {
            let detail = "may not be set if oldSelf is not used in rule";
            let error = Error::invalid(&path.child("optionalOldSelf"), optional, detail);
            self.rule_errors.push(error);
        }
    }
}

/// The maximum total cost of all evaluations of a rule in one object, in cost units; 0 if the rule does not compile.
pub(in crate::definition) fn rule_cost(compiled: &CompiledRule, cardinality: u64) -> u64 {
    match &compiled.rule {
        Ok(Some(rule)) => rule.max_cost.saturating_mul(cardinality),
        _ => 0,
    }
}
