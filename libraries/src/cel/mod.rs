//! CEL's own extension libraries, as cel-go 0.26 defines them. Each module has the rows of one library.

pub mod bindings;
pub mod encoders;
pub mod format;
mod limit;
pub mod lists;
pub mod math;
mod members;
pub mod network;
pub mod optionals;
pub mod sets;
pub mod strings;
pub mod two_variable;
