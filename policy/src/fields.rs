//! Objects, whatever holds them, by their fields.

use std::collections::BTreeMap;

use gavel_engine::value::{Map, Value};

/// The fields of an object, by name.
pub(crate) type Fields<'a> = BTreeMap<&'a str, Value<'a>>;

/// A field of an object, if the value is one and has it.
pub(crate) fn field<'a>(object: Value<'a>, name: &str) -> Option<Value<'a>> {
    object.as_map()?.get_str(name).ok()?
}

/// A field that is a text; the empty text otherwise.
pub(crate) fn text_field<'a>(object: Value<'a>, name: &str) -> &'a str {
    let text = field(object, name).and_then(|value| value.as_str());
    text.unwrap_or_default()
}

/// All fields of an object; none for other values.
pub(crate) fn fields_of(object: Value<'_>) -> Fields<'_> {
    let map = object.as_map();
    let fields = map.iter().flat_map(Map::iter).flatten();
    fields
        .filter_map(|(name, value)| Some((name.as_str()?, value)))
        .collect()
}
