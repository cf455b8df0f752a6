//! Nodes of a parsed pattern, with the sizes that Go limits (`checkLimits` of Go's `regexp/syntax/parse.go`).

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, Look};

use super::tree::Tree;
use crate::unicode;

/// A node of a pattern: its tree, and the sizes of Go's node for it.
///
/// DIFFERENCE: Go factors common prefixes out of alternatives before it measures. The limits are so wide that this matters only for
/// patterns very close to a limit.
#[derive(Debug)]
pub(super) struct Node<T> {
    pub(super) tree: T,
    pub(super) shape: Shape,
    /// The height of this subtree; a leaf has height 1.
    pub(super) height: u32,
    /// The number of instructions in Go's program for this subtree.
    pub(super) size: u64,
    /// How often the nested counted repetitions of this subtree repeat their innermost node; 0 if there are none.
    pub(super) copies: u64,
    /// How often the node itself repeats, if it is a counted repetition; otherwise 1.
    pub(super) times: u64,
    /// The number of code points in Go's node: the characters of a literal, or the ends of the ranges of a class.
    pub(super) runes: usize,
    /// Whether Go has merged the node into the literal or class before it.
    pub(super) joined: bool,
}

/// The kinds of nodes that Go merges with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Literal { fold: bool },
    Class,
    Concat,
    Alternation,
    Other,
}

/// A repetition operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repeat {
    Star,
    Plus,
    Quest,
    /// `{min,max}`, where the maximum may be missing.
    Counted(u32, Option<u32>),
}

impl<T: Tree> Node<T> {
    fn leaf(tree: T, shape: Shape, runes: usize) -> Self {
        Node {
            tree,
            shape,
            height: 1,
            size: 1,
            copies: 0,
            times: 1,
            runes,
            joined: false,
        }
    }

    pub(super) fn empty() -> Self {
        Node::leaf(T::empty(), Shape::Other, 0)
    }

    /// An assertion.
    pub(super) fn look(look: Look) -> Self {
        Node::leaf(T::look(look), Shape::Other, 0)
    }

    /// One code point, in all its cases if `fold` is set. A surrogate matches nothing.
    pub(super) fn literal(code_point: u32, fold: bool) -> Self {
        let tree = T::literal(char::from_u32(code_point), fold);
        Node::leaf(tree, Shape::Literal { fold }, 1)
    }

    /// A class. Go treats a class of a single character, in one or two cases, as a literal.
    pub(super) fn class(class: ClassUnicode) -> Self {
        let mut points = class
            .ranges()
            .iter()
            .flat_map(|range| range.start()..=range.end());
        let (shape, runes) = match (points.next(), points.next(), points.next()) {
            (Some(_), None, None) => (Shape::Literal { fold: false }, 1),
            (Some(c), Some(_), None) if folds_to(c, &class) => (Shape::Literal { fold: true }, 1),
            _ => (Shape::Class, class.ranges().len().saturating_mul(2)),
        };
        Node::leaf(T::class(class), shape, runes)
    }

    /// The node of `.`, which matches a line feed only if `dot_all` is set. Go's node for `.` has no ranges.
    pub(super) fn dot(dot_all: bool) -> Self {
        Node::leaf(T::dot(dot_all), Shape::Class, 0)
    }

    /// Puts the node in a capturing group. `capture` builds the tree of the group from the tree of the node.
    pub(super) fn group(self, capture: impl FnOnce(T) -> T) -> Self {
        Node {
            tree: capture(self.tree),
            shape: Shape::Other,
            height: self.height.saturating_add(1),
            size: self.size.saturating_add(2),
            copies: self.copies,
            times: 1,
            runes: 0,
            joined: false,
        }
    }

    /// A repetition of the node.
    pub(super) fn repeat(self, repeat: Repeat, greedy: bool) -> Self {
        let (min, max) = match repeat {
            Repeat::Star => (0, None),
            Repeat::Plus => (1, None),
            Repeat::Quest => (0, Some(1)),
            Repeat::Counted(min, max) => (min, max),
        };
        let size = match repeat {
            Repeat::Star | Repeat::Counted(0, None) => self.size.saturating_add(2),
            Repeat::Plus | Repeat::Quest => self.size.saturating_add(1),
            Repeat::Counted(min, None) => {
                self.size.saturating_mul(u64::from(min)).saturating_add(1)
            }
            Repeat::Counted(min, Some(max)) => {
                let optional = u64::from(max.saturating_sub(min));
                self.size
                    .saturating_mul(u64::from(max))
                    .saturating_add(optional)
                    .max(1)
            }
        };
        let (times, copies) = match repeat {
            Repeat::Counted(_, Some(0)) => (1, 0),
            Repeat::Counted(0, None) => (1, self.copies),
            Repeat::Counted(min, max) => {
                let times = u64::from(max.unwrap_or(min));
                (times, times.saturating_mul(self.copies.max(1)))
            }
            _ => (1, self.copies),
        };
        let tree = T::repetition(self.tree, min, max, greedy);
        let height = self.height.saturating_add(1);
        Node {
            tree,
            shape: Shape::Other,
            height,
            size,
            copies,
            times,
            runes: 0,
            joined: false,
        }
    }

    /// Whether Go can merge the node with an adjacent class.
    pub(super) fn is_char_class(&self) -> bool {
        match self.shape {
            Shape::Class => true,
            Shape::Literal { .. } => self.size == 1,
            _ => false,
        }
    }

    /// Combines several nodes into one: as a sequence with [`Shape::Concat`], as alternatives with [`Shape::Alternation`].
    pub(super) fn combine(mut nodes: Vec<Self>, shape: Shape) -> Self {
        if nodes.len() == 1
            && let Some(node) = nodes.pop()
        {
            return node;
        }
        let whole_pieces = || nodes.iter().filter(|node| !node.joined);
        let pieces = whole_pieces().count();
        let alternatives = shape == Shape::Alternation;
        let size = if alternatives {
            // Each alternative but the last needs an instruction that chooses it. A merged class is one alternative.
            let choices = u64::try_from(pieces.saturating_sub(1)).unwrap_or(u64::MAX);
            whole_pieces().fold(choices, |size, node| size.saturating_add(node.size))
        } else {
            nodes
                .iter()
                .fold(0, |size: u64, node| size.saturating_add(node.size))
        };
        // Go merges a node with its parent if both are of the same kind.
        let level = |node: &Self| node.height.saturating_sub(u32::from(node.shape == shape));
        let height = nodes.iter().map(level).max().unwrap_or(0);
        let (merged_shape, height) = match (pieces, nodes.first()) {
            (1, _) if alternatives => (Shape::Class, 1),
            (1, Some(first)) => (first.shape, 1),
            _ => (shape, height.saturating_add(1)),
        };
        let copies = nodes.iter().map(|node| node.copies).max().unwrap_or(0);
        let runes = match pieces {
            1 => nodes
                .iter()
                .fold(0, |runes: usize, node| runes.saturating_add(node.runes)),
            _ => 0,
        };
        let trees = nodes.into_iter().map(|node| node.tree).collect();
        let tree = if alternatives {
            T::alternation(trees)
        } else {
            T::concat(trees)
        };
        Node {
            tree,
            shape: merged_shape,
            height,
            size,
            copies,
            times: 1,
            runes,
            joined: false,
        }
    }
}

/// Whether a class consists of a character and all characters that differ from it only in case.
fn folds_to(c: char, class: &ClassUnicode) -> bool {
    let mut folded = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
    unicode::fold_case(&mut folded);
    folded == *class
}
