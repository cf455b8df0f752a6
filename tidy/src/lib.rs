//! The structure of the workspace, read from its sources: crates with their dependencies, and files with the names that they use from each
//! other. The tests of this crate compare it with ARCHITECTURE.md.
//!
//! It needs no compiler, because it reads only `use` lines and paths. A name is followed through re-exports to the file that defines it.

mod architecture;
mod circles;
mod lexer;
mod modules;
mod workspace;

pub use architecture::Architecture;
pub use circles::circles;
pub use modules::{Modules, Use};
pub use workspace::{Package, Workspace};
