//! Gavel for hosts that are not written in Rust: a C ABI for environments, programs, definitions and policies.
//!
//! `docs/embed-c.md` is the guide for C hosts; `include/gavel.h` is generated from this crate. The rules of the ABI:
//!
//! - Every function that can fail returns a [`GavelError`](error::GavelError), which is null on success. Results are written to `out`
//!   parameters.
//! - Handles are opaque and thread-safe: any number of threads can use one at the same time. Each has a function that frees it.
//! - Texts and bytes are passed as a pointer and a length. The library reads them during the call and keeps no pointer.
//! - A panic becomes an error of kind `Panic`. There is no global state.
//!
//! The guide begins with a short program. `capi/examples/embed.c` is a longer example with custom resources, policies, an authorizer and
//! cancellation. Programs in Rust use the crate `gavel` instead. Programs in Go use the module in `go/`.

pub mod abi;
mod arguments;
pub mod callbacks;
pub mod conditions;
pub mod decision;
pub mod definition;
pub mod environment;
pub mod error;
mod flat;
pub mod index;
pub mod json_value;
pub mod memory;
pub mod options;
pub mod policy;
pub mod program;
pub mod resource;
pub mod schema_rules;
mod stack;
pub mod value;
