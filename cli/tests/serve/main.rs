//! `gavel serve` as an API server uses it: the tests run the real binary, and send requests over TLS.
#![cfg(test)]

mod attacks;
mod bounds;
mod certificates;
mod deploy;
mod endings;
mod floods;
mod hostile;
mod mutations;
#[expect(dead_code, reason = "other tests use the rest of this module")]
#[path = "../program/mod.rs"]
mod program;
mod reload;
mod reviews;
mod server;
mod start;
mod untaken;
