//! A function in an environment: its overloads, in the order of their declaration.

use std::sync::Arc;

use smol_str::SmolStr;

use super::{
    CallShape, Form, Implementation, LiteralRule, LiteralRules, Overload, PatternFunction, Reads,
    Specialize, TextTest, Yield,
};
use crate::cost::Cost;
use crate::types::{Signature, TypeTextError};

/// A function with its overloads.
#[derive(Debug, Clone)]
pub struct FunctionDecl {
    /// The name.
    pub name: SmolStr,
    /// The overloads, in the order in which the checker tries them.
    pub overloads: Vec<Arc<OverloadDecl>>,
    /// The rules by which validators check literals in calls: the union of the rules of all overloads.
    pub literals: LiteralRules,
    /// The shapes of the overloads' signatures, in the same order.
    pub(crate) shapes: Vec<CallShape>,
}

/// An overload with its parsed signature.
#[derive(Debug, Clone)]
pub struct OverloadDecl {
    /// The id.
    pub id: SmolStr,
    /// The parameter types and the result type.
    pub signature: Signature,
    /// How a call is computed.
    pub implementation: Implementation,
    /// The function that computes a call whose second argument, the pattern, is a constant; `None` for functions without a pattern.
    pub pattern: Option<PatternFunction>,
    /// Reads the receiver of a call if it is a constant text; `None` for functions that do not read constants.
    pub specialize: Option<Specialize>,
    /// A second implementation on Rust strings, for a function that takes two texts and returns a bool. Programs call it without creating
    /// CEL values. `None` for other functions.
    pub test: Option<TextTest>,
    /// How the planner plans calls; `None` for plain calls of a body.
    pub form: Option<Form>,
    /// The known properties of the calls' results.
    pub yields: Yield,
    /// The operands that calls only read.
    pub reads: Reads,
    /// The rule by which validators check literals in a call; `None` if there is no rule.
    pub literals: Option<LiteralRule>,
    /// The cost of a call.
    pub cost: Cost,
}

impl FunctionDecl {
    /// Adds an overload, unless the function has an overload with its id.
    pub(super) fn add(&mut self, overload: OverloadDecl) {
        if self.overloads.iter().all(|known| known.id != overload.id) {
            if let Some(rule) = overload.literals {
                self.literals = self.literals.union(rule.into());
            }
            self.shapes.push(CallShape::of(&overload.signature));
            self.overloads.push(Arc::new(overload));
        }
    }
}

impl OverloadDecl {
    /// Parses the signature of a row.
    ///
    /// # Errors
    ///
    /// The signature is malformed.
    pub fn from_row(row: &Overload) -> Result<Self, TypeTextError> {
        Ok(OverloadDecl {
            id: SmolStr::new_static(row.id),
            signature: row.signature.parse()?,
            implementation: row.implementation,
            pattern: row.pattern,
            specialize: row.specialize,
            test: row.test,
            form: row.form,
            yields: row.yields,
            reads: row.reads,
            literals: row.literals,
            cost: row.cost,
        })
    }

    /// An overload that is declared for checking only.
    pub fn declared(id: SmolStr, signature: Signature) -> Self {
        OverloadDecl {
            id,
            signature,
            implementation: Implementation::Declared,
            pattern: None,
            specialize: None,
            test: None,
            form: None,
            yields: Yield::Unsaid,
            reads: Reads::Unsaid,
            literals: None,
            cost: Cost::ONE,
        }
    }
}
