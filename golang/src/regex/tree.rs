//! What a pattern is parsed into: the syntax tree of regex-syntax, or nothing if a caller only needs to know whether the pattern is valid.

use regex_syntax::hir::{Capture, Class, ClassUnicode, ClassUnicodeRange, Hir, Look, Repetition};

use crate::unicode;

/// The tree of a pattern.
pub(super) trait Tree: Sized {
    /// Matches the empty text.
    fn empty() -> Self;

    /// An assertion.
    fn look(look: Look) -> Self;

    /// A character, in all its cases if `fold` is set. `None` is a surrogate, which never matches.
    fn literal(character: Option<char>, fold: bool) -> Self;

    /// Any character of a class.
    fn class(class: ClassUnicode) -> Self;

    /// Any character, except for a line feed unless `dot_all` is set.
    fn dot(dot_all: bool) -> Self;

    /// A repetition of a tree.
    fn repetition(self, min: u32, max: Option<u32>, greedy: bool) -> Self;

    /// A capturing group with this number.
    fn capture(self, index: u32) -> Self;

    /// One tree after the other.
    fn concat(trees: Vec<Self>) -> Self;

    /// One of several trees.
    fn alternation(trees: Vec<Self>) -> Self;
}

impl Tree for Hir {
    fn empty() -> Self {
        Hir::empty()
    }

    fn look(look: Look) -> Self {
        Hir::look(look)
    }

    fn literal(character: Option<char>, fold: bool) -> Self {
        match character {
            None => Hir::fail(),
            Some(c) if fold => {
                let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
                unicode::fold_case(&mut class);
                Hir::class(Class::Unicode(class))
            }
            Some(c) => Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }

    fn class(class: ClassUnicode) -> Self {
        Hir::class(Class::Unicode(class))
    }

    fn dot(dot_all: bool) -> Self {
        let mut class = unicode::any();
        if !dot_all {
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
        }
        Hir::class(Class::Unicode(class))
    }

    fn repetition(self, min: u32, max: Option<u32>, greedy: bool) -> Self {
        Hir::repetition(Repetition {
            min,
            max,
            greedy,
            sub: Box::new(self),
        })
    }

    fn capture(self, index: u32) -> Self {
        Hir::capture(Capture {
            index,
            name: None,
            sub: Box::new(self),
        })
    }

    fn concat(trees: Vec<Self>) -> Self {
        Hir::concat(trees)
    }

    fn alternation(trees: Vec<Self>) -> Self {
        Hir::alternation(trees)
    }
}

impl Tree for () {
    fn empty() -> Self {}
    fn look(_: Look) -> Self {}
    fn literal(_: Option<char>, _: bool) -> Self {}
    fn class(_: ClassUnicode) -> Self {}
    fn dot(_: bool) -> Self {}
    fn repetition(self, _: u32, _: Option<u32>, _: bool) -> Self {}
    fn capture(self, _: u32) -> Self {}
    fn concat(_: Vec<Self>) -> Self {}
    fn alternation(_: Vec<Self>) -> Self {}
}
