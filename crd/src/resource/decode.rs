//! Objects as an API server reads them.

use gavel_engine::value::Json;

use super::compile::CompiledCrd;
use crate::decode::{Decoder, Source};

/// How an object is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Where the object comes from: a request, unless told otherwise.
    pub source: Source,
    /// Whether fields that the schema does not know are dropped, and null where it may not be. So it is unless told
    /// otherwise.
    pub prune: bool,
    /// Whether defaults are set. So it is unless told otherwise.
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

/// An object as an API server holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The object.
    pub object: Json,
    /// The paths of the fields that were unknown: those of the metadata, of the schema, of embedded metadata. A client is
    /// warned of them or refused because of them, as it wishes.
    pub unknown_fields: Vec<String>,
}

/// Why an object is refused before it is validated, in the API server's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(String);

impl CompiledCrd {
    /// Brings an object to the form in which an API server holds it and in which it is validated. What is no object of the
    /// definition's group and kind keeps its fields and gets no defaults.
    ///
    /// # Errors
    ///
    /// The object is refused: its type is no text, say, or a field of its metadata has a wrong type.
    pub fn decode(&self, mut object: Json, options: DecodeOptions) -> Result<Decoded, DecodeError> {
        let decoder = Decoder {
            group: &self.group,
            kind: &self.kind,
            schema: &|version| self.version(version).ok()?.structural(),
            preserve_unknown_fields: self.preserves_unknown_fields || !options.prune,
            defaults: options.default,
        };
        let unknown_fields = decoder.decode(&mut object, options.source);
        Ok(Decoded {
            unknown_fields: unknown_fields.map_err(DecodeError)?,
            object,
        })
    }
}
