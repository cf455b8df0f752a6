//! Schemas as a CustomResourceDefinition writes them (apiextensions `v1.JSONSchemaProps`).

use std::collections::BTreeMap;

use gavel_engine::value::Json;

mod map;
mod read;

pub use map::SchemaMap;
pub use read::{MAX_DEPTH, SchemaReadError};

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
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JsonSchema {
    /// `id`
    pub id: String,
    /// `$schema`
    pub schema: String,
    /// `$ref`
    pub reference: Option<String>,
    /// `description`
    pub description: String,
    /// `type`: `object`, `array`, `string`, `boolean`, `integer`, `number`, or nothing.
    pub kind: String,
    /// `format`
    pub format: String,
    /// `title`
    pub title: String,
    /// `default`
    pub default: Option<Json>,
    /// `maximum`
    pub maximum: Option<f64>,
    /// `exclusiveMaximum`
    pub exclusive_maximum: bool,
    /// `minimum`
    pub minimum: Option<f64>,
    /// `exclusiveMinimum`
    pub exclusive_minimum: bool,
    /// `maxLength`, in code points.
    pub max_length: Option<i64>,
    /// `minLength`, in code points.
    pub min_length: Option<i64>,
    /// `pattern`
    pub pattern: String,
    /// `maxItems`
    pub max_items: Option<i64>,
    /// `minItems`
    pub min_items: Option<i64>,
    /// `uniqueItems`
    pub unique_items: bool,
    /// `multipleOf`
    pub multiple_of: Option<f64>,
    /// `enum`
    pub enumeration: Vec<Json>,
    /// `maxProperties`
    pub max_properties: Option<i64>,
    /// `minProperties`
    pub min_properties: Option<i64>,
    /// `required`
    pub required: Vec<String>,
    /// `items`
    pub items: Option<Items>,
    /// `allOf`
    pub all_of: Vec<JsonSchema>,
    /// `oneOf`
    pub one_of: Vec<JsonSchema>,
    /// `anyOf`
    pub any_of: Vec<JsonSchema>,
    /// `not`
    pub not: Option<Box<JsonSchema>>,
    /// `properties`
    pub properties: SchemaMap,
    /// `additionalProperties`
    pub additional_properties: Option<SchemaOrBool>,
    /// `patternProperties`
    pub pattern_properties: SchemaMap,
    /// `dependencies`
    pub dependencies: BTreeMap<String, Dependency>,
    /// `additionalItems`
    pub additional_items: Option<SchemaOrBool>,
    /// `definitions`
    pub definitions: SchemaMap,
    /// `externalDocs`
    pub external_docs: Option<ExternalDocumentation>,
    /// `example`
    pub example: Option<Json>,
    /// `nullable`
    pub nullable: bool,
    /// `x-kubernetes-preserve-unknown-fields`
    pub preserve_unknown_fields: Option<bool>,
    /// `x-kubernetes-embedded-resource`
    pub embedded_resource: bool,
    /// `x-kubernetes-int-or-string`
    pub int_or_string: bool,
    /// `x-kubernetes-list-map-keys`
    pub list_map_keys: Vec<String>,
    /// `x-kubernetes-list-type`: `atomic`, `set` or `map`.
    pub list_type: Option<String>,
    /// `x-kubernetes-map-type`: `granular` or `atomic`.
    pub map_type: Option<String>,
    /// `x-kubernetes-validations`
    pub validations: Vec<ValidationRule>,
}

/// A rule of `x-kubernetes-validations`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ValidationRule {
    /// The expression that must be true.
    pub rule: String,
    /// What a failure says.
    pub message: String,
    /// An expression of what a failure says.
    pub message_expression: String,
    /// `FieldValueInvalid`, `FieldValueForbidden`, `FieldValueRequired` or `FieldValueDuplicate`.
    pub reason: Option<String>,
    /// The field at fault, below the node.
    pub field_path: String,
    /// Whether `oldSelf` is an optional, and the rule runs where there is no old value too.
    pub optional_old_self: Option<bool>,
}

/// `items`: a schema for all elements, or, which no structural schema has, one for each position.
#[derive(Debug, Clone, PartialEq)]
pub enum Items {
    /// For all elements.
    Schema(Box<JsonSchema>),
    /// For each position.
    Positions(Vec<JsonSchema>),
}

/// A schema, or whether anything is allowed.
#[derive(Debug, Clone, PartialEq)]
pub enum SchemaOrBool {
    /// Whether anything is allowed.
    Allows(bool),
    /// What is allowed.
    Schema(Box<JsonSchema>),
}

/// What a property brings with it: other properties, or a schema.
#[derive(Debug, Clone, PartialEq)]
pub enum Dependency {
    /// Names of properties.
    Properties(Vec<String>),
    /// A schema.
    Schema(Box<JsonSchema>),
}

/// `externalDocs`
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExternalDocumentation {
    /// `description`
    pub description: String,
    /// `url`
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

    /// [`JsonSchema::item`], to be changed.
    pub fn item_mut(&mut self) -> Option<&mut JsonSchema> {
        match &mut self.items {
            Some(Items::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// [`JsonSchema::value`], to be changed.
    pub fn value_mut(&mut self) -> Option<&mut JsonSchema> {
        match &mut self.additional_properties {
            Some(SchemaOrBool::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// The default. Null is none.
    pub fn default_value(&self) -> Option<&Json> {
        self.default.as_ref().filter(|default| !default.is_null())
    }

    /// Whether `x-kubernetes-preserve-unknown-fields` is true.
    pub fn preserves_unknown_fields(&self) -> bool {
        self.preserve_unknown_fields == Some(true)
    }
}
