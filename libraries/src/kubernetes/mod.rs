//! The libraries that Kubernetes adds to CEL (apiserver `pkg/cel/library`), and the types of their values.

pub mod values;
