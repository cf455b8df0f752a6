//! Blocks: an expression whose common parts are computed once (cel-go `ext/bindings.go`).

use super::frame::{Frame, Slot};
use super::tree::Block;
use crate::error::EvalError;
use crate::value::Value;

impl Block {
    /// Computes the parts in order, so that evaluating a part never starts the evaluation of another part. Upstream computes a part when it
    /// is first read. If a part fails, reading the part returns the failure.
    #[inline(never)]
    pub(super) fn eval<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Value<'a>, EvalError> {
        for (slot, part) in &self.parts {
            let value = part.eval(frame);
            if let Err(error) = &value
                && error.is_fatal()
            {
                return value;
            }
            frame.set_slot(*slot, Slot::from(value));
        }
        self.result.eval(frame)
    }
}
