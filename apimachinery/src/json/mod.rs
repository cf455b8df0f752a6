//! JSON as Kubernetes reads it and as Go writes it.

mod read;
mod write;

pub use read::{read, read_stream};
pub use write::{quoted, to_string};
