//! The values of variables.

use smallvec::SmallVec;

use crate::value::{Value, same_text};

/// The variables of an evaluation with their values.
#[derive(Debug, Clone, Default)]
pub struct Activation<'a> {
    bindings: SmallVec<[(&'a str, Value<'a>); 8]>,
}

impl<'a> Activation<'a> {
    /// An activation without variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Binds a value to a variable. It replaces an earlier value of the variable.
    #[inline]
    pub fn bind(&mut self, name: &'a str, value: impl Into<Value<'a>>) -> &mut Self {
        let value = value.into();
        match self.bindings.iter_mut().find(|(known, _)| *known == name) {
            Some(binding) => binding.1 = value,
            None => self.bindings.push((name, value)),
        }
        self
    }

    /// The value of a variable; `None` if the variable is not bound.
    #[inline]
    pub fn resolve(&self, name: &str) -> Option<Value<'a>> {
        self.bindings
            .iter()
            .find(|(known, _)| same_text(known, name))
            .map(|(_, value)| *value)
    }
}
