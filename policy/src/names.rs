//! Two names as a key.

use indexmap::Equivalent;

/// Two names, under which something is looked up among the same names owned.
#[derive(Debug, Hash)]
pub(crate) struct Names<'a>(pub(crate) &'a str, pub(crate) &'a str);

impl Equivalent<(String, String)> for Names<'_> {
    fn equivalent(&self, (first, second): &(String, String)) -> bool {
        self.0 == first && self.1 == second
    }
}
