//! Estimates the cost of an expression before it is evaluated (cel-go `checker/cost.go`). As in Kubernetes, presence tests are free.
//!
//! Gavel reproduces upstream's estimates exactly, oddities included, because they decide which rules a cluster accepts: a rule that was
//! accepted must stay accepted. The estimate walks the tree in upstream's order. The order matters because paths share memory (see `path`).

mod bound;
mod call;
mod comprehension;
mod estimator;
mod parts;
mod path;
mod size;
mod tree;

use std::collections::HashMap;
use std::fmt;

use smol_str::SmolStr;

pub use bound::{Bound, KnownValue};
pub use parts::{HeavyPart, heaviest, heaviest_of_bound};

use estimator::Estimator;

use crate::check::CheckedAst;
use crate::cost::{CostEstimate, SizeEstimate};
use crate::types::Type;

/// The lowest and the highest cost of evaluating an expression, in cost units.
///
/// Calls whose function the checker did not resolve cost nothing, and neither do their arguments.
pub fn estimate(checked: &CheckedAst, sizes: &dyn SizeSource) -> CostEstimate {
    Estimator::new(checked, sizes).cost(checked.ast().root())
}

/// The bounds of an expression: no evaluation costs more, as long as the values have the sizes that `sizes` gives. Some evaluations cost
/// more than [`estimate`], which returns Kubernetes' estimates. For example, before Kubernetes 1.37, the cost of `startsWith` depends on
/// the length of the text, but its estimate on the length of the prefix. In [`estimate`], paths that share memory may also get the wrong
/// sizes.
///
/// ```
/// use gavel_engine::cost::SizeEstimate;
/// use gavel_engine::env::Env;
/// use gavel_engine::estimate::{SizeTable, bound};
/// use gavel_engine::stdlib;
/// use gavel_engine::types::Type;
///
/// let builder = Env::builder().variable("name", Type::String).variable("tags", Type::list(Type::String));
/// let builder = stdlib::TABLES.iter().fold(builder, |builder, rows| builder.overloads(rows));
/// let env = builder.build()?;
/// let sizes: SizeTable = [("name".into(), SizeEstimate { min: 0, max: 100 })].into_iter().collect();
/// let most = |text: &str| bound(&env.compile(text).expect("an expression"), &sizes).cost.map(|cost| cost.max);
/// assert_eq!(most("name.startsWith('a')"), Some(11));
/// assert_eq!(most("'a' in tags"), None);
/// # Ok::<(), gavel_engine::types::TypeTextError>(())
/// ```
pub fn bound(checked: &CheckedAst, sizes: &dyn SizeSource) -> Bound {
    Estimator::of_bounds(checked, sizes).bound()
}

/// The sizes of the host's data.
pub trait SizeSource: fmt::Debug {
    /// The size of the value at a path: its number of code points, bytes, elements or entries. `None` if the host does not know it.
    ///
    /// The first step of a path is a variable. Each later step is a field, or `@items` or `@indices` for a list, or `@keys` or `@values`
    /// for a map. A path is never empty. If a chain of selections and indices does not start at a variable, its path begins with the first
    /// step of the chain.
    fn size(&self, path: &[&str], ty: &Type) -> Option<SizeEstimate>;
}

/// A host that knows no sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSizes;

impl SizeSource for NoSizes {
    fn size(&self, _path: &[&str], _ty: &Type) -> Option<SizeEstimate> {
        None
    }
}

/// A table of sizes by path. The steps of a path are joined by dots: `request.items.@items`.
#[derive(Debug, Clone, Default)]
pub struct SizeTable(HashMap<SmolStr, SizeEstimate>);

impl FromIterator<(SmolStr, SizeEstimate)> for SizeTable {
    fn from_iter<I: IntoIterator<Item = (SmolStr, SizeEstimate)>>(sizes: I) -> Self {
        SizeTable(sizes.into_iter().collect())
    }
}

impl SizeSource for SizeTable {
    fn size(&self, path: &[&str], _ty: &Type) -> Option<SizeEstimate> {
        self.0.get(path.join(".").as_str()).copied()
    }
}
