//! JSON as Kubernetes reads it and as Go writes it.

mod depth;
mod read;
mod whole;
mod write;

pub use depth::is_within;
pub use read::{check, read, read_replacing, read_stream};
pub use whole::{double_to_int, with_whole_numbers};
pub use write::{double, double_text, go_text, go_type, kind, quoted, to_string};
