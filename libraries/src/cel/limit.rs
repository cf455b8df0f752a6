//! How long a computed text may be.

use gavel_engine::error::EvalError;

/// A short call could ask for more memory than there is, before its cost is counted: `text.replace('', text)` squares a
/// length. No text that a cost limit of Kubernetes lets through is longer.
const MAX_BYTES: usize = 1 << 26;

/// Fails where a text has become too long.
pub(super) fn check_length(text: &str) -> Result<(), EvalError> {
    if text.len() > MAX_BYTES {
        return Err(EvalError::new(format!(
            "the result is longer than {MAX_BYTES} bytes"
        )));
    }
    Ok(())
}
