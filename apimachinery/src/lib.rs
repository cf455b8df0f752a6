//! What all of Kubernetes' API shares, whatever the resource (k8s.io/apimachinery): versions, names and formats,
//! field paths, validation errors, JSON as Go writes it. Layer 1: knows no CEL, no IO.

pub mod field;
pub mod formats;
pub mod json;
pub mod labels;
pub mod meta;
pub mod names;
pub mod serializer;
pub mod server;
pub mod version;
pub mod webhook;
