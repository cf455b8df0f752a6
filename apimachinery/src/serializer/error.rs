//! The error of decoding an object.

/// Why JSON cannot be decoded into an object of its type.
///
/// ```
/// use gavel_apimachinery::meta;
/// use serde_json::json;
///
/// let error = meta::check(&json!({"finalizers": ["a", 1]})).unwrap_err().within("metadata");
/// assert_eq!(error.field, "metadata.finalizers[1]");
/// assert_eq!(error.to_string(), "json: cannot unmarshal number into Go struct field ObjectMeta.finalizers of type string");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DecodeError {
    /// The path of the value that is wrong, such as `spec.versions[0].served`; empty for the whole object.
    pub field: String,
    /// The API server's message.
    pub message: String,
}

impl DecodeError {
    /// An error of the value at `field`; an empty field means the whole object.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        DecodeError {
            field: field.into(),
            message: message.into(),
        }
    }

    /// The error of an object in which the decoded value is the field with this name.
    #[must_use]
    pub fn within(mut self, name: &str) -> Self {
        if !self.field.is_empty() {
            self.field.insert(0, '.');
        }
        self.field.insert_str(0, name);
        self
    }

    /// Whether the error says that the object's `kind` does not exist in its `apiVersion`.
    pub fn is_of_kind(&self) -> bool {
        self.message.starts_with("no kind ")
    }

    /// The message without ` in scheme …`, which is a detail of upstream's code.
    pub fn plain(&self) -> &str {
        match self.message.split_once(" in scheme ") {
            Some((message, _)) if self.is_of_kind() => message,
            _ => &self.message,
        }
    }
}

/// Go's message for a value of a wrong type. `holder` is the innermost struct that contains the value, and `fields` are the names that lead
/// to the value, such as `metadata.name`; without names, the message is about the whole object.
///
/// ```
/// use gavel_apimachinery::serializer::type_mismatch;
///
/// let message = "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string";
/// assert_eq!(type_mismatch("number", "ObjectMeta", "metadata.name", "string"), message);
/// ```
pub fn type_mismatch(found: &str, holder: &str, fields: &str, go_type: &str) -> String {
    match fields {
        "" => format!("json: cannot unmarshal {found} into Go value of type {go_type}"),
        _ => format!(
            "json: cannot unmarshal {found} into Go struct field {holder}.{fields} of type {go_type}"
        ),
    }
}
