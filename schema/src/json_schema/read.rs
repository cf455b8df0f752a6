//! Reads a schema from JSON as Go's decoder does: unknown keys are ignored, null counts as absent, and wrong types are errors.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use gavel_engine::value::Json;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, de};
use smol_str::SmolStr;

use super::pool::MAX_ALIKE;
use super::{
    Dependency, ExternalDocumentation, Items, JsonSchema, OptionalList, SchemaMap, SchemaOrBool,
    ValidationRule,
};

/// The nesting limit of schemas. Code that visits schemas recursively needs stack for this depth; the deepest schemas in use
/// have about forty levels.
pub const MAX_DEPTH: usize = 200;

/// The error for JSON that is not a schema, with the path of the invalid value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaReadError {
    /// The keys that lead to the invalid value, separated by dots.
    path: String,
    /// The message.
    message: String,
}

impl std::fmt::Display for SchemaReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

impl std::error::Error for SchemaReadError {}

type Read<T> = Result<T, SchemaReadError>;

impl JsonSchema {
    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// A value has the wrong type, or schemas are nested more than [`MAX_DEPTH`] deep.
    pub fn read(json: &Json) -> Result<JsonSchema, SchemaReadError> {
        SchemaReader::default().schema(json, MAX_DEPTH)
    }
}

impl<'de> Deserialize<'de> for JsonSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        JsonSchema::read(&Json::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl SchemaReadError {
    fn new(message: impl Into<String>) -> Self {
        SchemaReadError {
            path: String::new(),
            message: message.into(),
        }
    }

    fn expected(what: &str, found: &Json) -> Self {
        let found = match found {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Number(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "a list",
            Json::Object(_) => "an object",
        };
        Self::new(format!("must be {what}, not {found}"))
    }

    fn within(mut self, key: &str) -> Self {
        self.path = match self.path.is_empty() {
            true => key.to_owned(),
            false => format!("{key}.{}", self.path),
        };
        self
    }
}

/// Reads schemas. Equal schemas, such as those of containers or those that two versions have in common, are read once and shared.
#[derive(Debug, Default)]
pub struct SchemaReader<'j> {
    /// Schemas, keyed by a hash of their own keys.
    known: FxHashMap<u64, Vec<Known<'j>>>,
    hasher: RandomState,
}

/// A schema that was read.
#[derive(Debug)]
struct Known<'j> {
    json: &'j Json,
    /// The number of levels of nesting that were still allowed when the schema was read.
    depth: usize,
    schema: Arc<JsonSchema>,
}

impl<'j> SchemaReader<'j> {
    /// Reads a schema.
    ///
    /// # Errors
    ///
    /// A value has the wrong type, or schemas are nested more than [`MAX_DEPTH`] deep.
    pub fn read(&mut self, json: &'j Json) -> Result<Arc<JsonSchema>, SchemaReadError> {
        self.shared(json, MAX_DEPTH)
    }

    fn shared(&mut self, json: &'j Json, depth: usize) -> Read<Arc<JsonSchema>> {
        let hash = self.hash(json);
        let alike = self.known.get(&hash);
        let known = alike.and_then(|alike| {
            let mut alike = alike.iter();
            alike.find(|known| known.depth <= depth && known.json == json)
        });
        if let Some(known) = known {
            return Ok(Arc::clone(&known.schema));
        }
        let schema = Arc::new(self.schema(json, depth)?);
        let alike = self.known.entry(hash).or_default();
        if alike.len() < MAX_ALIKE {
            alike.push(Known {
                json,
                depth,
                schema: Arc::clone(&schema),
            });
        }
        Ok(schema)
    }

