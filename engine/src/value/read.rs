//! JSON text read into an arena: texts without escapes are borrowed, nothing is allocated one by one.

use std::fmt;

use bumpalo::collections::Vec as ArenaVec;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{Arena, Value};

/// Reads JSON as values, as Kubernetes does: integers that fit are `int`, all other numbers `double`; of fields with one
/// name the last counts.
///
/// ```
/// use gavel_engine::value::{Arena, ReadJson, Value};
/// use serde::de::DeserializeSeed;
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let arena = Arena::new();
/// let mut text = serde_json::Deserializer::from_str(r#"{"b": [1, 2.5], "a": "x"}"#);
/// let value = ReadJson(&arena).deserialize(&mut text)?;
/// let Value::Fields(fields) = value else { panic!("an object") };
/// assert!(matches!(fields, [("a", Value::String("x")), ("b", Value::Items([_, _]))]));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ReadJson<'a>(pub &'a Arena);

impl<'a> DeserializeSeed<'a> for ReadJson<'a> {
    type Value = Value<'a>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Value<'a>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for ReadJson<'a> {
    type Value = Value<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value<'a>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value<'a>, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value<'a>, E> {
        Ok(Value::Int(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "the nearest double is meant")]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Value<'a>, E> {
        Ok(match i64::try_from(value) {
            Ok(int) => Value::Int(int),
            Err(_) => Value::Double(value as f64),
        })
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value<'a>, E> {
        Ok(Value::Double(value))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'a str) -> Result<Value<'a>, E> {
        Ok(Value::String(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value<'a>, E> {
        Ok(Value::String(self.0.bump().alloc_str(text)))
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut elements: A) -> Result<Value<'a>, A::Error> {
        let mut items = ArenaVec::new_in(self.0.bump());
        while let Some(item) = elements.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Items(items.into_bump_slice()))
    }

    fn visit_map<A: MapAccess<'a>>(self, mut entries: A) -> Result<Value<'a>, A::Error> {
        let mut fields: ArenaVec<'_, (&str, Value<'_>)> = ArenaVec::new_in(self.0.bump());
        let mut is_ordered = true;
        while let Some(name) = entries.next_key_seed(Name(self.0))? {
            is_ordered &= fields.last().is_none_or(|(last, _)| *last < name);
            fields.push((name, entries.next_value_seed(self)?));
        }
        if !is_ordered {
            // The last of one name comes first, and is kept.
            fields.reverse();
            fields.sort_by_key(|(name, _)| *name);
            fields.dedup_by_key(|(name, _)| *name);
        }
        Ok(Value::Fields(fields.into_bump_slice()))
    }
}

/// The name of a field.
struct Name<'a>(&'a Arena);

impl<'a> DeserializeSeed<'a> for Name<'a> {
    type Value = &'a str;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<&'a str, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'a> for Name<'a> {
    type Value = &'a str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'a str) -> Result<&'a str, E> {
        Ok(name)
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<&'a str, E> {
        Ok(self.0.bump().alloc_str(name))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::value::Json;

    /// The text, read into an arena, is the same value as the document that `serde_json` reads.
    #[track_caller]
    fn check(text: &str) {
        let arena = Arena::new();
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let value = ReadJson(&arena).deserialize(&mut deserializer).unwrap();
        let json: Json = serde_json::from_str(text).unwrap();
        assert!(value.equals(&Value::from(&json)).unwrap(), "{text}");
        assert!(Value::from(&json).equals(&value).unwrap(), "{text}");
        assert_eq!(value.to_json(), Some(json), "{text}");
    }

    #[test]
    fn a_text_is_read_as_a_document_is_viewed() {
        for text in [
            "null",
            "true",
            "-1",
            "1.5",
            "-0.0",
            r#""a""#,
            r#""\u00e9\n""#,
            "[]",
            "{}",
            r#"[1, [2, {"a": null}], "x"]"#,
            r#"{"b": 1, "a": {"d": [], "c": "\t"}, "\u0041": 2}"#,
            r#"{"a": 1, "b": 2, "a": 3, "b": 4, "a": 5}"#,
        ] {
            check(text);
        }
        let many: serde_json::Map<_, _> = (0..100).map(|n| (n.to_string(), json!(n))).collect();
        check(&Json::from(many).to_string());
    }

    #[test]
    fn integers_that_do_not_fit_are_doubles() {
        let arena = Arena::new();
        let mut text =
            serde_json::Deserializer::from_str("[9223372036854775807, 9223372036854775808]");
        let value = ReadJson(&arena).deserialize(&mut text).unwrap();
        let Value::Items([Value::Int(i64::MAX), Value::Double(double)]) = value else {
            panic!("{value:?}");
        };
        assert_eq!(double.to_bits(), 9_223_372_036_854_775_808_f64.to_bits());
    }

    #[test]
    fn fields_are_found_by_name_however_many_there_are() {
        let arena = Arena::new();
        for count in [0_usize, 1, 16, 17, 1_000] {
            let fields: serde_json::Map<_, _> =
                (0..count).map(|n| (format!("f{n}"), json!(n))).collect();
            let text = Json::from(fields).to_string();
            let text = arena.bump().alloc_str(&text);
            let mut deserializer = serde_json::Deserializer::from_str(text);
            let value = ReadJson(&arena).deserialize(&mut deserializer).unwrap();
            let map = value.as_map().unwrap();
            assert_eq!(map.len(), count);
            for n in 0..count {
                let found = map.get_str(&format!("f{n}")).unwrap();
                assert!(matches!(found, Some(Value::Int(int)) if usize::try_from(int) == Ok(n)));
            }
            assert!(map.get_str("f").unwrap().is_none());
            assert!(map.get(&Value::Int(0)).unwrap().is_none());
        }
    }
}
