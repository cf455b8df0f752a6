//! `op=crd`: validates a CustomResourceDefinition as the API server does.

use gavel_crd::definition::{Definition, RuleOutcome, RuleReport, SCHEMA_LIMIT, SchemaReport};
use gavel_crd::rule::{Age, RuleEnvs};
use gavel_engine::value::Json;
use gavel_libraries::Server;
use serde::Serialize;

use crate::field_error::FieldError;
use crate::request::{Fields, RequestError};

/// A `crd` request.
#[derive(Debug)]
pub(crate) struct DefinitionRequest {
    /// The definition, as the request contains it.
    pub(crate) definition: Json,
    old: Option<Json>,
    /// The API server.
    server: Server,
    /// Whether the rules in the answer are compiled as new or as stored rules.
    age: Age,
}

/// The answer to a `crd` request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DefinitionAnswer {
    /// The request's `id`.
    id: Json,
    ok: bool,
    errors: Vec<FieldError>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    rules: Vec<Rule>,
    totals: Vec<Total>,
    compatibility_version: String,
}

/// A rule with its outcome.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    version: String,
    path: String,
    rule: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_expression: Option<String>,
    #[serde(flatten)]
    outcome: RuleAnswer,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum RuleAnswer {
    #[serde(rename_all = "camelCase")]
    NotCompiled { not_compiled: String },
    #[serde(rename_all = "camelCase")]
    Tried {
        #[serde(flatten)]
        rule: RuleExpression,
        max_cardinality: Option<u64>,
        #[serde(flatten)]
        message: Option<Message>,
        #[serde(skip_serializing_if = "Option::is_none")]
        normalized_field_path: Option<String>,
    },
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum RuleExpression {
    #[serde(rename_all = "camelCase")]
    Failed { compile_error: String },
    #[serde(rename_all = "camelCase")]
    Compiled {
        estimate: Estimate,
        expression_cost: u64,
        uses_old_self: bool,
        compiled_max_cardinality: u64,
    },
}

#[derive(Debug, Serialize)]
struct Estimate {
    max: u64,
}

#[derive(Debug, Serialize)]
enum Message {
    #[serde(rename = "messageExpressionMaxCost")]
    MaxCost(u64),
    #[serde(rename = "messageExpressionError")]
    Error(String),
}

/// The cost of a schema's rules.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Total {
    version: String,
    path: String,
    total_cost: u64,
    limit: u64,
}

impl DefinitionRequest {
    /// Reads the keys of a `crd` request.
    pub(crate) fn read(mut fields: Fields) -> Result<Self, RequestError> {
        let definition = fields.take("crd");
        let ages = [("new", Age::New), ("stored", Age::Stored)];
        Ok(DefinitionRequest {
            definition: definition.ok_or_else(|| RequestError("crd must be set".to_owned()))?,
            old: fields.take("oldCrd"),
            server: fields.compatible_server()?,
            age: fields.choice("mode", &ages)?.unwrap_or(Age::New),
        })
    }

    /// Validates the definition.
    pub(crate) fn answer(&self, id: &Json) -> Result<DefinitionAnswer, RequestError> {
        let envs = RuleEnvs::new(self.server);
        let envs = envs.map_err(|error| RequestError(error.to_string()))?;
        let read = |json: &Json, key: &str| {
            Definition::read(json).map_err(|error| RequestError(error.to_string()).within(key))
        };
        let mut definition = read(&self.definition, "crd")?;
        let old = self.old.as_ref().map(|old| read(old, "oldCrd"));
        let mut old = old.transpose()?.map(Definition::without_status);
        let errors = match &mut old {
            Some(old) => {
                set_resource_version(old, "1");
                let version = old.metadata.get("resourceVersion");
                let version = version.and_then(Json::as_str).unwrap_or_default();
                set_resource_version(&mut definition, version);
                definition.validate_update(old, &envs)
            }
            None => definition.validate(&envs),
        };
        let reports = definition.rules(&envs, self.age);
        let totals = reports.iter().map(Total::of).collect();
        Ok(DefinitionAnswer {
            id: id.clone(),
            ok: errors.is_empty(),
            errors: FieldError::sorted(&errors),
            warnings: definition.warnings(old.as_ref(), self.server),
            rules: reports.iter().flat_map(Rule::of_schema).collect(),
            totals,
            compatibility_version: self.server.language().to_string(),
        })
    }
}

/// Sets the resource version of a definition that has none.
fn set_resource_version(definition: &mut Definition, version: &str) {
    if let Json::Object(metadata) = &mut definition.metadata {
        let known = metadata.entry("resourceVersion").or_insert(Json::Null);
        if matches!(known, Json::Null) || known == "" {
            *known = version.into();
        }
    }
}

/// The version that a schema belongs to; `*` if it belongs to all versions.
fn version_of(schema: &SchemaReport<'_>) -> String {
    schema.version.unwrap_or("*").to_owned()
}

impl Total {
    /// The cost of the rules of a schema.
    pub fn of(schema: &SchemaReport<'_>) -> Self {
        Total {
            version: version_of(schema),
            path: schema.path.clone(),
            total_cost: schema.total_cost,
            limit: SCHEMA_LIMIT,
        }
    }
}

impl Rule {
    /// The rules of a schema, each with its outcome.
    pub fn of_schema(schema: &SchemaReport<'_>) -> Vec<Rule> {
        let version = version_of(schema);
        let rules = schema.rules.iter();
        rules
            .map(
                |RuleReport {
                     path,
                     rule,
                     outcome,
                     ..
                 }| Rule {
                    version: version.clone(),
                    path: path.clone(),
                    rule: rule.rule.clone(),
                    message_expression: Some(rule.message_expression.clone())
                        .filter(|expression| !expression.is_empty()),
                    outcome: match outcome {
                        Ok(outcome) => RuleAnswer::of(outcome),
                        Err(error) => RuleAnswer::NotCompiled {
                            not_compiled: error.clone(),
                        },
                    },
                },
            )
            .collect()
    }
}

impl RuleAnswer {
    fn of(outcome: &RuleOutcome) -> Self {
        let compiled = &outcome.compiled;
        // A blank rule costs nothing, however often it runs.
        let (max, request) = match &compiled.rule {
            Ok(Some(rule)) => (rule.max_cost, outcome.cardinality_of_request),
            _ => (0, 0),
        };
        let message = compiled.message.as_deref().map(|message| match message {
            Ok(message) => Message::MaxCost(message.max_cost),
            Err(error) => Message::Error(error.to_string()),
        });
        RuleAnswer::Tried {
            rule: match &compiled.rule {
                Err(error) => RuleExpression::Failed {
                    compile_error: error.to_string(),
                },
                Ok(_) => RuleExpression::Compiled {
                    estimate: Estimate { max },
                    expression_cost: outcome.cost,
                    uses_old_self: compiled.uses_old_self,
                    compiled_max_cardinality: request,
                },
            },
            max_cardinality: outcome.cardinality,
            message,
            normalized_field_path: compiled.field_path.as_ref().map(ToString::to_string),
        }
    }
}