    /// A hash of the keys, scalars and names in a schema. It omits deeper values; they are compared if the hashes are equal.
    fn hash(&self, json: &Json) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        for (key, value) in json.as_object().into_iter().flatten() {
            key.hash(&mut hasher);
            match value {
                Json::Object(fields) => fields.keys().for_each(|name| name.hash(&mut hasher)),
                Json::Array(items) => items.len().hash(&mut hasher),
                scalar => scalar.hash(&mut hasher),
            }
        }
        hasher.finish()
    }

    fn schema(&mut self, json: &'j Json, depth: usize) -> Read<JsonSchema> {
        let fields = object(json)?;
        let depth = depth.checked_sub(1).ok_or_else(|| {
            SchemaReadError::new(format!("schemas may be nested at most {MAX_DEPTH} deep"))
        })?;
        let mut schema = JsonSchema::default();
        for (key, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
            self.set(&mut schema, key, value, depth)
                .map_err(|error| error.within(key))?;
        }
        Ok(schema)
    }

    /// Sets the keys that hold schemas. `set_own` sets the other keys, so that the stack frame of this recursive function stays small.
    fn set(
        &mut self,
        schema: &mut JsonSchema,
        key: &str,
        value: &'j Json,
        depth: usize,
    ) -> Read<()> {
        match key {
            "items" => schema.items = Some(self.items(value, depth)?),
            "allOf" => schema.combinations.all_of = self.schemas(value, depth)?,
            "oneOf" => schema.combinations.one_of = self.schemas(value, depth)?,
            "anyOf" => schema.combinations.any_of = self.schemas(value, depth)?,
            "not" => schema.combinations.not = Some(Box::new(self.schema(value, depth)?)),
            "properties" => schema.properties = self.named(value, depth)?,
            "additionalProperties" => {
                schema.additional_properties = Some(self.schema_or_bool(value, depth)?);
            }
            "patternProperties" => {
                schema.unsupported.pattern_properties = self.named(value, depth)?;
            }
            "dependencies" => schema.unsupported.dependencies = self.dependencies(value, depth)?,
            "additionalItems" => {
                schema.unsupported.additional_items = Some(self.schema_or_bool(value, depth)?);
            }
            "definitions" => schema.unsupported.definitions = self.named(value, depth)?,
            _ => return set_own(schema, key, value),
        }
        Ok(())
    }

    /// Reads `items`. As in upstream, a value other than an object or list is an empty list.
    fn items(&mut self, json: &'j Json, depth: usize) -> Read<Items> {
        Ok(match json {
            Json::Object(_) => Items::Schema(self.shared(json, depth)?),
            Json::Array(_) => Items::Positions(self.schemas(json, depth)?),
            _ => Items::Positions(OptionalList::default()),
        })
    }

    fn dependencies(
        &mut self,
        json: &'j Json,
        depth: usize,
    ) -> Read<OptionalList<(SmolStr, Dependency)>> {
        let entry = |(name, value): (&String, &'j Json)| match self.dependency(value, depth) {
            Ok(value) => Ok((name.into(), value)),
            Err(error) => Err(error.within(name)),
        };
        object(json)?.iter().map(entry).collect()
    }

    /// Reads a dependency. As in upstream, a value other than an object or list is an empty list.
    fn dependency(&mut self, json: &'j Json, depth: usize) -> Read<Dependency> {
        Ok(match json {
            Json::Object(_) => Dependency::Schema(Box::new(self.schema(json, depth)?)),
            Json::Array(_) => Dependency::Properties(texts(json)?),
            _ => Dependency::Properties(OptionalList::default()),
        })
    }

    fn schema_or_bool(&mut self, json: &'j Json, depth: usize) -> Read<SchemaOrBool> {
        match json {
            Json::Bool(allows) => Ok(SchemaOrBool::Allows(*allows)),
            Json::Object(_) => Ok(SchemaOrBool::Schema(self.shared(json, depth)?)),
            other => Err(SchemaReadError::expected("a schema or a boolean", other)),
        }
    }

    /// Reads a list of schemas.
    fn schemas(&mut self, json: &'j Json, depth: usize) -> Read<OptionalList<JsonSchema>> {
        list(json, |item| self.schema(item, depth))
    }

    /// Reads schemas by name; null is an empty schema.
    fn named(&mut self, json: &'j Json, depth: usize) -> Read<SchemaMap> {
        let fields = object(json)?;
        let mut schemas = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            let schema = match value {
                Json::Null => Ok(Arc::default()),
                value => self.shared(value, depth),
            };
            let schema = schema.map_err(|error| error.within(name))?;
            schemas.push((name.into(), schema));
        }
        Ok(schemas.into_iter().collect())
    }
}

