//! Access to the fields of objects that are CEL values.

use std::collections::BTreeMap;

use gavel_engine::value::{Map, Value};

/// The fields of an object, by name.
pub(crate) type Fields<'a> = BTreeMap<&'a str, Value<'a>>;

/// A field of an object; `None` if the value is not an object, or does not have the field.
pub(crate) fn field<'a>(object: Value<'a>, name: &str) -> Option<Value<'a>> {
    object.as_map()?.get_str(name).ok()?
}

/// The fields of an object with these names, found in one pass; null if absent.
pub(crate) fn fields_named<'a, const N: usize>(
    object: Value<'a>,
    names: [&str; N],
) -> [Value<'a>; N] {
    let mut found = [Value::NULL; N];
    let Some(map) = object.as_map() else {
        return found;
    };
    for (key, value) in map.iter().filter_map(Result::ok) {
        let mut wanted = names.iter().zip(&mut found);
        if let Some(key) = key.as_str()
            && let Some((_, field)) = wanted.find(|(name, _)| **name == key)
        {
            *field = value;
        }
    }
    found
}

/// A string field; empty if the field is absent or not a string.
pub(crate) fn text_field<'a>(object: Value<'a>, name: &str) -> &'a str {
    let text = field(object, name).and_then(|value| value.as_str());
    text.unwrap_or_default()
}

/// All fields of an object; empty for other values.
pub(crate) fn fields_of(object: Value<'_>) -> Fields<'_> {
    let map = object.as_map();
    let fields = map.iter().flat_map(Map::iter).flatten();
    fields
        .filter_map(|(name, value)| Some((name.as_str()?, value)))
        .collect()
}
