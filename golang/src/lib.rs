//! Go's standard library where CEL and Kubernetes make its behavior visible. Layer 0: no CEL, no Kubernetes, no IO.
//!
//! Kubernetes evaluates CEL in Go 1.26. What counts as a number, a duration, a URL or a regular expression, how each prints, and in which
//! order sorting leaves equal elements are therefore Go's. This crate answers the same in plain Rust:
//!
//! ```
//! use gavel_golang::{duration, quote, regex::Regex};
//!
//! assert_eq!(duration::parse("1h30m"), Some(5_400_000_000_000));   // nanoseconds
//! assert_eq!(quote::quote("tab\t"), r#""tab\t""#);                  // strconv.Quote
//! assert!(Regex::new(r"^\d+$")?.is_match("42"));                   // RE2: ASCII digits only
//! assert!(Regex::new(r"(?=look)ahead").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Calls whose time depends on their input take a [`work::Work`], which counts what they do and asks the host whether to go on. The crate
//! covers what CEL and Kubernetes need, and is no port of Go's library.

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
pub mod utf8;
pub mod work;
pub mod zone;

mod unicode;
