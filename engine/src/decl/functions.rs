//! The functions of an environment.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::{FunctionDecl, LiteralRules, OverloadDecl};
use crate::ast::operators;

/// Functions, found by name or by index.
#[derive(Debug, Clone, Default)]
pub(crate) struct Functions {
    rows: Vec<FunctionDecl>,
    indices: FxHashMap<SmolStr, FunctionIndex>,
    /// The positions of the functions with names of [`operators::GIVEN`], in the order of that list.
    given: [Option<FunctionIndex>; operators::GIVEN.len()],
}

/// The position of a function in its [`Functions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FunctionIndex(u32);

impl Functions {
    /// The function with this name.
    pub(crate) fn index(&self, name: &str) -> Option<FunctionIndex> {
        self.indices.get(name).copied()
    }

    /// The function whose name is at this position of [`operators::GIVEN`].
    pub(crate) fn given(&self, position: usize) -> Option<FunctionIndex> {
        self.given.get(position).copied().flatten()
    }

    /// The function at this position.
    pub(crate) fn at(&self, index: FunctionIndex) -> Option<&FunctionDecl> {
        self.rows.get(index.0 as usize)
    }

    /// All functions, in the order of their declaration.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &FunctionDecl> {
        self.rows.iter()
    }

    /// Adds an overload of a function, unless the function has an overload with this id.
    pub(crate) fn add(&mut self, name: SmolStr, overload: OverloadDecl) {
        let next = FunctionIndex(u32::try_from(self.rows.len()).unwrap_or(u32::MAX));
        let index = *self.indices.entry(name.clone()).or_insert(next);
        if index == next {
            let position = operators::GIVEN.iter().position(|given| *given == name);
            if let Some(given) = position.and_then(|position| self.given.get_mut(position)) {
                *given = Some(index);
            }
            self.rows.push(FunctionDecl {
                name,
                overloads: Vec::new(),
                literals: LiteralRules::default(),
                shapes: Vec::new(),
            });
        }
        if let Some(function) = self.rows.get_mut(index.0 as usize) {
            function.add(overload);
        }
    }
}
