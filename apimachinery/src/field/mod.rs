//! Paths of fields, and what is wrong with them (apimachinery `pkg/util/validation/field`).

mod error;
mod path;

pub use error::{BadValue, Error, ErrorType, ExpressionPlace, aggregate};
pub use path::Path;