fn set_own(schema: &mut JsonSchema, key: &str, value: &Json) -> Read<()> {
    match key {
        "id" => schema.unsupported.id = text(value)?,
        "$schema" => schema.unsupported.schema = text(value)?,
        "$ref" => schema.unsupported.reference = Some(text(value)?),
        "description" => schema.docs.description = text(value)?,
        "type" => schema.kind = name(value)?,
        "format" => schema.format = name(value)?,
        "title" => schema.docs.title = text(value)?,
        "default" => schema.default = Some(Box::new(value.clone())),
        "maximum" => schema.bounds.maximum = Some(number(value)?),
        "exclusiveMaximum" => schema.bounds.exclusive_maximum = flag(value)?,
        "minimum" => schema.bounds.minimum = Some(number(value)?),
        "exclusiveMinimum" => schema.bounds.exclusive_minimum = flag(value)?,
        "maxLength" => schema.bounds.max_length = Some(integer(value)?),
        "minLength" => schema.bounds.min_length = Some(integer(value)?),
        "pattern" => schema.bounds.pattern = text(value)?,
        "maxItems" => schema.bounds.max_items = Some(integer(value)?),
        "minItems" => schema.bounds.min_items = Some(integer(value)?),
        "uniqueItems" => schema.bounds.unique_items = flag(value)?,
        "multipleOf" => schema.bounds.multiple_of = Some(number(value)?),
        "enum" => schema.bounds.enumeration = list(value, |item| Ok(item.clone()))?,
        "maxProperties" => schema.bounds.max_properties = Some(integer(value)?),
        "minProperties" => schema.bounds.min_properties = Some(integer(value)?),
        "required" => schema.required = texts(value)?,
        "externalDocs" => schema.docs.external = Some(external_docs(value)?),
        "example" => schema.docs.example = Some(value.clone()),
        "nullable" => schema.nullable = flag(value)?,
        "x-kubernetes-preserve-unknown-fields" => {
            schema.preserve_unknown_fields = Some(flag(value)?);
        }
        "x-kubernetes-embedded-resource" => schema.embedded_resource = flag(value)?,
        "x-kubernetes-int-or-string" => schema.int_or_string = flag(value)?,
        "x-kubernetes-list-map-keys" => schema.topology.list_map_keys = texts(value)?,
        "x-kubernetes-list-type" => schema.topology.list_type = Some(name(value)?),
        "x-kubernetes-map-type" => schema.topology.map_type = Some(name(value)?),
        "x-kubernetes-validations" => schema.validations = list(value, rule)?,
        _ => {}
    }
    Ok(())
}

fn rule(json: &Json) -> Read<ValidationRule> {
    let mut rule = ValidationRule::default();
    for (key, value) in object(json)?.iter().filter(|(_, value)| !value.is_null()) {
        let mut set = || -> Read<()> {
            match key.as_str() {
                "rule" => rule.rule = text(value)?,
                "message" => rule.message = text(value)?,
                "messageExpression" => rule.message_expression = text(value)?,
                "reason" => rule.reason = Some(text(value)?),
                "fieldPath" => rule.field_path = text(value)?,
                "optionalOldSelf" => rule.optional_old_self = Some(flag(value)?),
                _ => {}
            }
            Ok(())
        };
        set().map_err(|error| error.within(key))?;
    }
    Ok(rule)
}

fn external_docs(json: &Json) -> Read<ExternalDocumentation> {
    let fields = object(json)?;
    let field = |key: &str| match fields.get(key) {
        None | Some(Json::Null) => Ok(String::new()),
        Some(value) => text(value).map_err(|error| error.within(key)),
    };
    Ok(ExternalDocumentation {
        description: field("description")?,
        url: field("url")?,
    })
}

