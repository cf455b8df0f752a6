//! Decodes objects of the API from JSON and writes them as Go does, with the same messages (apimachinery `pkg/runtime/serializer/json` and
//! `sigs.k8s.io/json`).

use std::fmt;

use gavel_golang::quote::quote;

mod api_type;
mod decoder;
mod encode;
mod error;
mod input;
mod scan;
mod values;

pub use decoder::{Aborted, Decoder};
pub use encode::ObjectWriter;
pub use error::{DecodeError, type_mismatch};
pub use input::{Source, Token};
pub use values::{Bytes, RawJson, Time};

/// A type of the Kubernetes API that is decoded from JSON and encoded as Go does: an object, or the value of one of its fields.
pub trait ApiValue: std::fmt::Debug {
    /// Decodes the next JSON value into `self`. As in Go, fields that the JSON does not contain are unchanged. `named` is the name of the
    /// innermost type in Go, such as `.FailurePolicyType`; it is empty for unnamed types.
    ///
    /// # Errors
    ///
    /// A type with its own decoder returns an error. All other errors are recorded in the decoder.
    fn decode(&mut self, decoder: &mut Decoder<'_>, named: &'static str) -> Result<(), Aborted>;

    /// Whether `omitempty` omits the value.
    fn is_empty(&self) -> bool;

    /// Writes the value as Go does.
    fn encode(&self, out: &mut String);

    /// The name of the type in Go's messages.
    fn go_type(decoder: &Decoder<'_>, named: &'static str) -> String
    where
        Self: Sized;
}

/// An object with named fields.
pub trait ApiStruct {
    /// The name of the type in Go, such as `v1.ObjectMeta`. The names of types in the package of the object's version begin with a dot:
    /// `.ParamKind`.
    fn go_name(&self) -> &'static str;

    /// The field with a name.
    fn member(&mut self, name: &str) -> Option<Member<'_>>;

    /// The names of the fields.
    fn member_names(&self) -> Vec<&'static str>;

    /// Writes the fields.
    fn encode_members(&self, writer: &mut ObjectWriter<'_>);
}

/// A field of a struct.
#[derive(Debug)]
pub struct Member<'m> {
    /// The name in JSON.
    pub name: &'static str,
    /// The argument `named` of [`ApiValue::decode`].
    pub named: &'static str,
    /// The embedded structs that contain the field, the innermost first.
    pub embedded: Vec<&'static str>,
    /// The value.
    pub value: &'m mut dyn ApiValue,
}

/// A decoded object with the errors of strict decoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<T> {
    /// The object.
    pub object: T,
    /// The errors that a strict decoder reports, at most 100, in the order in which they occur in the text.
    pub strict: Vec<StrictFault>,
}

/// An error that a strict decoder reports, such as `unknown field "spec.x"` or `duplicate field "metadata.name"`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StrictFault {
    /// The kind of the error.
    pub kind: StrictFaultKind,
    /// The path of the field.
    pub field: String,
}

/// The kind of an error that a strict decoder reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StrictFaultKind {
    /// The type has no such field.
    Unknown,
    /// The field is a duplicate.
    Duplicate,
}

impl fmt::Display for StrictFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            StrictFaultKind::Unknown => "unknown",
            StrictFaultKind::Duplicate => "duplicate",
        };
        write!(f, "{what} field {}", quote(&self.field))
    }
}

/// Decodes an object from JSON. `package` is the Go package of its types, as messages print it: the version, such as `v1`.
///
/// # Errors
///
/// The text is not JSON, or is nested more than 10,000 levels deep, or a value does not have the type of its field.
pub fn decode<'t, T: ApiValue + Default>(
    source: impl Into<Source<'t>>,
    package: &'static str,
) -> Result<Decoded<T>, DecodeError> {
    Decoder::new(source.into().open()?, package).read()
}

/// The `apiVersion` and `kind` of an object, empty if absent. Upstream ignores the case of these two names.
///
/// # Errors
///
/// The text is not a JSON object, or its `apiVersion` or `kind` is not a text.
pub fn version_and_kind<'t>(
    source: impl Into<Source<'t>>,
) -> Result<(String, String), DecodeError> {
    let read = source.into().open().and_then(|input| {
        let decoder = Decoder::new(input, "").ignoring_case();
        decoder.read::<VersionAndKind>()
    });
    let read = read.map_err(|DecodeError { field, message }| {
        let message = format!("couldn't get version/kind; json parse error: {message}");
        DecodeError::new(field, message)
    })?;
    Ok((read.object.api_version, read.object.kind))
}

crate::api_types! {
    /// The `apiVersion` and `kind` of an object.
    struct VersionAndKind("struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }") {
        /// The field `apiVersion`.
        "apiVersion" omit "" api_version: String;
        /// The field `kind`.
        "kind" omit "" kind: String;
    }
}

#[cfg(test)]
mod tests;
