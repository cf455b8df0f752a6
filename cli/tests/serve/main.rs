//! `gavel serve` as an API server meets it: the real binary, over TLS, with an HTTP client of its own.
#![cfg(test)]

mod attacks;
mod bounds;
mod certificates;
mod deploy;
mod endings;
mod floods;
mod hostile;
mod mutations;
#[path = "../program/mod.rs"]
mod program;
mod reload;
mod reviews;
mod server;