/// Reads a list; a null element becomes the default of its type.
fn list<'j, T: Default>(
    json: &'j Json,
    mut read: impl FnMut(&'j Json) -> Read<T>,
) -> Read<OptionalList<T>> {
    let element = |(n, item): (usize, &'j Json)| match item {
        Json::Null => Ok(T::default()),
        item => read(item).map_err(|error| error.within(&n.to_string())),
    };
    match json {
        Json::Array(items) => items.iter().enumerate().map(element).collect(),
        other => Err(SchemaReadError::expected("a list", other)),
    }
}

fn texts(json: &Json) -> Read<OptionalList<SmolStr>> {
    list(json, name)
}

fn object(json: &Json) -> Read<&serde_json::Map<String, Json>> {
    match json {
        Json::Object(fields) => Ok(fields),
        other => Err(SchemaReadError::expected("an object", other)),
    }
}

fn text(json: &Json) -> Read<String> {
    string(json).map(str::to_owned)
}

fn name(json: &Json) -> Read<SmolStr> {
    string(json).map(SmolStr::new)
}

fn string(json: &Json) -> Read<&str> {
    match json {
        Json::String(text) => Ok(text),
        other => Err(SchemaReadError::expected("a string", other)),
    }
}

fn flag(json: &Json) -> Read<bool> {
    match json {
        Json::Bool(flag) => Ok(*flag),
        other => Err(SchemaReadError::expected("a boolean", other)),
    }
}

fn integer(json: &Json) -> Read<i64> {
    json.as_i64().ok_or_else(|| match json {
        Json::Number(_) => SchemaReadError::new("must be an integer of 64 bits"),
        other => SchemaReadError::expected("an integer", other),
    })
}

fn number(json: &Json) -> Read<f64> {
    match json {
        Json::Number(number) => Ok(number.as_f64().unwrap_or(f64::NAN)),
        other => Err(SchemaReadError::expected("a number", other)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_counts_as_absent_and_unknown_keys_are_passed_over() {
        let schema = JsonSchema::read(&json!({
            "type": null, "default": null, "items": null, "x-kubernetes-validations": null, "nope": 1,
        }));
        assert_eq!(schema, Ok(JsonSchema::default()));
    }

    #[test]
    fn wrong_types_are_named_with_their_path() {
        let check = |json: Json, expected: &str| {
            let error = JsonSchema::read(&json).map_err(|error| error.to_string());
            assert_eq!(error, Err(expected.to_owned()));
        };
        check(json!([]), "must be an object, not a list");
        check(
            json!({"properties": {"a": {"maxLength": 1.5}}}),
            "properties.a.maxLength: must be an integer of 64 bits",
        );
        check(
            json!({"allOf": [{}, {"type": ["string"]}]}),
            "allOf.1.type: must be a string, not a list",
        );
        check(
            json!({"additionalProperties": "x"}),
            "additionalProperties: must be a schema or a boolean, not a string",
        );
        check(
            json!({"x-kubernetes-validations": [{"rule": 1}]}),
            "x-kubernetes-validations.0.rule: must be a string, not a number",
        );
    }

    #[test]
    fn schemas_nested_too_deep_are_refused() {
        let nested = |levels: usize| {
            (1..levels).fold(
                json!({"type": "string"}),
                |schema, _| json!({"type": "array", "items": schema}),
            )
        };
        assert!(JsonSchema::read(&nested(MAX_DEPTH)).is_ok());
        // A schema that is within the depth limit at one position may exceed the limit at another position.
        let part = nested(MAX_DEPTH - 1);
        let wrapped = |schema: Json| json!({"properties": {"z": schema}});
        let both = json!({"properties": {"a": part, "b": wrapped(part.clone())}});
        assert!(JsonSchema::read(&wrapped(part)).is_ok() && JsonSchema::read(&both).is_err());
        let error = JsonSchema::read(&nested(MAX_DEPTH + 1)).map_err(|error| error.to_string());
        let expected = format!(
            "{}items: schemas may be nested at most 200 deep",
            "items.".repeat(MAX_DEPTH - 1)
        );
        assert_eq!(error, Err(expected));
    }
}
