//! Reads the objects of large JSON files one at a time, because a dump of a cluster may be larger than the memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_manifest::{
    BYTE_ORDER_MARK, Document, Format, Problem, Reading, complete_item, json_problem,
};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Map;

use crate::input;

/// The size of the largest JSON file that is read as a whole, in bytes. Reading a file as a whole takes many times its size in memory, but
/// only then are the positions and the duplicate keys of its objects known.
const MAX_WHOLE: u64 = 1 << 20;

/// The largest file that is read again as a whole if it has an error, in bytes.
const MAX_READ_AGAIN: u64 = 64 << 20;

/// Whether a file is JSON, and too large to be read as a whole.
pub(super) fn is_dump(path: &Path) -> bool {
    Format::of(path) == Some(Format::Json)
        && std::fs::metadata(path).is_ok_and(|file| file.len() > MAX_WHOLE)
}

/// Reads a file of JSON values. Calls `look` with each object; for a list, with each item.
///
/// # Errors
///
/// The file cannot be read, a value is not a JSON object, or `look` fails. `look` was called for the objects before the error.
pub(super) fn objects(
    path: &Path,
    look: &mut impl FnMut(Document) -> io::Result<()>,
) -> Result<(), Problem> {
    let failed = |error| Problem::unreadable(path, error);
    let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?);
    if file
        .fill_buf()
        .map_err(failed)?
        .starts_with(BYTE_ORDER_MARK)
    {
        file.consume(BYTE_ORDER_MARK.len());
    }
    read(file, look).map_err(|error| problem(path, &error))
}

/// The problem of a file that cannot be read to its end. A file of up to [`MAX_READ_AGAIN`] bytes is read again as a whole, so that the
/// problem is the one that other commands report.
fn problem(path: &Path, error: &serde_json::Error) -> Problem {
    let is_small = std::fs::metadata(path).is_ok_and(|file| file.len() <= MAX_READ_AGAIN);
    let again = is_small.then(|| input::manifest(path));
    match again.map(|read| read.and_then(Reading::all)) {
        Some(Err(problem)) => problem,
        // The file is JSON, but not of objects.
        Some(Ok(_)) | None => json_problem(error).in_file(&Arc::from(path)),
    }
}

fn read(
    text: impl Read,
    look: &mut impl FnMut(Document) -> io::Result<()>,
) -> serde_json::Result<()> {
    let mut values = serde_json::Deserializer::from_reader(text);
    while values.end().is_err() {
        Object { look }.deserialize(&mut values)?;
    }
    Ok(())
}

/// Deserializes an object, or a list of objects, and calls `look` with each object.
struct Object<'l, L> {
    look: &'l mut L,
}

impl<'de, L: FnMut(Document) -> io::Result<()>> DeserializeSeed<'de> for Object<'_, L> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_map(self)
    }
}

impl<'de, L: FnMut(Document) -> io::Result<()>> Visitor<'de> for Object<'_, L> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let mut fields = Map::new();
        let mut is_list = false;
        while let Some(key) = map.next_key::<String>()? {
            let kind = fields.get("kind").and_then(Json::as_str);
            // kubectl writes `items` before `kind`, so the kind can still be unknown here.
            if key == "items" && kind.is_none_or(|kind| kind.ends_with("List")) {
                let (list, look) = (&fields, &mut *self.look);
                map.next_value_seed(Items { list, look })?;
                is_list = true;
            } else {
                let value = map.next_value()?;
                fields.insert(key, value);
            }
        }
        match is_list {
            true => Ok(()),
            false => give(Json::Object(fields), self.look),
        }
    }
}

/// Deserializes the items of a list, and calls `look` with each of them.
struct Items<'l, L> {
    /// The fields of the list before its items.
    list: &'l Map<String, Json>,
    look: &'l mut L,
}

impl<'de, L: FnMut(Document) -> io::Result<()>> DeserializeSeed<'de> for Items<'_, L> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de, L: FnMut(Document) -> io::Result<()>> Visitor<'de> for Items<'_, L> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of objects")
    }

    /// Accepts null as an empty list, because Go writes a nil list as null.
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<(), S::Error> {
        while let Some(mut item) = items.next_element::<Json>()? {
            complete_item(&mut item, self.list);
            give(item, self.look)?;
        }
        Ok(())
    }
}

fn give<E: Error>(value: Json, look: &mut impl FnMut(Document) -> io::Result<()>) -> Result<(), E> {
    for object in Document::from(value).into_objects() {
        look(object).map_err(E::custom)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_given_as_manifests_give_them() {
        let check = |text: &str, expected: &[&str]| {
            let mut names = Vec::new();
            let read = read(text.as_bytes(), &mut |object: Document| {
                names.push(object.value()["name"].as_str().unwrap().to_owned());
                Ok(())
            });
            assert_eq!(names, expected, "{text}");
            read
        };
        let a = r#"{"kind": "Pod", "name": "a"}"#;
        let b = r#"{"kind": "Pod", "name": "b", "items": [1]}"#;
        check(&format!("{a}\n{b}"), &["a", "b"]).unwrap();
        let list = format!(r#"{{"apiVersion": "v1", "items": [{a}, {b}], "kind": "List"}}"#);
        check(&format!("{list}{a}"), &["a", "b", "a"]).unwrap();
        check(
            &format!(r#"{{"kind": "PodList", "items": [{list}, {a}]}}"#),
            &["a", "b", "a"],
        )
        .unwrap();
        check(r#"{"kind": "PodList", "items": null}"#, &[]).unwrap();
        check("", &[]).unwrap();
        let error = check(&format!("{a} {{"), &["a"]).unwrap_err();
        assert!(error.is_eof(), "{error}");
        let error = check(&format!("{a} 1"), &["a"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "invalid type: integer `1`, expected an object at line 1 column 30"
        );
    }
}
