//! Reads the structure of the workspace from its sources: the dependencies of crates, and the names that files use from each other. The
//! tests of this crate compare the structure with ARCHITECTURE.md.
//!
//! The crate needs no compiler, because it reads only `use` declarations and paths. It follows a name through re-exports to the file that
//! defines the name.

mod architecture;
mod circles;
mod lexer;
mod modules;
mod workspace;

pub use architecture::Architecture;
pub use circles::circles;
pub use modules::{Modules, Use};
pub use workspace::{Package, Workspace};
