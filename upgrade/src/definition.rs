//! The answers of an API server about a CustomResourceDefinition.

use gavel_crd::definition::{Definition, RuleReport, SCHEMA_LIMIT, written_field};
use gavel_crd::rule::{Age, RuleEnvs};
use gavel_engine::types::TypeTextError;
use gavel_libraries::Server;

use crate::facts::{Facts, Topic};

/// The environments of new and of stored rules.
#[derive(Debug)]
pub(crate) struct Rules {
    server: Server,
    new: RuleEnvs,
    stored: RuleEnvs,
}

impl Rules {
    pub(crate) fn new(server: Server) -> Result<Self, TypeTextError> {
        Ok(Rules {
            server,
            new: RuleEnvs::new(server.compatible())?,
            stored: RuleEnvs::new(server)?,
        })
    }

    /// The result of creating a definition, and of compiling its rules when it is read from storage.
    pub(crate) fn facts(&self, definition: &Definition) -> Facts {
        let mut facts = Facts::default();
        for error in definition.validate(&self.new) {
            facts.add(
                Topic::Creation,
                written_field(&error.field),
                error.to_string(),
            );
        }
        for warning in definition.warnings(None, self.server.compatible()) {
            facts.add(Topic::Warning, "", warning);
        }
        for schema in definition.rules(&self.stored, Age::Stored) {
            for rule in &schema.rules {
                add_rule(&mut facts, rule);
            }
            let field = written_field(&schema.path);
            let about = format!("all rules, of {SCHEMA_LIMIT}");
            facts.add_about(Topic::Estimate, field, about, schema.total_cost.to_string());
        }
        facts
    }
}

fn add_rule(facts: &mut Facts, report: &RuleReport<'_>) {
    let path = written_field(&report.path);
    let (rule, message) = (format!("{path}.rule"), format!("{path}.messageExpression"));
    let outcome = match &report.outcome {
        Ok(outcome) => outcome,
        Err(error) => return facts.add(Topic::Compilation, rule, error),
    };
    match &outcome.compiled.rule {
        Err(error) => facts.add(Topic::Compilation, rule, error.to_string()),
        Ok(_) => facts.add(Topic::Estimate, rule, outcome.cost.to_string()),
    }
    match outcome.compiled.message.as_deref() {
        None => {}
        Some(Err(error)) => facts.add(Topic::Compilation, message, error.to_string()),
        Some(Ok(compiled)) => facts.add(Topic::Estimate, message, compiled.max_cost.to_string()),
    }
}
