//! The names of types.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The name of a type with fields, or of a type parameter. It takes one word, so that a [`Type`](super::Type) fits into two registers.
/// Cloning is cheap.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TypeName(Arc<Box<str>>);

impl TypeName {
    /// The name as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for TypeName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<T: Into<Box<str>>> From<T> for TypeName {
    fn from(name: T) -> Self {
        TypeName(Arc::new(name.into()))
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}
