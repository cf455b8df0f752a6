//! The CEL language as Kubernetes evaluates it. Layer 0: no Kubernetes, no IO, no clock.

pub mod ast;
pub mod golang;
pub mod issues;
pub mod source;
pub mod syntax;
