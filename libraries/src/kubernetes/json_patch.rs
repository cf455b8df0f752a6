//! Helpers for JSON Patch in mutating policies (apiserver `pkg/cel/library/jsonpatch.go`).

use gavel_engine::body;
use gavel_engine::cost::formulas;
use gavel_engine::decl::{CallContext, Overload, row};
use gavel_engine::error::EvalError;
use gavel_engine::value::Value;

/// The functions for JSON Patch.
#[rustfmt::skip] // One row per line.
pub const JSON_PATCH: &[Overload] = &[row("jsonpatch.escapeKey", "string_jsonpatch_escapeKey_string", "(string) -> string", body!(escape_key), "jsonpatch.escapeKey('k8s.io/my~label') == 'k8s.io~1my~0label'").cost(formulas::COPY.of_name())];

/// The text escaped for use as one step of a JSON pointer.
fn escape_key<'a>(call: &CallContext<'a>, text: &str) -> Result<Value<'a>, EvalError> {
    // Reserves memory for two texts and a copy in the arena. Each byte may become two bytes in each of them.
    call.reserve(text.len().saturating_mul(6))?;
    let escaped = text.replace('~', "~0").replace('/', "~1");
    Ok(call.arena.string(&escaped))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;

    #[test]
    fn escapes_are_not_escaped_again() {
        for (text, expected) in [
            ("k8s.io/my~label", "k8s.io~1my~0label"),
            ("~1", "~01"),
            ("é", "é"),
            ("", ""),
        ] {
            let text = [Value::from(text)];
            check(
                JSON_PATCH,
                "string_jsonpatch_escapeKey_string",
                &text,
                Ok(expected),
            );
        }
    }
}
