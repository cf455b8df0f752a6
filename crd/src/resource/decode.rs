//! The decoding of objects.

use gavel_apimachinery::serializer::DecodeError;
use gavel_engine::value::Json;

use super::compile::CompiledCrd;
use crate::decode::{Decoder, Source};

/// How an object is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeOptions {
    /// The source of the object; by default a request.
    pub source: Source,
    /// Whether to drop unknown fields, and null where it is not allowed. Default: true.
    pub prune: bool,
    /// Whether defaults are set. Default: true.
    pub default: bool,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        DecodeOptions {
            source: Source::Request,
            prune: true,
            default: true,
        }
    }
}

/// A decoded object.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The object.
    pub object: Json,
    /// The paths of unknown fields: first those in the metadata, then those that the schema does not declare, then those in embedded
    /// metadata. Clients choose whether unknown fields are warnings or errors.
    pub unknown_fields: Vec<String>,
}

impl CompiledCrd {
    /// Decodes an object as an API server does before validation. If the object is not of the definition's group and kind, its unknown
    /// fields are preserved, except those in the metadata, and no defaults are set.
    ///
    /// # Errors
    ///
    /// The object is malformed: for example, its `kind` is not a string, or a field of its metadata has the wrong type. Or its
    /// defaults take too much memory ([`DefaultsTooLarge`](gavel_schema::default::DefaultsTooLarge)).
    pub fn decode(&self, mut object: Json, options: DecodeOptions) -> Result<Decoded, DecodeError> {
        let decoder = Decoder {
            group: &self.group,
            kind: &self.kind,
            schema: &|version| self.version(version).ok()?.structural(),
            preserve_unknown_fields: self.preserves_unknown_fields || !options.prune,
            defaults: options.default,
        };
        let unknown_fields = decoder.decode(&mut object, options.source)?;
        Ok(Decoded {
            object,
            unknown_fields,
        })
    }
}
