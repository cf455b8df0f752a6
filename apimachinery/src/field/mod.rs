//! Paths of fields, and errors of fields (apimachinery `pkg/util/validation/field`).

mod error;
mod errors;
mod path;

pub use error::{BadValue, Error, ErrorType, ExpressionPlace, aggregate};
pub use errors::{ErrorSize, Errors, MAX_ERROR_BYTES};
pub use path::Path;
