//! The CEL language as Kubernetes evaluates it. Layer 0: no Kubernetes, no IO, no clock.

pub mod ast;
pub mod check;
pub mod cost;
pub mod decl;
pub mod env;
pub mod error;
pub mod estimate;
pub mod golang;
pub mod issues;
pub mod program;
pub mod source;
pub mod stdlib;
pub mod syntax;
pub mod types;
pub mod value;
