//! Texts for bytes (cel-go `ext/encoders.go`).

use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{DecodeError, Engine};
use gavel_engine::cost::Cost;
use gavel_engine::decl::{CallContext, Implementation, Overload};
use gavel_engine::error::EvalError;
use gavel_engine::value::Value;

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

const PADDED: GeneralPurpose = engine(DecodePaddingMode::RequireCanonical);
const UNPADDED: GeneralPurpose = engine(DecodePaddingMode::RequireNone);

/// Go looks neither at the bits of the last character that belong to no byte nor at line breaks.
const fn engine(padding: DecodePaddingMode) -> GeneralPurpose {
    let config = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(padding);
    GeneralPurpose::new(&STANDARD, config)
}

fn decode<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let [Value::String(text)] = *args else {
        return Err(EvalError::no_such_overload());
    };
    let text = text.replace(['\r', '\n'], "");
    let bytes = PADDED
        .decode(&text)
        .or_else(|_| UNPADDED.decode(&text))
        .map_err(|error| {
            let place = match error {
                DecodeError::InvalidByte(place, _)
                | DecodeError::InvalidLastSymbol(place, _)
                | DecodeError::InvalidLength(place) => place,
                DecodeError::InvalidPadding => text.len(),
            };
            EvalError::new(format!("illegal base64 data at input byte {place}"))
        })?;
    Ok(call.arena.bytes(&bytes))
}

fn encode<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [Value::Bytes(bytes)] => Ok(call.arena.string(&PADDED.encode(bytes))),
        _ => Err(EvalError::no_such_overload()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gavel_engine::value::Arena;

    #[test]
    fn decodes_with_and_without_padding() {
        let check = |text: &str, expected: Option<&[u8]>| {
            let arena = Arena::new();
            let decoded = decode(&CallContext { arena: &arena }, &[Value::String(text)]);
            match (decoded, expected) {
                (Ok(Value::Bytes(bytes)), Some(expected)) => assert_eq!(bytes, expected, "{text}"),
                (Err(error), None) => assert!(error.message().starts_with("illegal base64 data")),
                (decoded, expected) => panic!("{text}: {decoded:?}, expected {expected:?}"),
            }
        };
        check("", Some(b""));
        check("aGVsbG8=", Some(b"hello"));
        check("aGVsbG8", Some(b"hello"));
        check("aGVs\r\nbG8=\n", Some(b"hello"));
        check("YR==", Some(b"a"));
        for text in ["Y", "YQ=", "YQ===", "a-_b", "aGVsbG8=aGVsbG8=", " YQ=="] {
            check(text, None);
        }
    }
}
