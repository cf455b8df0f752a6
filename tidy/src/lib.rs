//! The structure of the workspace, read from its sources: crates with their dependencies, and files with what they use of each
//! other. The tests of this crate compare it with ARCHITECTURE.md.
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
