//! Behaviours of Go's standard library that CEL makes visible, in plain Rust.
//!
//! Kubernetes evaluates CEL in Go 1.26, so number and time texts, what counts as one, and the order of ties follow Go.
//! Nothing here knows CEL's types.

pub mod base64;
pub mod duration;
pub mod float;
pub mod integer;
pub mod netip;
pub mod quote;
pub mod regex;
pub mod sort;
pub mod time;
pub mod url;
pub mod work;
pub mod zone;

mod unicode;
