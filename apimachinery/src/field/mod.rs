//! Paths of fields, and errors of fields (apimachinery `pkg/util/validation/field`).

mod error;
mod path;

pub use error::{BadValue, Error, ErrorType, ExpressionPlace, aggregate};
pub use path::Path;
