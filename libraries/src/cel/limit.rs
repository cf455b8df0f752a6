//! Texts that grow in the arena, within its memory limit.

use bumpalo::collections::String;
use gavel_engine::decl::CallContext;
use gavel_engine::error::EvalError;

/// Appends to a text that grows in the arena.
///
/// # Errors
///
/// The arena has no room for the text, or the host interrupts the evaluation.
#[inline]
pub(super) fn push_str<'a>(
    call: &CallContext<'a>,
    text: &mut String<'a>,
    part: &str,
) -> Result<(), EvalError> {
    call.work(part.len().saturating_add(8))?;
    if part.len() > text.capacity().saturating_sub(text.len()) {
        grow(call, text, part.len())?;
    }
    text.push_str(part);
    Ok(())
}

/// Makes room for `more` more bytes.
#[cold]
fn grow<'a>(call: &CallContext<'a>, text: &mut String<'a>, more: usize) -> Result<(), EvalError> {
    let length = text.len().saturating_add(more);
    call.arena
        .reserve(text.capacity().saturating_mul(2).max(length))?;
    text.reserve(more);
    Ok(())
}
