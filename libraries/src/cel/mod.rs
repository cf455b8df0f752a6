//! The extension libraries of CEL itself, as cel-go 0.26 defines them. Each module is one library: its rows.

pub mod optionals;
pub mod strings;
pub mod two_variable;
