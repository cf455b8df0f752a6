//! Custom resources against their definitions, as an API server takes them.

mod checked;
mod definitions;
mod key;
mod object;

pub use checked::Checked;
pub use definitions::KnownDefinitions;
pub use key::Key;
pub use object::{Taken, check};
