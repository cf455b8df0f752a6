//! Stores equal schemas once, to save memory.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Docs, Items, JsonSchema, Rare, SchemaOrBool};

/// The maximum number of stored schemas with the same hash. Different schemas can have the same hash, because hashes omit keys that rarely
/// differ.
pub(super) const MAX_ALIKE: usize = 4;

/// A store of schemas in which equal schemas are shared. A definition often contains equal schemas: for example, the schema of a container
/// occurs several times, and a new version repeats most schemas of the previous version.
#[derive(Debug, Default)]
pub struct Pool {
    /// The schemas, keyed by hash.
    schemas: FxHashMap<u64, Vec<Arc<JsonSchema>>>,
    hasher: RandomState,
    /// The results of [`Pool::bare`], keyed by the address of the schema that was passed.
    bare: FxHashMap<*const JsonSchema, Bare>,
}

#[derive(Debug)]
struct Bare {
    /// Keeps the schema alive, so that its address is not reused for another schema.
    _of: Arc<JsonSchema>,
    schema: Arc<JsonSchema>,
}

impl Pool {
    /// Returns the stored schema that equals `schema`; if there is none, stores `schema`. The schemas within `schema` must come from this
    /// pool. If many stored schemas have the same hash, equal schemas may be stored twice.
    pub fn share(&mut self, schema: JsonSchema) -> Arc<JsonSchema> {
        let mut hasher = self.hasher.build_hasher();
        hash(&schema, &mut hasher);
        let alike = self.schemas.entry(hasher.finish()).or_default();
        if let Some(known) = alike.iter().find(|known| ***known == schema) {
            return Arc::clone(known);
        }
        let schema = Arc::new(schema);
        if alike.len() < MAX_ALIKE {
            alike.push(Arc::clone(&schema));
        }
        schema
    }

    /// The schema without its descriptions, which validation does not need. The recursion is as deep as the schema; the reader of schemas
    /// limits this depth.
    pub fn bare(&mut self, schema: &Arc<JsonSchema>) -> Arc<JsonSchema> {
        let place = Arc::as_ptr(schema);
        if let Some(known) = self.bare.get(&place) {
            return Arc::clone(&known.schema);
        }
        let bare = JsonSchema {
            docs: Rare::<Docs>::default(),
            items: schema.items.as_ref().map(|items| match items {
                Items::Schema(item) => Items::Schema(self.bare(item)),
                positions @ Items::Positions(_) => positions.clone(),
            }),
            additional_properties: schema.additional_properties.as_ref().map(
                |values| match values {
                    SchemaOrBool::Schema(value) => SchemaOrBool::Schema(self.bare(value)),
                    allows @ SchemaOrBool::Allows(_) => allows.clone(),
                },
            ),
            properties: schema.properties.map(|property| self.bare(property)),
            ..JsonSchema::clone(schema)
        };
        let bare = Bare {
            _of: Arc::clone(schema),
            schema: self.share(bare),
        };
        Arc::clone(&self.bare.entry(place).or_insert(bare).schema)
    }
}

/// Hashes a schema's own keys and the addresses of the schemas within it: equal inner schemas have the same address.
fn hash(schema: &JsonSchema, hasher: &mut impl Hasher) {
    schema.kind.hash(hasher);
    schema.format.hash(hasher);
    for (name, property) in &schema.properties {
        name.hash(hasher);
        Arc::as_ptr(property).hash(hasher);
    }
    schema.required.hash(hasher);
    for within in [schema.item(), schema.value()].into_iter().flatten() {
        Arc::as_ptr(within).hash(hasher);
    }
    schema.validations.hash(hasher);
    schema.default.hash(hasher);
    if let Some(docs) = schema.docs.as_option() {
        docs.description.hash(hasher);
    }
    if let Some(bounds) = schema.bounds.as_option() {
        let sizes = [
            bounds.max_length,
            bounds.min_length,
            bounds.max_items,
            bounds.min_items,
            bounds.max_properties,
            bounds.min_properties,
        ];
        sizes.hash(hasher);
        let limits = [bounds.maximum, bounds.minimum, bounds.multiple_of];
        limits.map(|limit| limit.map(f64::to_bits)).hash(hasher);
        bounds.pattern.hash(hasher);
        bounds.enumeration.hash(hasher);
    }
    if let Some(topology) = schema.topology.as_option() {
        topology.hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_parts_are_one_in_memory() {
        let list = json!({"type": "array", "items": {"type": "object", "properties": {
            "a": {"type": "string", "maxLength": 3}, "b": {"type": "string", "maxLength": 4},
        }}});
        let map = json!({"type": "object", "additionalProperties": list});
        let mut described = map.clone();
        described["description"] = json!("a map");
        let schema =
            JsonSchema::read(&json!({"properties": {"a": map, "b": map, "c": described}})).unwrap();
        let is_one = |schema: &JsonSchema, a: &str, b: &str| {
            let [a, b] = [a, b].map(|name| schema.properties.get(name).unwrap());
            Arc::ptr_eq(a, b)
        };
        assert!(is_one(&schema, "a", "b") && !is_one(&schema, "a", "c"));
        let list = schema
            .properties
            .get("a")
            .and_then(|map| map.value())
            .unwrap();
        assert!(!is_one(list.item().unwrap(), "a", "b"));

        let mut pool = Pool::default();
        let schema = Arc::new(schema);
        let bare = pool.bare(&schema);
        assert!(is_one(&bare, "a", "c"));
        assert_ne!(bare, schema);
        assert!(Arc::ptr_eq(&bare, &pool.bare(&schema)));
        assert!(Arc::ptr_eq(&bare, &pool.bare(&bare)));
    }

    #[test]
    fn of_schemas_that_are_much_alike_few_are_compared() {
        let schema = |n: usize| {
            let json = json!({"type": "string", "not": {"pattern": n.to_string()}});
            JsonSchema::read(&json).unwrap()
        };
        let mut pool = Pool::default();
        for n in 0..100 {
            assert_eq!(*pool.share(schema(n)), schema(n));
        }
        assert!(pool.schemas.values().all(|alike| alike.len() <= MAX_ALIKE));
    }
}
