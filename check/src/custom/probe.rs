//! Probes: the outcomes of the conditions within the rules of a definition, for one object.
//!
//! A probe is a copy of the definition. Two rules replace each condition within a rule: one is true if the condition was true, the other if it
//! was false. Therefore the conditions are evaluated for the same values as the rule.

use std::collections::BTreeMap;

use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_manifest::Document;
use gavel_policy::api::FieldValidation;
use serde_json::json;

use super::definitions::KnownDefinitions;
use super::rules::Outcomes;
use crate::conditions::Condition;

/// A definition that evaluates the conditions within its rules.
#[derive(Debug, Default)]
pub(crate) struct RuleProbe {
    /// The copy of the definition.
    pub(crate) definitions: KnownDefinitions,
    /// The conditions, each with the paths of the two rules that replace it.
    conditions: Vec<(Condition, [String; 2])>,
}

impl RuleProbe {
    /// Builds the probe of a definition.
    ///
    /// # Errors
    ///
    /// The definition cannot be compiled.
    pub(crate) fn new(definition: &Document, server: Server) -> Result<Self, String> {
        let mut probe = RuleProbe::default();
        let mut copy = definition.value().clone();
        let versions = copy.pointer_mut("/spec/versions");
        let versions = versions.and_then(Json::as_array_mut);
        for (n, version) in versions.into_iter().flatten().enumerate() {
            if let Some(schema) = version.pointer_mut("/schema/openAPIV3Schema") {
                let path = format!("spec.versions[{n}].schema.openAPIV3Schema");
                probe.replace_rules(schema, &path);
            }
        }
        let definitions = &mut probe.definitions;
        definitions.add(&Document::from(copy), server, FieldValidation::Ignore)?;
        Ok(probe)
    }

    /// Replaces the rules of a schema. The recursion is as deep as the schema; readers of manifests limit this depth.
    fn replace_rules(&mut self, schema: &mut Json, path: &str) {
        let Json::Object(schema) = schema else {
            return;
        };
        for (key, below) in schema.iter_mut() {
            match (key.as_str(), below) {
                ("properties", Json::Object(properties)) => {
                    for (name, property) in properties {
                        self.replace_rules(property, &format!("{path}.properties[{name}]"));
                    }
                }
                ("items" | "additionalProperties", below) => {
                    self.replace_rules(below, &format!("{path}.{key}"));
                }
                ("x-kubernetes-validations", Json::Array(rules)) => {
                    self.replace(rules, &format!("{path}.x-kubernetes-validations"));
                }
                _ => {}
            }
        }
    }

    fn replace(&mut self, rules: &mut Vec<Json>, path: &str) {
        for (n, rule) in std::mem::take(rules).iter().enumerate() {
            let Some(text) = rule.get("rule").and_then(Json::as_str) else {
                continue;
            };
            // A transition rule is evaluated only if there is an old value, and so must be its conditions.
            let begin = match text.contains("oldSelf") {
                true => "[oldSelf].size() == 1 && ",
                false => "",
            };
            for (condition, outcomes) in Condition::within(&format!("{path}[{n}].rule"), text) {
                let probes = outcomes.map(|outcome| {
                    let field = format!("{path}[{}].rule", rules.len());
                    let optional = rule.get("optionalOldSelf").unwrap_or(&Json::Null);
                    rules.push(json!({
                        "rule": format!("{begin}({outcome})"), "message": "a probe", "optionalOldSelf": optional,
                    }));
                    field
                });
                self.conditions.push((condition, probes));
            }
        }
    }

    /// The conditions, with the outcomes that were recorded when an object was validated by the probe.
    pub(crate) fn conditions(self, recorded: &BTreeMap<String, Outcomes>) -> Vec<Condition> {
        let was = |probe: String| recorded.get(&probe).is_some_and(|found| found.holds > 0);
        let conditions = self.conditions.into_iter().map(|(condition, probes)| {
            let [was_true, was_false] = probes.map(was);
            Condition {
                was_true,
                was_false,
                ..condition
            }
        });
        conditions.collect()
    }
}
