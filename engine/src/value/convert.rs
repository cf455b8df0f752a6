//! Conversions between types (the `ConvertToType` methods of cel-go's `common/types`).
//!
//! Conversions that only widen a type or copy a text are implemented where they are used.

use std::fmt::Write;

use bumpalo::collections::String as ArenaString;

use super::{Arena, Duration, Repr, Timestamp, Value};
use crate::error::EvalError;
use gavel_golang::{duration, float, integer, time::OffsetTime, work::Work};

/// 2^63 and 2^64 as doubles.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;
const TWO_64: f64 = 18_446_744_073_709_551_616.0;

/// The error of a conversion that is not possible. `from` and `to` are the names of the types.
#[cold]
pub fn conversion_error(from: &str, to: &str) -> EvalError {
    EvalError::new(format!("type conversion error from '{from}' to '{to}'"))
}

/// `bool('true')`, with the spellings that Go accepts.
///
/// # Errors
///
/// The text is not a bool in one of these spellings.
pub fn bool_from_string(text: &str) -> Result<bool, EvalError> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        _ => Err(conversion_error("string", "bool")),
    }
}

/// `int(1.9)`, rounded towards zero. Both -2^63 and 2^63 are rejected.
///
/// # Errors
///
/// The result is out of range.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
pub fn int_from_double(double: f64) -> Result<i64, EvalError> {
    if double > -TWO_63 && double < TWO_63 {
        Ok(double as i64)
    } else {
        Err(EvalError::new("integer overflow"))
    }
}

/// `int(1u)`
///
/// # Errors
///
/// The result is out of range.
pub fn int_from_uint(uint: u64) -> Result<i64, EvalError> {
    i64::try_from(uint).map_err(|_| EvalError::new("integer overflow"))
}

/// `int('1')`: decimal digits with an optional sign.
///
/// # Errors
///
/// The text is not a number in this notation, or the number is out of range.
pub fn int_from_string(text: &str) -> Result<i64, EvalError> {
    integer::parse_int(text).ok_or_else(|| conversion_error("string", "int"))
}

/// `uint(1.9)`, rounded towards zero. Negative numbers are rejected.
///
/// # Errors
///
/// The result is out of range.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked"
)]
pub fn uint_from_double(double: f64) -> Result<u64, EvalError> {
    if (0.0..TWO_64).contains(&double) {
        Ok(double as u64)
    } else {
        Err(EvalError::new("unsigned integer overflow"))
    }
}

/// `uint(1)`
///
/// # Errors
///
/// The number is negative.
pub fn uint_from_int(int: i64) -> Result<u64, EvalError> {
    u64::try_from(int).map_err(|_| EvalError::new("unsigned integer overflow"))
}

/// `uint('1')`: decimal digits without a sign.
///
/// # Errors
///
/// The text is not a number in this notation, or the number is out of range.
pub fn uint_from_string(text: &str) -> Result<u64, EvalError> {
    integer::parse_uint(text).ok_or_else(|| conversion_error("string", "uint"))
}

/// `double('1.5')`: a number as Go's `strconv.ParseFloat` reads it.
///
/// # Errors
///
/// The text is not a number in this notation, or the number is out of range.
pub fn double_from_string(text: &str) -> Result<f64, EvalError> {
    float::parse(text).ok_or_else(|| conversion_error("string", "double"))
}

/// `duration('1h30m')`
///
/// # Errors
///
/// The text is not a duration, or the host interrupts the evaluation.
pub fn duration_from_string(text: &str, work: &Work<'_>) -> Result<Duration, EvalError> {
    let read = duration::parse_working(text, work)?;
    read.map(Duration)
        .ok_or_else(|| conversion_error("string", "google.protobuf.Duration"))
}

/// `timestamp('2024-01-01T00:00:00Z')`, which keeps the offset of the text.
///
/// # Errors
///
/// The text is not a timestamp in RFC 3339, or the instant is out of range.
pub fn timestamp_from_string(text: &str) -> Result<Timestamp, EvalError> {
    let time = OffsetTime::parse(text)
        .ok_or_else(|| conversion_error("string", "google.protobuf.Timestamp"))?;
    timestamp_in_range(Timestamp {
        seconds: time.unix_seconds,
        nanos: time.nanos,
        offset: time.offset_seconds,
    })
}

/// `timestamp(1)`: seconds since 1970, in UTC.
///
/// # Errors
///
/// The result is out of range.
pub fn timestamp_from_int(seconds: i64) -> Result<Timestamp, EvalError> {
    timestamp_in_range(Timestamp {
        seconds,
        nanos: 0,
        offset: 0,
    })
}

fn timestamp_in_range(time: Timestamp) -> Result<Timestamp, EvalError> {
    if (Timestamp::MIN_SECONDS..=Timestamp::MAX_SECONDS).contains(&time.seconds) {
        Ok(time)
    } else {
        Err(EvalError::new("timestamp overflow"))
    }
}

/// `string(b'text')`
///
/// # Errors
///
/// The bytes are not UTF-8.
pub fn string_from_bytes(bytes: &[u8]) -> Result<&str, EvalError> {
    str::from_utf8(bytes)
        .map_err(|_| EvalError::new("invalid UTF-8 in bytes, cannot convert to string"))
}

/// `string(x)` for a number, a duration or a timestamp.
///
/// # Errors
///
/// The value has another type, or the arena has no room for the text.
pub fn string_from<'a>(arena: &'a Arena, value: &Value<'_>) -> Result<&'a str, EvalError> {
    let mut text = ArenaString::new_in(arena.bump());
    // Writing to a string in the arena does not fail.
    let _ = match value.0 {
        Repr::Int(int) => write!(text, "{int}"),
        Repr::Uint(uint) => write!(text, "{uint}"),
        Repr::Double(double) => float::write_shortest(&mut text, double),
        Repr::Duration(Duration(nanos)) => duration::write_cel(&mut text, nanos),
        Repr::Timestamp(time) => time.write_rfc3339(&mut text),
        _ => return Err(conversion_error(value.type_name(), "string")),
    };
    Ok(text.into_bump_str())
}
