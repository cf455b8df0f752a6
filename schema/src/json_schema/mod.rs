//! Schemas in the form of CustomResourceDefinitions (apiextensions `v1.JSONSchemaProps`).

use std::collections::HashSet;
use std::sync::Arc;

use gavel_engine::value::Json;
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

mod list;
mod map;
mod pool;
mod rare;
mod read;

pub use list::OptionalList;
pub use map::SchemaMap;
pub use pool::Pool;
pub use rare::Rare;
pub use read::{MAX_DEPTH, SchemaReadError, SchemaReader};

/// A schema: a node of an OpenAPI v3 schema with Kubernetes' extensions. Keys that are absent or null have empty values.
///
/// A definition has thousands of schemas, and many are equal. To save memory, keys that few schemas have are stored in [`Rare`] fields, and
/// schemas within schemas are shared.
///
/// ```
/// use gavel_schema::JsonSchema;
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let schema: JsonSchema = serde_json::from_str(r#"{"type": "array", "items": {"type": "string"}, "maxItems": 3}"#)?;
/// assert_eq!(schema.kind, "array");
/// assert_eq!(schema.bounds.max_items, Some(3));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JsonSchema {
    /// `type`: `object`, `array`, `string`, `boolean`, `integer` or `number`; can be empty.
    pub kind: SmolStr,
    /// `format`
    pub format: SmolStr,
    /// `nullable`
    pub nullable: bool,
    /// `x-kubernetes-preserve-unknown-fields`
    pub preserve_unknown_fields: Option<bool>,
    /// `x-kubernetes-embedded-resource`
    pub embedded_resource: bool,
    /// `x-kubernetes-int-or-string`
    pub int_or_string: bool,
    /// `properties`
    pub properties: SchemaMap,
    /// `required`
    pub required: OptionalList<SmolStr>,
    /// `additionalProperties`
    pub additional_properties: Option<SchemaOrBool>,
    /// `items`
    pub items: Option<Items>,
    /// `default`
    pub default: Option<Box<Json>>,
    /// `x-kubernetes-validations`
    pub validations: OptionalList<ValidationRule>,
    /// The bounds of values.
    pub bounds: Rare<Bounds>,
    /// The schemas under `allOf`, `anyOf`, `oneOf` and `not`.
    pub combinations: Rare<Combinations>,
    /// The schema keywords that determine how lists and maps are merged, such as `x-kubernetes-list-type`.
    pub topology: Rare<Topology>,
    /// The documentation.
    pub docs: Rare<Docs>,
    /// The keys that structural schemas cannot have.
    pub unsupported: Rare<Unsupported>,
}

/// JSON has no NaN, so each number equals itself.
impl Eq for JsonSchema {}

/// The bounds of numbers, lengths and counts that a schema sets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bounds {
    /// `maximum`
    pub maximum: Option<f64>,
    /// `exclusiveMaximum`
    pub exclusive_maximum: bool,
    /// `minimum`
    pub minimum: Option<f64>,
    /// `exclusiveMinimum`
    pub exclusive_minimum: bool,
    /// `multipleOf`
    pub multiple_of: Option<f64>,
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
    /// `maxProperties`
    pub max_properties: Option<i64>,
    /// `minProperties`
    pub min_properties: Option<i64>,
    /// `enum`
    pub enumeration: OptionalList<Json>,
}

/// The schemas under `allOf`, `anyOf`, `oneOf` and `not`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Combinations {
    /// `allOf`
    pub all_of: OptionalList<JsonSchema>,
    /// `anyOf`
    pub any_of: OptionalList<JsonSchema>,
    /// `oneOf`
    pub one_of: OptionalList<JsonSchema>,
    /// `not`
    pub not: Option<Box<JsonSchema>>,
}

/// The keys that determine how lists and maps are merged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Topology {
    /// `x-kubernetes-list-map-keys`
    pub list_map_keys: OptionalList<SmolStr>,
    /// `x-kubernetes-list-type`: `atomic`, `set` or `map`.
    pub list_type: Option<SmolStr>,
    /// `x-kubernetes-map-type`: `granular` or `atomic`.
    pub map_type: Option<SmolStr>,
}

/// The documentation of a schema.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Docs {
    /// `title`
    pub title: String,
    /// `description`
    pub description: String,
    /// `externalDocs`
    pub external: Option<ExternalDocumentation>,
    /// `example`
    pub example: Option<Json>,
}

