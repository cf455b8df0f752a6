//! Base64 for bytes (cel-go `ext/encoders.go`).

use ::base64::Engine;
use ::base64::engine::general_purpose::STANDARD;
use gavel_engine::body;
use gavel_engine::decl::{CallContext, Overload, row};
use gavel_engine::error::EvalError;
use gavel_engine::value::Value;
use gavel_golang::base64::{self, Encoding};

/// The functions of the encoders library.
#[rustfmt::skip] // One row per line.
pub const ENCODERS: &[Overload] = &[
    row("base64.decode", "base64_decode_string", "(string) -> bytes", body!(decode), "base64.decode('aGVsbG8=') == b'hello'"),
    row("base64.encode", "base64_encode_bytes", "(bytes) -> string", body!(encode), "base64.encode(b'hello') == 'aGVsbG8='"),
];

fn decode<'a>(call: &CallContext<'a>, text: &str) -> Result<Value<'a>, EvalError> {
    call.reserve(text.len())?;
    let bytes = base64::decode(text, Encoding::Standard)
        .or_else(|_| base64::decode(text, Encoding::StandardUnpadded))
        .map_err(|error| EvalError::new(error.to_string()))?;
    Ok(call.arena.bytes(&bytes))
}

fn encode<'a>(call: &CallContext<'a>, bytes: &[u8]) -> Result<Value<'a>, EvalError> {
    // Reserves memory for the encoded text and for its copy in the arena.
    call.reserve(bytes.len().saturating_mul(3))?;
    Ok(call.arena.string(&STANDARD.encode(bytes)))
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
                &[Value::from(text)],
                expected,
            );
        }
    }
}
