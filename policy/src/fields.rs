//! Objects, whatever holds them, by their fields.

use std::collections::BTreeMap;

use gavel_engine::value::{Map, Value};

/// The fields of an object, by name.
pub(crate) type Fields<'a> = BTreeMap<&'a str, Value<'a>>;

/// A field of an object, if the value is one and has it.
pub(crate) fn field<'a>(object: Value<'a>, name: &str) -> Option<Value<'a>> {
    object.as_map()?.get_str(name).ok()?
}

/// A field that is a text; empty where it is not.
pub(crate) fn text_field<'a>(object: Value<'a>, name: &str) -> &'a str {
    match field(object, name) {
        Some(Value::String(text)) => text,
        _ => "",
    }
}

/// All fields of an object; none of what is none.
pub(crate) fn fields_of(object: Value<'_>) -> Fields<'_> {
    let map = object.as_map();
    let fields = map.iter().flat_map(Map::iter).flatten();
    fields
        .filter_map(|(name, value)| match name {
            Value::String(name) => Some((name, value)),
            _ => None,
        })
        .collect()
}