/// The keys of schemas that structural schemas cannot have.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Unsupported {
    /// `id`
    pub id: String,
    /// `$schema`
    pub schema: String,
    /// `$ref`
    pub reference: Option<String>,
    /// `patternProperties`
    pub pattern_properties: SchemaMap,
    /// `dependencies`, by the names of the properties that have them.
    pub dependencies: OptionalList<(SmolStr, Dependency)>,
    /// `additionalItems`
    pub additional_items: Option<SchemaOrBool>,
    /// `definitions`
    pub definitions: SchemaMap,
}

/// A rule of `x-kubernetes-validations`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ValidationRule {
    /// The expression that must be true.
    pub rule: String,
    /// The message of a violation.
    pub message: String,
    /// The message expression.
    pub message_expression: String,
    /// `FieldValueInvalid`, `FieldValueForbidden`, `FieldValueRequired` or `FieldValueDuplicate`.
    pub reason: Option<String>,
    /// The field to which errors point, as a path below the node.
    pub field_path: String,
    /// Whether `oldSelf` is an optional, so that the rule also runs without an old value.
    pub optional_old_self: Option<bool>,
}

/// `items`: one schema for all elements, or a list with a schema for each position. Structural schemas cannot have such a list.
#[derive(Debug, Clone, PartialEq)]
pub enum Items {
    /// A schema for all elements.
    Schema(Arc<JsonSchema>),
    /// A schema for each position.
    Positions(OptionalList<JsonSchema>),
}

/// A schema, or a bool that allows or forbids everything.
#[derive(Debug, Clone, PartialEq)]
pub enum SchemaOrBool {
    /// `true` allows every value, and `false` allows no value.
    Allows(bool),
    /// Only values that match a schema are allowed.
    Schema(Arc<JsonSchema>),
}

/// The dependency of a property: other properties that are required, or a schema that applies.
#[derive(Debug, Clone, PartialEq)]
pub enum Dependency {
    /// Names of properties.
    Properties(OptionalList<SmolStr>),
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
    pub fn item(&self) -> Option<&Arc<JsonSchema>> {
        match &self.items {
            Some(Items::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// The schema of all values of a map.
    pub fn value(&self) -> Option<&Arc<JsonSchema>> {
        match &self.additional_properties {
            Some(SchemaOrBool::Schema(schema)) => Some(schema),
            _ => None,
        }
    }

    /// Mutable access to the schema that [`JsonSchema::item`] returns.
    pub fn item_mut(&mut self) -> Option<&mut JsonSchema> {
        match &mut self.items {
            Some(Items::Schema(schema)) => Some(Arc::make_mut(schema)),
            _ => None,
        }
    }

    /// Mutable access to the schema that [`JsonSchema::value`] returns.
    pub fn value_mut(&mut self) -> Option<&mut JsonSchema> {
        match &mut self.additional_properties {
            Some(SchemaOrBool::Schema(schema)) => Some(Arc::make_mut(schema)),
            _ => None,
        }
    }

    /// The names in `required` as a set, for many lookups.
    pub fn required_names(&self) -> HashSet<&str> {
        self.required.iter().map(SmolStr::as_str).collect()
    }

    /// The default; `None` if it is absent or null.
    pub fn default_value(&self) -> Option<&Json> {
        self.default.as_deref().filter(|default| !default.is_null())
    }

    /// Whether `holds` is true for this schema or any schema of an element, value or property within it. Shared schemas are
    /// visited once.
    pub fn any(&self, holds: &dyn Fn(&JsonSchema) -> bool) -> bool {
        self.any_new(holds, &mut FxHashSet::default())
    }

    fn any_new(
        &self,
        holds: &dyn Fn(&JsonSchema) -> bool,
        visited: &mut FxHashSet<*const JsonSchema>,
    ) -> bool {
        let within = [self.item(), self.value()].into_iter().flatten();
        let mut within = within.chain(self.properties.values());
        visited.insert(self) && (holds(self) || within.any(|schema| schema.any_new(holds, visited)))
    }

    /// Whether `x-kubernetes-preserve-unknown-fields` is true.
    pub fn preserves_unknown_fields(&self) -> bool {
        self.preserve_unknown_fields == Some(true)
    }
}
