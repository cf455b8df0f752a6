//! CustomResourceDefinitions: their rules compiled and costed, their objects validated. Layer 3: no IO, no clock.

pub mod decode;
pub mod definition;
pub mod resource;
pub mod rule;
mod told;

pub use resource::CompiledCrd;
