//! Finds entries of maps by two borrowed strings when the keys are pairs of owned strings.

use indexmap::Equivalent;

/// Two borrowed names, such as a group and a resource.
#[derive(Debug, Hash)]
pub(crate) struct Names<'a>(pub(crate) &'a str, pub(crate) &'a str);

impl Equivalent<(String, String)> for Names<'_> {
    fn equivalent(&self, (first, second): &(String, String)) -> bool {
        self.0 == first && self.1 == second
    }
}
