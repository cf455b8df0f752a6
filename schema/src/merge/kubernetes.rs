//! The structure of Kubernetes' built-in kinds: `kubernetes/structure.json.gz`, which `kubernetes/extract.py` made of the
//! OpenAPI documents of Kubernetes 1.35 (kubernetes-sigs/kubectl-validate a97ccfac, Apache-2.0).

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use serde::Deserialize;

use crate::JsonSchema;

/// The structure of the built-in kinds.
#[derive(Debug, Default, Deserialize)]
pub struct Kubernetes {
    /// By `apiVersion` and kind the name of the schema.
    kinds: BTreeMap<String, BTreeMap<String, String>>,
    schemas: BTreeMap<String, JsonSchema>,
}

impl Kubernetes {
    /// The structure, which is unpacked when it is first asked for.
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

    /// Whether there are kinds of an `apiVersion`.
    pub fn knows(&self, api_version: &str) -> bool {
        self.kinds.contains_key(api_version)
    }

    /// All kinds: the `apiVersion`, the kind, and the name of the schema.
    pub(super) fn all_kinds(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.kinds.iter().flat_map(|(version, kinds)| {
            let kinds = kinds.iter();
            kinds.map(move |(kind, name)| (version.as_str(), kind.as_str(), name.as_str()))
        })
    }

    /// The name of the schema of a kind's objects.
    pub(super) fn name_of(&self, api_version: &str, kind: &str) -> Option<&str> {
        self.kinds.get(api_version)?.get(kind).map(String::as_str)
    }

    /// The schema of a name, by which others refer to it.
    pub(super) fn schema(&self, name: &str) -> Option<&JsonSchema> {
        self.schemas.get(name)
    }

    /// All schemas with their names.
    #[cfg(test)]
    pub(super) fn schemas(&self) -> impl Iterator<Item = (&String, &JsonSchema)> {
        self.schemas.iter()
    }
}
