//! A function in an environment: its overloads, in the order of their declaration.

use std::sync::Arc;

use smol_str::SmolStr;

use super::{CallShape, Calls, LiteralRules, Overload};
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
    /// How calls are computed, planned and charged.
    pub calls: Calls,
}

impl FunctionDecl {
    /// Adds an overload, unless the function has an overload with its id.
    pub(super) fn add(&mut self, overload: OverloadDecl) {
        if self.overloads.iter().all(|known| known.id != overload.id) {
            if let Some(rule) = overload.calls.literals {
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
            calls: row.calls,
        })
    }

    /// An overload that is declared for checking only.
    pub fn declared(id: SmolStr, signature: Signature) -> Self {
        OverloadDecl {
            id,
            signature,
            calls: Calls::DECLARED,
        }
    }
}
