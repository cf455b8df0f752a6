//! Validates custom resources by their CustomResourceDefinitions, as an API server does.

mod checked;
mod definitions;
mod example;
mod key;
mod object;
mod probe;
mod rules;
mod status;

pub use checked::Checked;
pub use definitions::{KnownDefinition, KnownDefinitions};
pub use example::example;
pub use key::{Key, OldObjects, created_name};
pub use object::{Taken, check};
pub(crate) use probe::RuleProbe;
pub use rules::{DefinedRule, Outcomes, rules};
