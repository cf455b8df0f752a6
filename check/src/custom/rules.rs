//! The rules of definitions (`x-kubernetes-validations`), and their outcomes.

use gavel_crd::definition::{Definition, Version, written_field};
use gavel_crd::rule::{Age, RuleEnvs};
use gavel_engine::error::EvalError;
use gavel_libraries::Server;
use gavel_manifest::Document;

/// A rule of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinedRule {
    /// The path of the rule's expression in the definition.
    pub field: String,
    /// The expression.
    pub text: String,
}

/// The outcomes of a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// How often the rule was true.
    pub holds: usize,
    /// How often the rule was false.
    pub violated: usize,
    /// How often the rule could not be evaluated.
    pub failed: usize,
}

impl Outcomes {
    pub(super) fn add(&mut self, result: Result<bool, &EvalError>) {
        let count = match result {
            Ok(true) => &mut self.holds,
            Ok(false) => &mut self.violated,
            Err(_) => &mut self.failed,
        };
        *count = count.saturating_add(1);
    }
}

/// The path of the schema of a version in a definition: equal schemas of several versions count as the schema of the first of them.
pub(super) fn schema_path(versions: &[Version], version: &Version) -> String {
    let mut schemas = versions.iter().map(|version| &version.schema);
    let first = schemas.position(|schema| *schema == version.schema);
    format!(
        "spec.versions[{}].schema.openAPIV3Schema",
        first.unwrap_or_default()
    )
}

/// The rules of the versions that an API server serves; empty for a definition that cannot be read.
pub fn rules(definition: &Document, server: Server) -> Vec<DefinedRule> {
    let (Ok(definition), Ok(envs)) = (
        Definition::read(definition.value()),
        RuleEnvs::new(server.compatible()),
    ) else {
        return Vec::new();
    };
    let versions = &definition.spec.versions;
    let served = versions.iter().filter(|version| version.served);
    let served: Vec<String> = served
        .map(|version| schema_path(versions, version))
        .collect();
    let schemas = definition.rules(&envs, Age::Stored).into_iter();
    let schemas =
        schemas.filter(|schema| served.contains(&written_field(&schema.path).into_owned()));
    schemas
        .flat_map(|schema| schema.rules)
        .map(|rule| DefinedRule {
            field: format!("{}.rule", written_field(&rule.path)),
            text: rule.rule.rule.clone(),
        })
        .collect()
}
