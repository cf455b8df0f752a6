//! Texts for bytes (cel-go `ext/encoders.go`).

use ::base64::Engine;
use ::base64::engine::general_purpose::STANDARD;
use gavel_engine::cost::Cost;
use gavel_engine::decl::{CallContext, Implementation, Overload};
use gavel_engine::error::EvalError;
use gavel_engine::value::Value;
use gavel_golang::base64::{self, Encoding};

/// The functions.
pub const ENCODERS: &[Overload] = &[
    Overload {
        function: "base64.decode",
        id: "base64_decode_string",
        signature: "(string) -> bytes",
        implementation: Implementation::Typed(decode),
        cost: Cost::ONE,
        example: "base64.decode('aGVsbG8=') == b'hello'",
    },
    Overload {
        function: "base64.encode",
        id: "base64_encode_bytes",
        signature: "(bytes) -> string",
        implementation: Implementation::Typed(encode),
        cost: Cost::ONE,
        example: "base64.encode(b'hello') == 'aGVsbG8='",
    },
];

fn decode<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [Value::String(text)] = *args else {
        return Err(EvalError::no_such_overload());
    };
    let bytes = base64::decode(text, Encoding::Standard)
        .or_else(|_| base64::decode(text, Encoding::StandardUnpadded))
        .map_err(|error| EvalError::new(error.to_string()))?;
    Ok(call.arena.bytes(&bytes))
}

fn encode<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [Value::Bytes(bytes)] => Ok(call.arena.string(&STANDARD.encode(bytes))),
        _ => Err(EvalError::no_such_overload()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;

    #[test]
    fn decodes_with_and_without_padding() {
        for (text, expected) in [
            ("", Ok("[]")),
            ("aGVsbG8=", Ok("[104 101 108 108 111]")),
            ("aGVsbG8", Ok("[104 101 108 108 111]")),
            ("aGVs\r\nbG8=\n", Ok("[104 101 108 108 111]")),
            ("Y", Err("illegal base64 data at input byte 0")),
            ("YQ=", Err("illegal base64 data at input byte 2")),
            ("aGVs\n*", Err("illegal base64 data at input byte 5")),
        ] {
            check(
                ENCODERS,
                "base64_decode_string",
                &[Value::String(text)],
                expected,
            );
        }
    }
}
