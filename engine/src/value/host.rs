//! What a host contributes to comparisons: it may interrupt them, and its values may have types of their own.

use std::borrow::Cow;
use std::ops::Deref;

use gavel_golang::work::{Interrupt, Work};

use super::{HostTypes, Reach, Value};
use crate::error::EvalError;

/// The host of an evaluation: its counter of work, and its types.
#[derive(Debug)]
pub struct Host<'a> {
    work: Work<'a>,
    types: Option<&'a dyn HostTypes>,
}

impl<'a> Host<'a> {
    /// A host that may interrupt comparisons, with the types of its values, if they have any.
    pub fn new(interrupt: Interrupt<'a>, types: Option<&'a dyn HostTypes>) -> Self {
        Host {
            work: Work::new(interrupt),
            types,
        }
    }

    /// The budget of a walk that announces its work to the host, and compares the values of the host by their types.
    pub fn reach(&self) -> Reach<'_> {
        Reach::typed(&self.work, self.types)
    }

    /// The name of the value's Go type, if the value is a list or map with a type of the host.
    pub fn go_type(&self, value: &Value<'_>) -> Option<&'static str> {
        self.types.and_then(|types| types.go_type(value))
    }

    /// Checks the type of a key of a list or map.
    ///
    /// # Errors
    ///
    /// The list or map has a type of the host, and no such keys.
    #[inline]
    pub(crate) fn check_key(
        &self,
        container: &Value<'_>,
        key: &Value<'_>,
    ) -> Result<(), EvalError> {
        match key.as_str().is_some() || self.types.is_none() {
            true => Ok(()),
            false => self.check_unusual_key(container, key),
        }
    }

    #[cold]
    fn check_unusual_key(&self, container: &Value<'_>, key: &Value<'_>) -> Result<(), EvalError> {
        let what = match (container.as_map(), key.as_int()) {
            (Some(_), _) => "map key",
            (None, None) => "index",
            (None, Some(_)) => return Ok(()),
        };
        if self.go_type(container).is_none() {
            return Ok(());
        }
        let found = self
            .go_type(key)
            .map_or_else(|| key.go_type(), Cow::Borrowed);
        Err(EvalError::new(format!("unsupported {what} type: {found}")))
    }
}

impl Default for Host<'_> {
    /// A host that never interrupts, whose values are plain.
    fn default() -> Self {
        Host::new(None, None)
    }
}

impl<'a> Deref for Host<'a> {
    type Target = Work<'a>;

    #[inline]
    fn deref(&self) -> &Work<'a> {
        &self.work
    }
}
