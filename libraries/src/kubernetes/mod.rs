//! The libraries that Kubernetes adds to CEL (apiserver `pkg/cel/library`), and the types of their values.

pub mod authorizer;
pub mod cidr;
pub mod equality;
pub mod format;
pub mod ip;
pub mod json_patch;
pub mod lists;
pub mod quantity;
pub mod regex;
pub mod semver;
pub mod urls;
pub mod values;
