//! The structure of Kubernetes' built-in kinds: `kubernetes/structure-*.json.gz`, which `kubernetes/extract.py` generated from the OpenAPI
//! documents and the Go types of the patch releases [`gavel_apimachinery::server::REPRODUCED`] of k8s.io/kubernetes (Apache-2.0).

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::iter;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use gavel_apimachinery::server::Server;
use gavel_apimachinery::version::KubeVersion;
use gavel_engine::value::Json;
use serde::Deserialize;

use crate::JsonSchema;

/// The structure of the built-in kinds in one version of Kubernetes. It is unpacked on first use.
pub struct Kubernetes {
    version: KubeVersion,
    packed: &'static [u8],
    unpacked: OnceLock<Structure>,
}

/// The oldest version.
static OLDEST: Kubernetes = Kubernetes::packed(
    34,
    include_bytes!("../../kubernetes/structure-1.34.json.gz"),
);

/// The later versions, the newest first.
static LATER: [Kubernetes; 3] = [
    Kubernetes::packed(
        37,
        include_bytes!("../../kubernetes/structure-1.37.json.gz"),
    ),
    Kubernetes::packed(
        36,
        include_bytes!("../../kubernetes/structure-1.36.json.gz"),
    ),
    Kubernetes::packed(
        35,
        include_bytes!("../../kubernetes/structure-1.35.json.gz"),
    ),
];

#[derive(Debug, Default, Deserialize)]
struct Structure {
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
    const fn packed(minor: u32, packed: &'static [u8]) -> Self {
        Kubernetes {
            version: KubeVersion::v1(minor),
            packed,
            unpacked: OnceLock::new(),
        }
    }

    /// The structure of the built-in kinds of an API server.
    pub fn of(server: Server) -> &'static Self {
        let mut later = LATER.iter();
        let found = later.find(|each| each.version <= server.kinds());
        found.unwrap_or(&OLDEST)
    }

    /// The first version of Kubernetes that has a kind, of those that Gavel knows; `None` if none has it. Unpacks the kinds of all versions
    /// if none has the kind.
    pub fn first_with(api_version: &str, kind: &str) -> Option<KubeVersion> {
        let mut oldest_first = iter::once(&OLDEST).chain(LATER.iter().rev());
        let found = oldest_first.find(|each| each.name_of(api_version, kind).is_some());
        found.map(|each| each.version)
    }

    fn structure(&self) -> &Structure {
        self.unpacked.get_or_init(|| {
            let mut text = Vec::new();
            let unpacked = GzDecoder::new(self.packed).read_to_end(&mut text);
            let read = unpacked.ok().map(|_| serde_json::from_slice(&text));
            read.and_then(Result::ok).unwrap_or_default()
        })
    }

    /// Whether an `apiVersion` has built-in kinds.
    pub fn knows(&self, api_version: &str) -> bool {
        self.structure().kinds.contains_key(api_version)
    }

    /// All kinds: the `apiVersion`, the kind, and the name of the schema.
    pub(crate) fn all_kinds(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.structure().kinds.iter().flat_map(|(version, kinds)| {
            let kinds = kinds.iter();
            kinds.map(move |(kind, name)| (version.as_str(), kind.as_str(), name.as_str()))
        })
    }

    /// The name of the schema of a kind's objects.
    pub(crate) fn name_of(&self, api_version: &str, kind: &str) -> Option<&str> {
        let kinds = self.structure().kinds.get(api_version)?;
        kinds.get(kind).map(String::as_str)
    }

    /// The name of the schema of a kind's objects, also if API servers decode these objects but cannot merge them.
    pub(crate) fn decoded_name_of(&self, api_version: &str, kind: &str) -> Option<&str> {
        let decoded = &self.structure().decoded;
        let decoded = || Some(decoded.get(api_version)?.get(kind)?.as_str());
        self.name_of(api_version, kind).or_else(decoded)
    }

    /// The schema with this name. Other schemas refer to it by the name.
    pub(crate) fn schema(&self, name: &str) -> Option<&JsonSchema> {
        self.structure().schemas.get(name)
    }

    /// The fields of a schema's struct in Go.
    pub(super) fn fields(&self, name: &str) -> &GoFields {
        static UNKNOWN: GoFields = GoFields::UNKNOWN;
        self.structure().fields.get(name).unwrap_or(&UNKNOWN)
    }

    /// All schemas with their names.
    #[cfg(test)]
    pub(crate) fn schemas(&self) -> impl Iterator<Item = (&String, &JsonSchema)> {
        self.structure().schemas.iter()
    }
}

impl fmt::Debug for Kubernetes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kubernetes {}", self.version)
    }
}

#[cfg(test)]
mod tests {
    use gavel_apimachinery::server::REPRODUCED;

    use super::*;

    #[test]
    fn each_version_has_its_own_kinds() {
        let newest_first = LATER.iter().chain([&OLDEST]);
        let newest_first: Vec<_> = newest_first.map(|each| each.version).collect();
        let reproduced = REPRODUCED.iter().rev().map(|(version, _)| *version);
        assert_eq!(newest_first, reproduced.collect::<Vec<_>>());
        for (server, expected) in [("1.20", 34), ("1.35", 35), ("1.36.4", 36), ("1.99", 37)] {
            let found = Kubernetes::of(server.parse().unwrap());
            assert_eq!(found.version, KubeVersion::v1(expected), "{server}");
        }
    }
}
