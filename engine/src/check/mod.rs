//! The checker: determines the types and references of an expression (cel-go `checker/`).

mod calls;
mod checker;
mod dotted;
mod literals;
mod names;
mod unify;
pub mod validators;

pub use calls::is_mixed_comparison;
pub use checker::check;
pub use names::resolve_name;

use std::sync::{Arc, OnceLock};

use crate::ast::{Ast, Call, Expr, ExprId, ExprKind};
use crate::decl::{
    FunctionDecl, FunctionIndex, Functions, LiteralRule, LiteralRules, OverloadDecl,
};
use crate::issues::Issues;
use crate::types::Type;
use gavel_golang::regex::Regex;

/// A checked expression: the tree, with the type of every node and the reference of every name.
///
/// In the tree, dotted names of variables have become identifiers, and calls of dotted function names have become global calls.
#[derive(Debug, Clone)]
pub struct CheckedAst {
    ast: Ast,
    found: Findings,
    /// The functions of the environment, to which `found` refers.
    functions: Arc<Functions>,
    /// The regular expressions that the validator `regex_literals` parsed, each with the id of its literal.
    patterns: OnceLock<Vec<(ExprId, Regex)>>,
}

/// The result of a check.
#[derive(Debug, Clone, Default)]
struct Findings {
    /// The type and reference of each node, indexed by its id.
    meanings: Vec<Meaning>,
    /// The possible overloads of all calls that have several, one call after the other.
    candidates: Vec<u16>,
    /// The rules by which validators check literals, of all functions that the expression calls.
    literals: LiteralRules,
    /// The calls of functions with such rules.
    ruled_calls: RuledCalls,
    /// Whether the elements of at least one list or map literal may have different types. A validator then compares them.
    has_mixed_literal: bool,
}

/// The calls whose literals validators check. Most expressions have at most one, which is then found without a walk.
#[derive(Debug, Clone, Copy, Default)]
enum RuledCalls {
    #[default]
    None,
    One(ExprId),
    Several,
}

/// The type of a node, and the referent of its name or call.
#[derive(Debug, Clone)]
struct Meaning {
    ty: Type,
    referent: Referent,
}

impl Default for Meaning {
    fn default() -> Self {
        Meaning {
            ty: Type::Dyn,
            referent: Referent::None,
        }
    }
}

/// A [`Reference`] that borrows nothing.
#[derive(Debug, Clone, Copy)]
enum Referent {
    None,
    Variable,
    Type,
    Constant(i64),
    /// A function, and its only possible overload.
    Call {
        function: FunctionIndex,
        overload: u16,
    },
    /// A function, and the range of its possible overloads in [`Findings::candidates`].
    AnyOf {
        function: FunctionIndex,
        first: u32,
        end: u32,
    },
}

/// A check of a whole expression, such as a check of its literals. It runs after the types are known and reports problems.
pub type Validator = fn(&CheckedAst, &mut Issues);

/// The referent of a name or call.
#[derive(Debug, Clone, Copy)]
pub enum Reference<'c> {
    /// A variable. Its full name is the name of the node without a leading dot.
    Variable,
    /// The name of a type, used as a value. Like upstream, the checker also gives this reference to a variable whose values are types.
    /// Planning then fails with `reference to undefined type: x`.
    Type,
    /// A constant of an enumeration.
    Constant(i64),
    /// A function, with the overloads that the types of the arguments allow (indices into `function.overloads`).
    Call {
        /// The function.
        function: &'c FunctionDecl,
        /// The possible overloads.
        candidates: Candidates<'c>,
    },
}

/// The possible overloads of a call. If there are several, the types of the values decide at run time.
#[derive(Debug, Clone, Copy)]
pub enum Candidates<'c> {
    /// The types of the arguments allow exactly one overload.
    One(u16),
    /// The types of the arguments allow several overloads.
    Several(&'c [u16]),
}

impl<'c> Candidates<'c> {
    /// The positions of the overloads, in the order of their declaration.
    pub fn iter(self) -> impl Iterator<Item = usize> + 'c {
        let (one, several) = match self {
            Candidates::One(one) => (Some(one), [].as_slice()),
            Candidates::Several(several) => (None, several),
        };
        one.into_iter()
            .chain(several.iter().copied())
            .map(usize::from)
    }
}

impl Findings {
    /// Adds a call of a function with these rules.
    fn add_call(&mut self, id: ExprId, rules: LiteralRules) {
        if !rules.is_empty() {
            self.literals = self.literals.union(rules);
            self.ruled_calls = match self.ruled_calls {
                RuledCalls::None => RuledCalls::One(id),
                RuledCalls::One(_) | RuledCalls::Several => RuledCalls::Several,
            };
        }
    }

    /// Empty findings for nodes with ids below `id_bound`: every type is `dyn`.
    fn of(id_bound: usize) -> Self {
        Findings {
            meanings: (0..id_bound).map(|_| Meaning::default()).collect(),
            ..Findings::default()
        }
    }
}

