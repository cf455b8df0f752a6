//! The rules of a schema's node.

mod field_path;

pub use field_path::{Brackets, FieldPath, FieldPathError};
