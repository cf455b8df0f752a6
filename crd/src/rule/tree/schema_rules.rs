//! The rules of a schema without a definition, for hosts that do the rest of the validation themselves.

use std::sync::Arc;

use gavel_apimachinery::field::{Error, Path};
use gavel_apimachinery::server::Server;
use gavel_engine::types::TypeTextError;
use gavel_engine::value::Json;
use gavel_schema::JsonSchema;
use gavel_schema::correlate::Correlation;

use super::evaluate::Subject;
use super::limits::RuleLimits;
use super::node::RuleNode;
use super::ratchet::Ratchet;
use super::run;
use crate::rule::RuleEnvs;

/// The compiled rules of a structural schema and all schemas within it (`Validator` of apiextensions-apiserver
/// `pkg/apiserver/schema/cel`).
///
/// ```
/// use gavel_crd::rule::{RuleLimits, SchemaRules};
/// use gavel_schema::JsonSchema;
/// use serde_json::json;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema = JsonSchema::read(&json!({
///     "type": "object",
///     "properties": {"replicas": {"type": "integer"}},
///     "x-kubernetes-validations": [{"rule": "self.replicas <= 5", "message": "too many"}],
/// }))?;
/// let rules = SchemaRules::compile(schema, false, "1.36".parse()?)?;
/// let found = rules.validate("spec", &json!({"replicas": 7}), None, false, &RuleLimits::default());
/// assert_eq!(found.errors[0].to_string(), "spec: Invalid value: too many");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SchemaRules {
    schema: Arc<JsonSchema>,
    /// The root of the tree of rules; `None` if there are no rules.
    node: Option<Arc<RuleNode>>,
}

/// The results of a schema's rules.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "the value may be invalid"]
pub struct RuleFindings {
    /// The errors.
    pub errors: Vec<Error>,
    /// The errors that existed before the update, which clients get as warnings.
    pub warnings: Vec<String>,
    /// The errors of messageExpressions that failed; at most 100. The API server logs them and uses the rule's `message` instead.
    pub notes: Vec<String>,
    /// The remaining budget, in cost units; negative if the evaluation of the rules was stopped, for example because they exceeded the
    /// budget.
    pub remaining_budget: i64,
}

impl SchemaRules {
    /// Compiles the rules as stored rules, which may use the functions of every version. `is_resource` marks the schema of an object with
    /// its own metadata.
    ///
    /// # Errors
    ///
    /// A table of functions is malformed.
    pub fn compile(
        schema: JsonSchema,
        is_resource: bool,
        server: Server,
    ) -> Result<Self, TypeTextError> {
        let envs = RuleEnvs::new(server)?;
        let schema = Arc::new(schema);
        Ok(SchemaRules {
            node: RuleNode::compile(&schema, is_resource, &envs),
            schema,
        })
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.node.is_none()
    }

    /// Runs the rules on `value`; `path` is its field path in messages. `old` is the value before an update. With `ratcheting`, violations
    /// by an unchanged value become warnings, unless the rule reads `oldSelf`.
    pub fn validate(
        &self,
        path: &str,
        value: &Json,
        old: Option<&Json>,
        ratcheting: bool,
        limits: &RuleLimits<'_>,
    ) -> RuleFindings {
        let Some(node) = &self.node else {
            return RuleFindings {
                errors: Vec::new(),
                warnings: Vec::new(),
                notes: Vec::new(),
                remaining_budget: limits.budget,
            };
        };
        let correlation = old
            .filter(|_| ratcheting)
            .map(|old| Correlation::new(value, old, &self.schema));
        let was = correlation.as_ref().map(Correlation::root);
        let path = match path {
            "" => Path::root(),
            path => Path::new(path),
        };
        let subject = Subject {
            path: &path,
            node,
            value,
            old: old.filter(|old| !old.is_null()),
            ratchet: was.map(Ratchet::new).unwrap_or_default(),
        };
        let report = run(&subject, limits, None);
        RuleFindings {
            remaining_budget: report.remaining(),
            errors: report.errors,
            warnings: report.warnings,
            notes: report.notes,
        }
    }
}
