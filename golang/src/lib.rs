//! The parts of Go's standard library whose behavior shows in CEL and Kubernetes. Layer 0: no CEL, no Kubernetes, no IO.
//!
//! Kubernetes evaluates CEL in Go 1.26. So Go determines which texts are numbers, durations, URLs or regular expressions, how each is
//! printed, and in which order equal elements are after sorting. This crate gives the same results in plain Rust:
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
//! Functions whose time depends on their input take a [`work::Work`], which counts their work and asks the host whether to continue. The
//! crate covers only what CEL and Kubernetes need; it is not a port of Go's library.

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
