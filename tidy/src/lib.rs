//! What the workspace is made of, read from its sources: crates and what they depend on, files and what they use of each
//! other. The tests of this crate hold that against ARCHITECTURE.md.
//!
//! It reads Rust as far as `use` lines and paths go, and needs no compiler: a name is followed through re-exports to the
//! file that defines it.

mod architecture;
mod circles;
mod lexer;
mod modules;
mod workspace;

pub use architecture::Architecture;
pub use circles::circles;
pub use modules::{Modules, Use};
pub use workspace::{Package, Workspace};
