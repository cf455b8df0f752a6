//! JSON Patch (apiserver `pkg/cel/library/jsonpatch.go`), for the policies that mutate.

use gavel_engine::cost::Cost;
use gavel_engine::cost::formulas::{nth, traversal};
use gavel_engine::decl::{CallContext, Overload};
use gavel_engine::error::EvalError;
use gavel_engine::value::Value;

use super::typed;

/// The functions.
pub const JSON_PATCH: &[Overload] = &[typed(
    "jsonpatch.escapeKey",
    "string_jsonpatch_escapeKey_string",
    "(string) -> string",
    escape_key,
    Cost::sizes(|sizes| traversal(sizes).with_result(nth(sizes, 0))).of_name(),
    "jsonpatch.escapeKey('k8s.io/my~label') == 'k8s.io~1my~0label'",
)];

/// The text as one step of a JSON pointer.
fn escape_key<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match args {
        [Value::String(text)] => Ok(call
            .arena
            .string(&text.replace('~', "~0").replace('/', "~1"))),
        _ => Err(EvalError::no_such_overload()),
    }
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
            let text = [Value::String(text)];
            check(
                JSON_PATCH,
                "string_jsonpatch_escapeKey_string",
                &text,
                Ok(expected),
            );
        }
    }
}
