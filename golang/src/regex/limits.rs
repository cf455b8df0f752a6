//! Go's limits on the size of a pattern (`checkLimits` of Go's `regexp/syntax/parse.go`).

use super::error::Problem;
use super::node::{Node, Shape};

/// The nesting limit of nodes.
const MAX_HEIGHT: u32 = 1000;
/// The limit of instructions in Go's program: 128 MiB at 40 bytes each.
const MAX_SIZE: u64 = (128 << 20) / 40;
/// The limit of code points in all nodes together: 128 MiB at 4 bytes each.
const MAX_RUNES: usize = (128 << 20) / 4;

/// The counters that Go updates while it parses. Go computes sizes and heights of nodes only when the counters are large enough.
#[derive(Debug)]
pub(super) struct Limits {
    /// The nodes that Go has allocated.
    nodes: u64,
    /// The nodes that Go has freed and can reuse.
    free: u64,
    runes: usize,
    /// The product of the counts of all counted repetitions, at most [`MAX_SIZE`].
    repeats: u64,
    measures_sizes: bool,
    measures_heights: bool,
}

impl Limits {
    pub(super) fn new() -> Self {
        Limits {
            nodes: 0,
            free: 0,
            runes: 0,
            repeats: 1,
            measures_sizes: false,
            measures_heights: false,
        }
    }

    /// Counts a new node.
    pub(super) fn allocate(&mut self) {
        match self.free.checked_sub(1) {
            Some(free) => self.free = free,
            None => self.nodes = self.nodes.saturating_add(1),
        }
    }

    /// Counts a node that Go frees.
    pub(super) fn release(&mut self) {
        self.free = self.free.saturating_add(1);
    }

    /// Counts the node that Go creates to join several nodes, and the nodes that Go frees because the new node replaces them.
    pub(super) fn combine<T>(&mut self, nodes: &[Node<T>], shape: Shape) {
        if nodes.iter().filter(|node| !node.joined).count() > 1 {
            self.allocate();
            for _ in nodes.iter().filter(|node| node.shape == shape) {
                self.release();
            }
        }
    }

    /// Counts the code points of a node that is pushed on the stack.
    pub(super) fn push<T>(&mut self, node: &Node<T>) {
        self.runes = self.runes.saturating_add(node.runes);
    }

    /// Checks the newest node. When Go starts to measure sizes or heights, also checks all nodes on the stack.
    pub(super) fn check<'n, T: 'n>(
        &mut self,
        newest: &Node<T>,
        stack: impl Iterator<Item = &'n Node<T>>,
    ) -> Result<(), Problem> {
        if self.runes > MAX_RUNES {
            return Err(Problem::Large);
        }
        if !self.measures_sizes {
            self.repeats = self.repeats.saturating_mul(newest.times).min(MAX_SIZE);
        }
        let began = self.begin_to_measure();
        let (mut size, mut height) = (newest.size, newest.height);
        if began {
            for node in stack {
                size = size.max(node.size);
                height = height.max(node.height);
            }
        }
        if self.measures_sizes && size > MAX_SIZE {
            return Err(Problem::Large);
        }
        if self.measures_heights && height > MAX_HEIGHT {
            return Err(Problem::NestingDepth);
        }
        Ok(())
    }

    /// Starts to measure sizes or heights once the counters are large enough. Returns whether this call started either of them.
    fn begin_to_measure(&mut self) -> bool {
        let before = (self.measures_sizes, self.measures_heights);
        self.measures_sizes |= self.nodes >= MAX_SIZE.checked_div(self.repeats).unwrap_or(0);
        self.measures_heights |= self.nodes >= u64::from(MAX_HEIGHT);
        before != (self.measures_sizes, self.measures_heights)
    }
}
