//! The structure of Kubernetes' built-in kinds: `kubernetes/structure.json.gz`, which `kubernetes/extract.py` made of the
//! OpenAPI documents of Kubernetes 1.35 (kubernetes-sigs/kubectl-validate a97ccfac, Apache-2.0).

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use serde::Deserialize;

use super::MergeType;
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

    /// The type of objects of a kind.
    pub fn kind(&self, api_version: &str, kind: &str) -> Option<MergeType<'static>> {
        MergeType::named(self.kinds.get(api_version)?.get(kind)?)
    }

    /// The schema of objects of a kind.
    pub fn schema_of(&self, api_version: &str, kind: &str) -> Option<&JsonSchema> {
        self.schema(self.kinds.get(api_version)?.get(kind)?)
    }

    /// The schema of a name, by which others refer to it.
    pub fn schema(&self, name: &str) -> Option<&JsonSchema> {
        self.schemas.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_kinds_are_known_by_their_own_version() {
        let kubernetes = Kubernetes::get();
        assert!(kubernetes.kind("apps/v1", "Deployment").is_some());
        assert!(kubernetes.knows("autoscaling/v1"));
        assert!(kubernetes.kind("autoscaling/v1", "Scale").is_none());
        assert!(!kubernetes.knows("example.com/v1"));
    }

    #[test]
    fn all_references_lead_somewhere() {
        let kubernetes = Kubernetes::get();
        let unresolved = |schema: &JsonSchema| {
            let name = schema.unsupported.reference.as_deref();
            name.is_some_and(|name| MergeType::named(name).is_none())
        };
        assert!(kubernetes.schemas.len() > 700);
        for (name, schema) in &kubernetes.schemas {
            assert!(!schema.any(&unresolved), "{name}");
        }
    }
}
