//! Finds elements of a list of type map by their keys (apiserver `pkg/cel/common/maplist.go`).

use std::collections::HashMap;

use gavel_engine::value::Json;
use gavel_golang::float;
use smol_str::SmolStr;

use crate::JsonSchema;
use crate::equal::Numeric;

/// The elements of a list of type map, indexed by their keys. If several elements have the same keys, only the first one is found.
///
/// ```
/// use gavel_schema::JsonSchema;
/// use gavel_schema::correlate::MapList;
/// use serde_json::json;
///
/// # fn main() -> Result<(), gavel_schema::SchemaReadError> {
/// let schema = JsonSchema::read(&json!({
///     "type": "array",
///     "x-kubernetes-list-type": "map",
///     "x-kubernetes-list-map-keys": ["name"],
/// }))?;
/// let items = [json!({"name": "a", "port": 1}), json!({"name": "b", "port": 2})];
/// let list = MapList::new(&schema, &items);
/// assert_eq!(list.find(&json!({"name": "b"})), Some(&items[1]));
/// assert_eq!(list.find(&json!({"port": 1})), None);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct MapList<'a> {
    names: &'a [SmolStr],
    by_key: HashMap<ElementKey<'a>, &'a Json>,
}

/// The values of the key fields of one element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ElementKey<'a> {
    One(KeyPart<'a>),
    Many(Vec<KeyPart<'a>>),
}

/// The value of a key field. An integer never equals a double.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum KeyPart<'a> {
    Bool(bool),
    Int(i64),
    /// The bits of a double.
    Double(u64),
    /// A double as text. If there are several key fields, upstream compares doubles rounded to six digits after the point.
    Rounded(String),
    Text(&'a str),
}

impl<'a> MapList<'a> {
    /// Indexes the elements of a list. A list of another type than map is treated as empty.
    pub fn new(schema: &'a JsonSchema, items: &'a [Json]) -> Self {
        let mut list = MapList {
            names: &schema.topology.list_map_keys,
            by_key: HashMap::new(),
        };
        if schema.kind == "array" && is_map_list(schema) && !list.names.is_empty() {
            for item in items {
                if let Some(key) = key_of(list.names, item) {
                    list.by_key.entry(key).or_insert(item);
                }
            }
        }
        list
    }

    /// The element with the same keys as `element`; `None` if no element has them, or if a key of `element` is missing or not a scalar.
    pub fn find(&self, element: &Json) -> Option<&'a Json> {
        self.by_key.get(&key_of(self.names, element)?).copied()
    }
}

/// Whether the schema has `x-kubernetes-list-type: map`.
pub(super) fn is_map_list(schema: &JsonSchema) -> bool {
    schema.topology.list_type.as_deref() == Some("map")
}

fn key_of<'e>(names: &[SmolStr], element: &'e Json) -> Option<ElementKey<'e>> {
    let fields = element.as_object()?;
    match names {
        [name] => scalar(fields.get(name.as_str())?).map(ElementKey::One),
        names => {
            let part = |name: &SmolStr| match scalar(fields.get(name.as_str())?)? {
                KeyPart::Double(bits) => {
                    let double = f64::from_bits(bits);
                    Some(KeyPart::Rounded(float::format_fixed(double, 6)))
                }
                part => Some(part),
            };
            names
                .iter()
                .map(part)
                .collect::<Option<_>>()
                .map(ElementKey::Many)
        }
    }
}

fn scalar(value: &Json) -> Option<KeyPart<'_>> {
    Some(match value {
        Json::Bool(bool) => KeyPart::Bool(*bool),
        Json::String(text) => KeyPart::Text(text),
        Json::Number(number) => match Numeric::from(number) {
            Numeric::Int(int) => KeyPart::Int(int),
            // Adding 0.0 turns -0.0 into 0.0, so that both get the same key.
            Numeric::Double(double) => KeyPart::Double((double + 0.0).to_bits()),
        },
        Json::Null | Json::Array(_) | Json::Object(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Topology;

    fn check(keys: &[&str], items: &Json, element: &Json, expected: Option<usize>) {
        let schema = JsonSchema {
            kind: "array".into(),
            topology: Topology {
                list_type: Some("map".into()),
                list_map_keys: keys.iter().copied().map(SmolStr::new).collect(),
                map_type: None,
            }
            .into(),
            ..JsonSchema::default()
        };
        let items = items.as_array().unwrap();
        let list = MapList::new(&schema, items);
        let expected = expected.map(|index| &items[index]);
        assert_eq!(list.find(element), expected, "{items:?} {element}");
    }

    #[test]
    fn the_first_element_of_a_key_is_found() {
        let items = json!([null, 1, {"k": null}, {"k": "a", "n": 1}, {"k": "a", "n": 2}, {"k": 1}, {"k": 1.5}]);
        check(&["k"], &items, &json!({"k": "a"}), Some(3));
        check(&["k"], &items, &json!({"k": 1}), Some(5));
        check(&["k"], &items, &json!({"k": 1.0}), None);
        check(&["k"], &items, &json!({"k": 1.5}), Some(6));
        check(&["k"], &items, &json!({"k": null}), None);
        check(&["k"], &items, &json!({}), None);
        check(&["k"], &items, &json!("a"), None);
        check(&[], &items, &json!({"k": "a"}), None);
    }

    #[test]
    fn doubles_among_several_keys_are_compared_by_six_digits() {
        let items = json!([{"a": 1.0000001, "b": true}, {"a": "x", "b": "true"}]);
        check(
            &["a", "b"],
            &items,
            &json!({"a": 1.0000002, "b": true}),
            Some(0),
        );
        check(&["a", "b"], &items, &json!({"a": 1, "b": true}), None);
        check(&["a", "b"], &items, &json!({"a": "x", "b": true}), None);
        check(&["a"], &items, &json!({"a": 1.0000002}), None);
    }
}
