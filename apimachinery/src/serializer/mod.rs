//! Objects of the API read from JSON and written as Go does it: the JSON serializer (apimachinery
//! `pkg/runtime/serializer/json`) over `sigs.k8s.io/json`, with its messages.

use std::fmt;

use gavel_golang::quote::quote;

mod api_type;
mod decoder;
mod encode;
mod input;
mod scan;
mod values;

pub use decoder::{Aborted, Decoder};
pub use encode::ObjectWriter;
pub use input::{Source, Token};
pub use values::{Bytes, RawJson, Time};

/// A value of an object of the API.
pub trait ApiValue: std::fmt::Debug {
    /// Reads the next value into this one: what is there and is not read anew stays, as in Go. `named` is what Go calls
    /// the innermost type where it has a name of its own (`.FailurePolicyType`), else empty.
    ///
    /// # Errors
    ///
    /// A value that reads itself cannot; all other faults are noted in the decoder.
    fn decode(&mut self, decoder: &mut Decoder<'_>, named: &'static str) -> Result<(), Aborted>;

    /// Whether `omitempty` leaves it out.
    fn is_empty(&self) -> bool;

    /// Writes it as Go does.
    fn encode(&self, out: &mut String);

    /// What Go calls the type.
    fn go_type(decoder: &Decoder<'_>, named: &'static str) -> String
    where
        Self: Sized;
}

/// An object with named fields.
pub trait ApiStruct {
    /// What Go calls the type: `v1.ObjectMeta`; `.ParamKind` in the package of the object's version.
    fn go_name(&self) -> &'static str;

    /// The field of a name.
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
    /// See [`ApiValue::decode`].
    pub named: &'static str,
    /// The embedded structs that hold it, the innermost first.
    pub embedded: Vec<&'static str>,
    /// The value.
    pub value: &'m mut dyn ApiValue,
}

/// An object as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<T> {
    /// The object.
    pub object: T,
    /// What a strict reader refuses, in the order of the text, at most 100.
    pub strict: Vec<StrictFault>,
}

/// What a strict reader refuses: `unknown field "spec.x"`, `duplicate field "metadata.name"`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StrictFault {
    /// What is wrong with the field.
    pub kind: StrictFaultKind,
    /// The path of the field.
    pub field: String,
}

/// What a strict reader finds wrong with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StrictFaultKind {
    /// The type has no such field.
    Unknown,
    /// It comes twice.
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

/// Reads an object from JSON. `package` is the Go package that messages name before its types: the version, such as `v1`.
///
/// # Errors
///
/// The text is no JSON, nested more than 10,000 deep, or a value is of another type than its field.
pub fn decode<'t, T: ApiValue + Default>(
    source: impl Into<Source<'t>>,
    package: &'static str,
) -> Result<Decoded<T>, String> {
    Decoder::new(source.into().open()?, package).read()
}

/// The `apiVersion` and `kind` of an object, empty where they are absent. Their names may be in any case, as upstream
/// reads them.
///
/// # Errors
///
/// The text is no JSON object, or they are no texts.
pub fn version_and_kind<'t>(source: impl Into<Source<'t>>) -> Result<(String, String), String> {
    let read = source.into().open().and_then(|input| {
        let decoder = Decoder::new(input, "").ignoring_case();
        decoder.read::<VersionAndKind>()
    });
    let read =
        read.map_err(|error| format!("couldn't get version/kind; json parse error: {error}"))?;
    Ok((read.object.api_version, read.object.kind))
}

crate::api_types! {
    /// What tells the type of an object.
    struct VersionAndKind("struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }") {
        /// `apiVersion`
        "apiVersion" omit "" api_version: String;
        /// `kind`
        "kind" omit "" kind: String;
    }
}

#[cfg(test)]
mod tests;
