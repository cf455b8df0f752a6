//! Objects stored in memory for the expressions of later requests.

use std::borrow::Cow;
use std::sync::OnceLock;

use gavel_engine::value::{Arena, Json, Value};
use gavel_schema::read_value;
use smol_str::SmolStr;

use crate::parsed::{Parsed, Unkept};

/// The maximum size of the objects that are stored as JSON text, in bytes. An evaluation parses a text of this size in a few microseconds.
const SHORT: usize = 4 << 10;

/// An object that policies can read: a param, or an object from an API server.
#[derive(Debug)]
pub struct KeptObject {
    api_version: SmolStr,
    kind: SmolStr,
    namespace: SmolStr,
    name: SmolStr,
    labels: Labels,
    content: Content,
    /// The document of a text, once an evaluation has read it; `None` if it takes too much memory.
    parsed: OnceLock<Option<Parsed>>,
}

// All other fields are derived from the content.
impl PartialEq for KeptObject {
    fn eq(&self, other: &Self) -> bool {
        self.content == other.content
    }
}

impl KeptObject {
    /// Stores a parsed document. Evaluations read it in place.
    pub fn new(object: Json) -> Self {
        let mut kept = Self::of(&object, Content::Document(Json::Null));
        kept.content = Content::Document(object);
        kept
    }

    /// Stores an object in little memory. A small object is stored as JSON text until an evaluation reads it.
    pub fn compact(object: &Json) -> Self {
        Self::of(object, Content::compact(object))
    }

    fn of(object: &Json, content: Content) -> Self {
        let text = |value: Option<&Json>| value.and_then(Json::as_str).unwrap_or_default().into();
        let metadata = object.get("metadata");
        let metadata = |field: &str| metadata.and_then(|metadata| metadata.get(field));
        KeptObject {
            api_version: text(object.get("apiVersion")),
            kind: text(object.get("kind")),
            namespace: text(metadata("namespace")),
            name: text(metadata("name")),
            labels: Labels::of(metadata("labels")),
            content,
            parsed: OnceLock::new(),
        }
    }

    /// The `apiVersion`; empty if absent.
    pub fn api_version(&self) -> &str {
        &self.api_version
    }

    /// The `kind`; empty if absent.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The namespace; empty if absent.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name; empty if absent.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The labels.
    pub(crate) fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The object as a CEL value. A stored document is borrowed. A stored text is parsed at the first call; if its document cannot be kept,
    /// each call parses it into the arena.
    pub fn value<'a>(&'a self, arena: &'a Arena) -> Value<'a> {
        let parsed = match &self.content {
            Content::Text(text) => self.parsed(text),
            Content::Document(_) => None,
        };
        match parsed {
            Some(parsed) => parsed.document().into(),
            None => self.content.value(arena),
        }
    }

    /// The document of the text; `None` if it cannot be kept.
    fn parsed(&self, text: &str) -> Option<&Parsed> {
        if let Some(known) = self.parsed.get() {
            return known.as_ref();
        }
        let parsed = match Parsed::of(text) {
            Ok(parsed) => Some(parsed),
            Err(Unkept::Never) => None,
            // There may be room later.
            Err(Unkept::Now) => return None,
        };
        self.parsed.get_or_init(|| parsed).as_ref()
    }

    /// The object as a document.
    pub fn to_json(&self) -> Cow<'_, Json> {
        match &self.content {
            Content::Document(document) => Cow::Borrowed(document),
            Content::Text(text) => Cow::Owned(serde_json::from_str(text).unwrap_or_default()),
        }
    }
}

/// The content of an object, as a parsed document or as JSON text.
#[derive(Debug, PartialEq)]
pub(crate) enum Content {
    Text(Box<str>),
    Document(Json),
}

impl Content {
    /// Stores a document in little memory: as JSON text if the text is short and can be parsed again.
    pub(crate) fn compact(document: &Json) -> Self {
        let text = document.to_string();
        let is_read = || read_value(text.as_bytes(), &Arena::new()).is_ok();
        match text.len() <= SHORT && is_read() {
            true => Content::Text(text.into()),
            false => Content::Document(document.clone()),
        }
    }

    /// The content as a CEL value. A document is borrowed; a text is parsed into the arena.
    pub(crate) fn value<'a>(&'a self, arena: &'a Arena) -> Value<'a> {
        match self {
            Content::Text(text) => read_value(text.as_bytes(), arena).unwrap_or(Value::NULL),
            Content::Document(document) => document.into(),
        }
    }
}

/// The labels of an object, by name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Labels(Box<[(SmolStr, SmolStr)]>);

impl Labels {
    /// Reads `metadata.labels`. If the value of a label is not a string, all labels are ignored.
    fn of(labels: Option<&Json>) -> Self {
        let fields = labels.and_then(Json::as_object);
        let labels = fields.into_iter().flatten();
        let labels = labels.map(|(key, value)| Some((key.into(), value.as_str()?.into())));
        Labels(labels.collect::<Option<_>>().unwrap_or_default())
    }

    /// Labels with one label.
    pub(crate) fn one(key: SmolStr, value: SmolStr) -> Self {
        Labels(Box::new([(key, value)]))
    }

    /// The value of the label with this key.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let mut labels = self.0.iter();
        let found = labels.find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }
}

impl<K: AsRef<str>, V: AsRef<str>> FromIterator<(K, V)> for Labels {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(labels: I) -> Self {
        let labels = labels.into_iter();
        let labels = labels.map(|(key, value)| (SmolStr::new(key), SmolStr::new(value)));
        Labels(labels.collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_kept_object_is_seen_as_its_document_is() {
        let check = |object: Json, is_text: bool| {
            let kept = KeptObject::compact(&object);
            assert_eq!(matches!(kept.content, Content::Text(_)), is_text);
            assert_eq!(*kept.to_json(), object);
            let (arena, document) = (Arena::new(), KeptObject::new(object.clone()));
            for kept in [kept.value(&arena), kept.content.value(&arena)] {
                let document = document.value(&arena);
                assert!(kept.equals(&document).unwrap() && document.equals(&kept).unwrap());
            }
            assert_eq!(kept.labels, document.labels);
        };
        let numbers = json!([0, -1, 1.0, -0.0, 1e300, u64::MAX, i64::MIN, i64::MAX, 0.1]);
        check(
            json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "a", "namespace": "b", "labels": {"c": "d", "e": ""}},
                "numbers": numbers, "\"\u{1f}é": null, "texts": ["\n", "\\", true],
            }),
            true,
        );
        check(json!({"metadata": {"labels": {"a": "b", "c": 1}}}), true);
        check(json!(null), true);
        check(json!({"data": {"a": "x".repeat(SHORT)}}), false);
        check((0..130).fold(json!(1), |inner, _| json!([inner])), false);
    }
}
