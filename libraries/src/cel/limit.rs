//! Texts that grow in the arena, within its memory limit.

use bumpalo::collections::String;
use gavel_engine::decl::CallContext;
use gavel_engine::error::EvalError;

/// Appends to a text that grows in the arena.
///
/// # Errors
///
/// The arena has no room for the text, or the host interrupts the evaluation.
pub(super) fn push_str<'a>(
    call: &CallContext<'a>,
    text: &mut String<'a>,
    part: &str,
) -> Result<(), EvalError> {
    let length = text.len().saturating_add(part.len());
    if length > text.capacity() {
        let grown = text.capacity().saturating_mul(2).max(length);
        call.arena.reserve(grown)?;
    }
    call.work(part.len().saturating_add(8))?;
    text.push_str(part);
    Ok(())
}
