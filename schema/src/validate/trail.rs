//! Paths as kube-openapi writes them.

use std::fmt;

/// The way from the root to a value. Each step borrows the one before it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Trail<'t> {
    /// The value that is validated.
    Root,
    /// A property.
    Property(&'t Trail<'t>, &'t str),
    /// A value of a map, or a required property: at the root, a dot comes before it.
    Entry(&'t Trail<'t>, &'t str),
    /// An element of a list.
    Index(&'t Trail<'t>, usize),
}

impl fmt::Display for Trail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut steps = Vec::new();
        let mut at = self;
        while let Trail::Property(before, _) | Trail::Entry(before, _) | Trail::Index(before, _) =
            at
        {
            steps.push(at);
            at = before;
        }
        let mut empty = true;
        for step in steps.iter().rev() {
            match step {
                Trail::Root => {}
                Trail::Property(_, name) if empty => f.write_str(name)?,
                Trail::Property(_, name) | Trail::Entry(_, name) => write!(f, ".{name}")?,
                Trail::Index(_, index) => write!(f, "[{index}]")?,
            }
            empty &= matches!(step, Trail::Property(_, ""));
        }
        Ok(())
    }
}
