//! The structure of Kubernetes' built-in kinds: `kubernetes/structure.json.gz`, which `kubernetes/extract.py` generated from the
//! OpenAPI documents and the Go types of k8s.io/kubernetes 1.36.1 (Apache-2.0).

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use gavel_engine::value::Json;
use serde::Deserialize;

use crate::JsonSchema;

/// The structure of the built-in kinds.
#[derive(Debug, Default, Deserialize)]
pub struct Kubernetes {
    /// The names of schemas, keyed by `apiVersion` and kind.
    kinds: BTreeMap<String, BTreeMap<String, String>>,
    /// Like `kinds`, for the kinds of subresources, such as `Scale`. API servers decode their objects, but cannot merge them.
    decoded: BTreeMap<String, BTreeMap<String, String>>,
    schemas: BTreeMap<String, JsonSchema>,
    /// The fields of structs in Go, keyed by the name of the schema.
    fields: BTreeMap<String, GoFields>,
}

/// The fields of a struct in Go, as far as the struct's schema does not tell them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct GoFields {
    /// The names of the string, number and bool fields that are omitted if they have their zero value. Other optional fields are pointers.
    plain: Vec<Box<str>>,
    /// The zero values of the fields that are always written, by the names of the fields.
    pub(super) written: BTreeMap<Box<str>, Json>,
    /// The names of the fields' types, such as `v1.DNSPolicy`, where the schema does not tell them.
    pub(super) types: BTreeMap<Box<str>, Box<str>>,
    /// The names of the embedded structs that have the fields, such as `VolumeSource`. Go's errors contain these names.
    pub(super) embedded: BTreeMap<Box<str>, Box<str>>,
}

impl GoFields {
    /// The fields of an unknown struct.
    const UNKNOWN: GoFields = GoFields {
        plain: Vec::new(),
        written: BTreeMap::new(),
        types: BTreeMap::new(),
        embedded: BTreeMap::new(),
    };

    /// Whether a field is always written.
    pub(super) fn is_written(&self, field: &str, schema: &JsonSchema) -> bool {
        match self.written.is_empty() && self.plain.is_empty() {
            true => schema.required.iter().any(|required| required == field),
            false => self.written.contains_key(field),
        }
    }

    /// Whether a field is omitted if it has its zero value.
    pub(super) fn is_plain(&self, field: &str) -> bool {
        self.plain.iter().any(|plain| **plain == *field)
    }
}

impl Kubernetes {
    /// Returns the structure of the built-in kinds. It is unpacked on first use.
    pub fn get() -> &'static Self {
        static STRUCTURE: OnceLock<Kubernetes> = OnceLock::new();
        STRUCTURE.get_or_init(|| {
            let packed = include_bytes!("../../kubernetes/structure.json.gz");
            let mut text = Vec::new();
            let unpacked = GzDecoder::new(packed.as_slice()).read_to_end(&mut text);
            let read = unpacked.ok().map(|_| serde_json::from_slice(&text));
            read.and_then(Result::ok).unwrap_or_default()
        })
    }

    /// Whether an `apiVersion` has built-in kinds.
    pub fn knows(&self, api_version: &str) -> bool {
        self.kinds.contains_key(api_version)
    }

    /// All kinds: the `apiVersion`, the kind, and the name of the schema.
    pub(crate) fn all_kinds(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.kinds.iter().flat_map(|(version, kinds)| {
            let kinds = kinds.iter();
            kinds.map(move |(kind, name)| (version.as_str(), kind.as_str(), name.as_str()))
        })
    }

    /// The name of the schema of a kind's objects.
    pub(crate) fn name_of(&self, api_version: &str, kind: &str) -> Option<&str> {
        self.kinds.get(api_version)?.get(kind).map(String::as_str)
    }

    /// The name of the schema of a kind's objects, also if API servers decode these objects but cannot merge them.
    pub(crate) fn decoded_name_of(&self, api_version: &str, kind: &str) -> Option<&str> {
        let decoded = || Some(self.decoded.get(api_version)?.get(kind)?.as_str());
        self.name_of(api_version, kind).or_else(decoded)
    }

    /// The schema with this name. Other schemas refer to it by the name.
    pub(crate) fn schema(&self, name: &str) -> Option<&JsonSchema> {
        self.schemas.get(name)
    }

    /// The fields of a schema's struct in Go.
    pub(super) fn fields(&self, name: &str) -> &GoFields {
        static UNKNOWN: GoFields = GoFields::UNKNOWN;
        self.fields.get(name).unwrap_or(&UNKNOWN)
    }

    /// All schemas with their names.
    #[cfg(test)]
    pub(crate) fn schemas(&self) -> impl Iterator<Item = (&String, &JsonSchema)> {
        self.schemas.iter()
    }
}
