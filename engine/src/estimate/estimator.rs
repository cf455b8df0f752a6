//! The state of an estimate: the known properties of nodes and of comprehension variables in scope.

use super::SizeSource;
use super::path::{Path, Paths};
use crate::check::CheckedAst;
use crate::cost::{CostEstimate, SizeEstimate};

/// The state of an estimate.
#[derive(Debug)]
pub(super) struct Estimator<'a> {
    pub(super) checked: &'a CheckedAst,
    pub(super) sizes: &'a dyn SizeSource,
    /// Whether the results are upper bounds instead of Kubernetes' estimates.
    pub(super) bounds: bool,
    pub(super) paths: Paths<'a>,
    /// The properties of nodes, by id.
    pub(super) nodes: Vec<NodeSize>,
    /// The variables of the comprehensions around the current node, outermost first.
    pub(super) locals: Vec<ScopedVariable<'a>>,
}

impl<'a> Estimator<'a> {
    pub(super) fn new(checked: &'a CheckedAst, sizes: &'a dyn SizeSource) -> Self {
        Estimator {
            checked,
            sizes,
            bounds: false,
            paths: Paths::default(),
            nodes: vec![NodeSize::default(); checked.ast().id_bound()],
            locals: Vec::new(),
        }
    }

    /// An estimator of upper bounds.
    pub(super) fn of_bounds(checked: &'a CheckedAst, sizes: &'a dyn SizeSource) -> Self {
        Estimator {
            bounds: true,
            paths: Paths::apart(),
            ..Estimator::new(checked, sizes)
        }
    }
}

/// The known properties of a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeSize {
    /// The cost of evaluating the node once.
    pub(super) cost: CostEstimate,
    pub(super) path: Path,
    pub(super) size: Option<SizeEstimate>,
    pub(super) entries: Option<EntrySize>,
}

impl Default for NodeSize {
    fn default() -> Self {
        NodeSize {
            cost: CostEstimate::ZERO,
            path: Path::default(),
            size: None,
            entries: None,
        }
    }
}

/// The sizes of the keys and values of a list or map.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntrySize {
    /// Whether the entries are those of a list, not of a map.
    pub(super) is_list: bool,
    /// The size of the keys, or of the indices of a list.
    pub(super) key: SizeEstimate,
    /// The size of the values.
    pub(super) value: SizeEstimate,
}

/// A variable of a comprehension.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScopedVariable<'a> {
    pub(super) name: &'a str,
    pub(super) path: Path,
    pub(super) size: Option<SizeEstimate>,
    pub(super) entries: Option<EntrySize>,
}

impl EntrySize {
    /// The smallest ranges that contain the sizes of both; `None` unless both are known.
    pub(super) fn union(a: Option<EntrySize>, b: Option<EntrySize>) -> Option<EntrySize> {
        let (a, b) = (a?, b?);
        Some(EntrySize {
            is_list: a.is_list,
            key: a.key.union(b.key),
            value: a.value.union(b.value),
        })
    }
}
