//! Evaluates `cel.block`: an expression whose common parts are computed once (cel-go `ext/bindings.go`).

use super::frame::{Frame, Slot};
use super::tree::Block;
use crate::error::EvalError;
use crate::value::Value;

impl Block {
    /// Computes the parts in order, then the result. If a part fails, its error is returned where the part is read. Upstream computes a
    /// part only when it is first read.
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
