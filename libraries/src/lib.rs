//! CEL's extension libraries, and the environments of each Kubernetes version. Layer 1: on the engine alone, no IO.

pub mod cel;
mod cost;

pub mod version;

#[cfg(test)]
mod testing;
