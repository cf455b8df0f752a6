//! Types that a host brings.

use std::fmt;

use crate::types::Type;
use crate::value::ObjectKind;

/// Named types with fields, beside those of the language.
pub trait TypeProvider: fmt::Debug + Send + Sync {
    /// The type of this name.
    fn find_type(&self, name: &str) -> Option<Type>;

    /// The type of a field of a named type.
    fn field_type(&self, type_name: &str, field: &str) -> Option<Type>;

    /// How the objects behave that struct literals of a type make. None where there are no such values: literals of the
    /// type check, and fail when they are evaluated.
    fn object_kind(&self, _type_name: &str) -> Option<ObjectKind> {
        None
    }
}
