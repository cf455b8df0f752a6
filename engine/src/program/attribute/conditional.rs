//! Conditionals, `a ? b : c`: chains whose base is one of two branches.

use super::Reached;
use crate::error::EvalError;
use crate::program::frame::Frame;
use crate::program::tree::{Attribute, Base, Conditional};
use crate::value::{Truth, Value};

impl Attribute {
    /// Evaluates the condition of the chain's base and chooses a branch.
    pub(super) fn branch<'a>(
        &self,
        conditional: &'a Conditional,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<&'a Attribute, EvalError> {
        match conditional.condition.eval_bool(frame) {
            Ok(Truth::True) => Ok(&conditional.truthy),
            Ok(Truth::False) => Ok(&conditional.falsy),
            Err(error) => Err(error.at(self.id)),
        }
    }

    /// Evaluates a conditional that no selection or index follows, and stores its value in `place`.
    pub(super) fn choose<'a>(
        &self,
        conditional: &'a Conditional,
        place: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        let branch = self.branch(conditional, frame)?;
        let reached = match &branch.base {
            Base::Operand(operand) if branch.is_bare() => {
                operand.eval_into(place, frame)?;
                if place.is_plain() {
                    return Ok(());
                }
                Reached::at(*place, frame)
            }
            _ => branch.reach(frame)?,
        };
        *place = self.settle(reached, frame)?;
        Ok(())
    }
}
