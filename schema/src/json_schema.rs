//! Schemas as a CustomResourceDefinition writes them (apiextensions `v1.JSONSchemaProps`).

use std::collections::BTreeMap;

use gavel_engine::value::Json;
use serde::{Deserialize, Deserializer};

/// A schema: a node of an OpenAPI v3 schema with Kubernetes' extensions. Absent keys, and null ones, are empty.
///
/// ```
/// use gavel_schema::JsonSchema;
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let schema: JsonSchema = serde_json::from_str(r#"{"type": "array", "items": {"type": "string"}, "maxItems": 3}"#)?;
/// assert_eq!(schema.kind, "array");
/// assert_eq!(schema.max_items, Some(3));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct JsonSchema {
    /// `id`
    #[serde(deserialize_with = "or_default")]
    pub id: String,
    /// `$schema`
    #[serde(rename = "$schema", deserialize_with = "or_default")]
    pub schema: String,
    /// `$ref`
    #[serde(rename = "$ref")]
    pub reference: Option<String>,
    /// `description`
    #[serde(deserialize_with = "or_default")]
    pub description: String,
    /// `type`: `object`, `array`, `string`, `boolean`, `integer`, `number`, or nothing.
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub kind: String,
    /// `format`
    #[serde(deserialize_with = "or_default")]
    pub format: String,
    /// `title`
    #[serde(deserialize_with = "or_default")]
    pub title: String,
    /// `default`
    pub default: Option<Json>,
    /// `maximum`
    pub maximum: Option<f64>,
    /// `exclusiveMaximum`
    #[serde(deserialize_with = "or_default")]
    pub exclusive_maximum: bool,
    /// `minimum`
    pub minimum: Option<f64>,
    /// `exclusiveMinimum`
    #[serde(deserialize_with = "or_default")]
    pub exclusive_minimum: bool,
    /// `maxLength`, in code points.
    pub max_length: Option<i64>,
    /// `minLength`, in code points.
    pub min_length: Option<i64>,
    /// `pattern`
    #[serde(deserialize_with = "or_default")]
    pub pattern: String,
    /// `maxItems`
    pub max_items: Option<i64>,
    /// `minItems`
    pub min_items: Option<i64>,
    /// `uniqueItems`
    #[serde(deserialize_with = "or_default")]
    pub unique_items: bool,
    /// `multipleOf`
    pub multiple_of: Option<f64>,
    /// `enum`
    #[serde(rename = "enum", deserialize_with = "or_default")]
    pub enumeration: Vec<Json>,
    /// `maxProperties`
    pub max_properties: Option<i64>,
    /// `minProperties`
    pub min_properties: Option<i64>,
    /// `required`
    #[serde(deserialize_with = "or_default")]
    pub required: Vec<String>,
    /// `items`
    pub items: Option<Items>,
    /// `allOf`
    #[serde(deserialize_with = "or_default")]
    pub all_of: Vec<JsonSchema>,
    /// `oneOf`
    #[serde(deserialize_with = "or_default")]
    pub one_of: Vec<JsonSchema>,
    /// `anyOf`
    #[serde(deserialize_with = "or_default")]
    pub any_of: Vec<JsonSchema>,
    /// `not`
    pub not: Option<Box<JsonSchema>>,
    /// `properties`
    #[serde(deserialize_with = "or_default")]
    pub properties: BTreeMap<String, JsonSchema>,
    /// `additionalProperties`
    pub additional_properties: Option<SchemaOrBool>,
    /// `patternProperties`
    #[serde(deserialize_with = "or_default")]
    pub pattern_properties: BTreeMap<String, JsonSchema>,
    /// `dependencies`
    #[serde(deserialize_with = "or_default")]
    pub dependencies: BTreeMap<String, Dependency>,
    /// `additionalItems`
    pub additional_items: Option<SchemaOrBool>,
    /// `definitions`
    #[serde(deserialize_with = "or_default")]
    pub definitions: BTreeMap<String, JsonSchema>,
    /// `externalDocs`
    pub external_docs: Option<ExternalDocumentation>,
    /// `example`
    pub example: Option<Json>,
    /// `nullable`
    #[serde(deserialize_with = "or_default")]
    pub nullable: bool,
    /// `x-kubernetes-preserve-unknown-fields`
    #[serde(rename = "x-kubernetes-preserve-unknown-fields")]
    pub preserve_unknown_fields: Option<bool>,
    /// `x-kubernetes-embedded-resource`
    #[serde(
        rename = "x-kubernetes-embedded-resource",
        deserialize_with = "or_default"
    )]
    pub embedded_resource: bool,
    /// `x-kubernetes-int-or-string`
    #[serde(rename = "x-kubernetes-int-or-string", deserialize_with = "or_default")]
    pub int_or_string: bool,
    /// `x-kubernetes-list-map-keys`
    #[serde(rename = "x-kubernetes-list-map-keys", deserialize_with = "or_default")]
    pub list_map_keys: Vec<String>,
    /// `x-kubernetes-list-type`: `atomic`, `set` or `map`.
    #[serde(rename = "x-kubernetes-list-type")]
    pub list_type: Option<String>,
    /// `x-kubernetes-map-type`: `granular` or `atomic`.
    #[serde(rename = "x-kubernetes-map-type")]
    pub map_type: Option<String>,
    /// `x-kubernetes-validations`
    #[serde(rename = "x-kubernetes-validations", deserialize_with = "or_default")]
    pub validations: Vec<ValidationRule>,
}

/// A rule of `x-kubernetes-validations`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ValidationRule {
    /// The expression that must be true.
    #[serde(deserialize_with = "or_default")]
    pub rule: String,
    /// What a failure says.
    #[serde(deserialize_with = "or_default")]
    pub message: String,
    /// An expression of what a failure says.
    #[serde(deserialize_with = "or_default")]
    pub message_expression: String,
    /// `FieldValueInvalid`, `FieldValueForbidden`, `FieldValueRequired` or `FieldValueDuplicate`.
    pub reason: Option<String>,
    /// The field at fault, below the node.
    #[serde(deserialize_with = "or_default")]
    pub field_path: String,
    /// Whether `oldSelf` is an optional, and the rule runs where there is no old value too.
    pub optional_old_self: Option<bool>,
}

/// `items`: a schema for all elements, or, which no structural schema has, one for each position.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Items {
    /// For all elements.
    Schema(Box<JsonSchema>),
    /// For each position.
    Positions(Vec<JsonSchema>),
}

/// A schema, or whether anything is allowed.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum SchemaOrBool {
    /// Whether anything is allowed.
    Allows(bool),
    /// What is allowed.
    Schema(Box<JsonSchema>),
}

/// What a property brings with it: other properties, or a schema.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Dependency {
    /// Names of properties.
    Properties(Vec<String>),
    /// A schema.
    Schema(Box<JsonSchema>),
}

/// `externalDocs`
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ExternalDocumentation {
    /// `description`
    #[serde(deserialize_with = "or_default")]
    pub description: String,
    /// `url`
    #[serde(deserialize_with = "or_default")]
    pub url: String,
}

impl JsonSchema {
    /// The schema of all elements of a list.
    pub fn item(&self) -> Option<&JsonSchema> {
        match &self.items {
            Some(Items::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// The schema of all values of a map.
    pub fn value(&self) -> Option<&JsonSchema> {
        match &self.additional_properties {
            Some(SchemaOrBool::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// Whether `x-kubernetes-preserve-unknown-fields` is true.
    pub fn preserves_unknown_fields(&self) -> bool {
        self.preserve_unknown_fields == Some(true)
    }
}

/// Go reads null as nothing.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
