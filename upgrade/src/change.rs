//! The changes that an upgrade causes.

pub use gavel_apimachinery::server::Effect;

use crate::cause::Cause;
use crate::facts::{Key, Topic};

/// A difference between the answers of two API servers about an object or a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The topic.
    pub topic: Topic,
    /// The field, in the notation of the manifest; empty for the whole object.
    pub field: String,
    /// The kind or expression, if the field alone does not identify the change; otherwise empty.
    pub about: String,
    /// The answer of the server before the upgrade. `None` if it has no error or warning: the object is accepted, the expression compiles,
    /// or the request is allowed.
    pub before: Option<String>,
    /// The answer of the server after the upgrade.
    pub after: Option<String>,
    /// The causes of the change.
    pub causes: Vec<Cause>,
}

impl Change {
    pub(crate) fn new(
        key: Key,
        before: Option<String>,
        after: Option<String>,
        causes: Vec<Cause>,
    ) -> Self {
        Change {
            topic: key.topic,
            field: key.field,
            about: key.about,
            before,
            after,
            causes,
        }
    }

    /// What the change affects: acceptance or a value, the cost, or only the wording.
    pub fn effect(&self) -> Effect {
        match self.topic {
            Topic::Estimate | Topic::Cost => Effect::Cost,
            Topic::Warning | Topic::TypeChecking | Topic::Audit => Effect::Message,
            Topic::Mutation => Effect::Verdict,
            Topic::Creation | Topic::Compilation | Topic::Decision => {
                match self.before.is_some() && self.after.is_some() {
                    true => Effect::Message,
                    false => Effect::Verdict,
                }
            }
        }
    }
}