impl CheckedAst {
    /// Wraps a parsed expression without checking it: every type is `dyn`, and names are resolved when the expression is planned.
    pub fn unchecked(ast: Ast) -> Self {
        CheckedAst {
            found: Findings::of(ast.id_bound()),
            ast,
            functions: Arc::default(),
            patterns: OnceLock::new(),
        }
    }

    /// The tree.
    pub fn ast(&self) -> &Ast {
        &self.ast
    }

    /// The type of the result.
    pub fn output_type(&self) -> &Type {
        self.type_of(self.ast.root().id)
    }

    /// The type of a node.
    pub fn type_of(&self, id: ExprId) -> &Type {
        type_in(&self.found.meanings, id)
    }

    /// The reference of a node.
    pub fn reference(&self, id: ExprId) -> Option<Reference<'_>> {
        self.resolve(self.found.meanings.get(id.index())?.referent)
    }

    fn resolve(&self, referent: Referent) -> Option<Reference<'_>> {
        Some(match referent {
            Referent::None => return None,
            Referent::Variable => Reference::Variable,
            Referent::Type => Reference::Type,
            Referent::Constant(value) => Reference::Constant(value),
            Referent::Call { function, overload } => Reference::Call {
                function: self.functions.at(function)?,
                candidates: Candidates::One(overload),
            },
            Referent::AnyOf {
                function,
                first,
                end,
            } => {
                let candidates = self.found.candidates.get(first as usize..end as usize)?;
                Reference::Call {
                    function: self.functions.at(function)?,
                    candidates: Candidates::Several(candidates),
                }
            }
        })
    }

    /// The regular expression that a validator parsed from this literal; `None` if no validator did.
    pub(crate) fn pattern(&self, literal: ExprId) -> Option<&Regex> {
        let mut patterns = self.patterns.get()?.iter();
        patterns.find_map(|(id, regex)| (*id == literal).then_some(regex))
    }

    /// The references of all nodes that have one.
    fn references(&self) -> impl Iterator<Item = Reference<'_>> {
        let meanings = self.found.meanings.iter();
        meanings.filter_map(|meaning| self.resolve(meaning.referent))
    }

    /// Whether a name of the expression refers to a variable with this name, even if it is the variable of a loop.
    pub fn uses_variable(&self, name: &str) -> bool {
        self.ast.walk().any(|expr| {
            let used = expr.as_ident();
            used.is_some_and(|used| used.strip_prefix('.').unwrap_or(used) == name)
                && matches!(
                    self.reference(expr.id),
                    Some(Reference::Variable | Reference::Type)
                )
        })
    }

    /// Iterates over the calls of the functions that `is_of` accepts. Each call comes after the calls below it.
    pub fn calls<'c>(
        &'c self,
        is_of: impl Fn(&FunctionDecl) -> bool + 'c,
    ) -> impl Iterator<Item = (Expr<'c>, Call<'c>)> {
        let is_call = move |reference: Reference<'_>| match reference {
            Reference::Call { function, .. } => is_of(function),
            _ => false,
        };
        // Most expressions call none of these functions, and their trees need not be walked.
        let walk = self.references().any(&is_call).then(|| self.ast.walk());
        walk.into_iter()
            .flatten()
            .filter_map(move |expr| match expr.kind() {
                ExprKind::Call(call) if self.reference(expr.id).is_some_and(&is_call) => {
                    Some((expr, call))
                }
                _ => None,
            })
    }

    /// The calls of functions with this rule. Each call comes after the calls below it.
    #[inline]
    pub fn calls_with(&self, rule: LiteralRule) -> Vec<(Expr<'_>, Call<'_>)> {
        match self.found.literals.has(rule) {
            true => self.ruled_calls(rule),
            // Most expressions call no such function.
            false => Vec::new(),
        }
    }

    fn ruled_calls(&self, rule: LiteralRule) -> Vec<(Expr<'_>, Call<'_>)> {
        match self.found.ruled_calls {
            RuledCalls::None => Vec::new(),
            RuledCalls::One(id) => {
                let expr = self.ast.expr(id);
                match expr.kind() {
                    ExprKind::Call(call) => vec![(expr, call)],
                    _ => Vec::new(),
                }
            }
            RuledCalls::Several => self
                .calls(move |function| function.literals.has(rule))
                .collect(),
        }
    }

    /// The overload of a call, if the static types allow exactly one.
    pub fn overload(&self, id: ExprId) -> Option<&Arc<OverloadDecl>> {
        match self.found.meanings.get(id.index())?.referent {
            Referent::Call { function, overload } => {
                let function = self.functions.at(function)?;
                function.overloads.get(usize::from(overload))
            }
            _ => None,
        }
    }
}

/// The type of a node; `dyn` if `meanings` has no entry for it.
fn type_in(meanings: &[Meaning], id: ExprId) -> &Type {
    meanings
        .get(id.index())
        .map_or(&Type::Dyn, |meaning| &meaning.ty)
}

#[cfg(test)]
mod tests;
