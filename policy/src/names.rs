//! A key of two names.

use indexmap::Equivalent;

/// Two borrowed names, for lookups in a map whose keys are owned names.
#[derive(Debug, Hash)]
pub(crate) struct Names<'a>(pub(crate) &'a str, pub(crate) &'a str);

impl Equivalent<(String, String)> for Names<'_> {
    fn equivalent(&self, (first, second): &(String, String)) -> bool {
        self.0 == first && self.1 == second
    }
}
