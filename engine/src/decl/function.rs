//! A function as an environment holds it: its overloads, in the order of their declaration.

use std::sync::Arc;

use smol_str::SmolStr;

use super::{Form, Implementation, LiteralRule, Overload, PatternFunction, Yield};
use crate::cost::Cost;
use crate::types::{Signature, TypeTextError};

/// A function with its overloads.
#[derive(Debug, Clone)]
pub struct FunctionDecl {
    /// The name.
    pub name: SmolStr,
    /// The overloads, in the order in which the checker tries them.
    pub overloads: Vec<Arc<OverloadDecl>>,
}

/// An overload, its signature read.
#[derive(Debug, Clone)]
pub struct OverloadDecl {
    /// The identity.
    pub id: SmolStr,
    /// What it takes and gives.
    pub signature: Signature,
    /// How it is computed.
    pub implementation: Implementation,
    /// How it is computed where the pattern, its second argument, is a constant.
    pub pattern: Option<PatternFunction>,
    /// How its calls are planned, where that is special.
    pub form: Option<Form>,
    /// What is known of its results.
    pub yields: Yield,
    /// What validators ask of the literals in a call.
    pub literals: Option<LiteralRule>,
    /// What a call costs.
    pub cost: Cost,
}

impl FunctionDecl {
    /// Whether validators ask this of the literals in calls of the function.
    pub fn has_literals(&self, rule: LiteralRule) -> bool {
        let mut overloads = self.overloads.iter();
        overloads.any(|overload| overload.literals == Some(rule))
    }
}

impl OverloadDecl {
    /// Reads a row.
    pub fn from_row(row: &Overload) -> Result<Self, TypeTextError> {
        Ok(OverloadDecl {
            id: SmolStr::new_static(row.id),
            signature: row.signature.parse()?,
            implementation: row.implementation,
            pattern: row.pattern,
            form: row.form,
            yields: row.yields,
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
            form: None,
            yields: Yield::Unsaid,
            literals: None,
            cost: Cost::ONE,
        }
    }
}
