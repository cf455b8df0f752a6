//! Conversions: `bool`, `bytes`, `double`, `duration`, `dyn`, `int`, `string`, `timestamp`, `type` and `uint`.

use crate::body;
use crate::cost::formulas::{BYTES_TO_STRING, STRING_TO_BYTES};
use crate::decl::{CallContext, Form, LiteralRule, Overload, Yield, row};
use crate::error::EvalError;
use crate::value::{Duration, Timestamp, Value, convert};

#[rustfmt::skip] // One row per line.
pub(super) const ROWS: &[Overload] = &[
    row("type", "type", "(A) -> type(A)", body!(to_type), "type('a') == string").form(Form::Conversion).shared(),
    row("bool", "bool_to_bool", "(bool) -> bool", body!(identity), "bool(true)").form(Form::Conversion),
    row("bool", "string_to_bool", "(string) -> bool", body!(convert::bool_from_string), "bool('true')").form(Form::Conversion),
    row("bytes", "bytes_to_bytes", "(bytes) -> bytes", body!(identity), "bytes(b'a') == b'a'").form(Form::Conversion),
    row("bytes", "string_to_bytes", "(string) -> bytes", body!(str::as_bytes), "bytes('ä') == b'\\303\\244'").form(Form::Conversion).cost(STRING_TO_BYTES),
    row("double", "double_to_double", "(double) -> double", body!(identity), "double(1.5) == 1.5").form(Form::Conversion),
    row("double", "int64_to_double", "(int) -> double", body!(|int: i64| int as f64), "double(1) == 1.0").form(Form::Conversion),
    row("double", "string_to_double", "(string) -> double", body!(convert::double_from_string), "double('1e3') == 1000.0").form(Form::Conversion),
    row("double", "uint64_to_double", "(uint) -> double", body!(|uint: u64| uint as f64), "double(1u) == 1.0").form(Form::Conversion),
    row("duration", "duration_to_duration", "(duration) -> duration", body!(identity), "duration(duration('1h')) == duration('60m')").form(Form::Conversion).literals(LiteralRule::Duration),
    row("duration", "string_to_duration", "(string) -> duration", body!(to_duration), "duration('1h30m') == duration('5400s')").form(Form::Conversion).literals(LiteralRule::Duration),
    row("dyn", "to_dyn", "(A) -> dyn", body!(identity), "dyn(1) == 1.0").form(Form::Conversion).yields(Yield::Argument).shared(),
    row("int", "int64_to_int64", "(int) -> int", body!(identity), "int(1) == 1").form(Form::Conversion),
    row("int", "double_to_int64", "(double) -> int", body!(convert::int_from_double), "int(-1.9) == -1").form(Form::Conversion),
    row("int", "duration_to_int64", "(duration) -> int", body!(|duration: Duration| duration.0), "int(duration('1us')) == 1000").form(Form::Conversion),
    row("int", "string_to_int64", "(string) -> int", body!(convert::int_from_string), "int('-12') == -12").form(Form::Conversion),
    row("int", "timestamp_to_int64", "(timestamp) -> int", body!(|time: Timestamp| time.seconds), "int(timestamp('1970-01-01T00:01:00Z')) == 60").form(Form::Conversion),
    row("int", "uint64_to_int64", "(uint) -> int", body!(convert::int_from_uint), "int(1u) == 1").form(Form::Conversion),
    row("string", "string_to_string", "(string) -> string", body!(identity), "string('a') == 'a'").form(Form::Conversion).yields(Yield::Printed),
    row("string", "bool_to_string", "(bool) -> string", body!(|value: bool| if value { "true" } else { "false" }), "string(true) == 'true'").form(Form::Conversion).yields(Yield::Printed),
    row("string", "bytes_to_string", "(bytes) -> string", body!(convert::string_from_bytes), "string(b'a') == 'a'").form(Form::Conversion).yields(Yield::Printed).cost(BYTES_TO_STRING),
    row("string", "double_to_string", "(double) -> string", body!(to_string::<f64>), "string(1e6) == '1e+06'").form(Form::Conversion).yields(Yield::Printed),
    row("string", "duration_to_string", "(duration) -> string", body!(to_string::<Duration>), "string(duration('1h')) == '3600s'").form(Form::Conversion).yields(Yield::Printed),
    row("string", "int64_to_string", "(int) -> string", body!(to_string::<i64>), "string(-12) == '-12'").form(Form::Conversion).yields(Yield::Printed),
    row("string", "timestamp_to_string", "(timestamp) -> string", body!(to_string::<Timestamp>), "string(timestamp(0)) == '1970-01-01T00:00:00Z'").form(Form::Conversion).yields(Yield::Printed),
    row("string", "uint64_to_string", "(uint) -> string", body!(to_string::<u64>), "string(12u) == '12'").form(Form::Conversion).yields(Yield::Printed),
    row("timestamp", "timestamp_to_timestamp", "(timestamp) -> timestamp", body!(identity), "timestamp(timestamp(0)) == timestamp(0)").form(Form::Conversion).literals(LiteralRule::Timestamp),
    row("timestamp", "int64_to_timestamp", "(int) -> timestamp", body!(convert::timestamp_from_int), "timestamp(60) == timestamp('1970-01-01T00:01:00Z')").form(Form::Conversion).literals(LiteralRule::Timestamp),
    row("timestamp", "string_to_timestamp", "(string) -> timestamp", body!(convert::timestamp_from_string), "timestamp('1970-01-01T01:00:00+01:00') == timestamp(0)").form(Form::Conversion).literals(LiteralRule::Timestamp),
    row("uint", "uint64_to_uint64", "(uint) -> uint", body!(identity), "uint(1u) == 1u").form(Form::Conversion),
    row("uint", "double_to_uint64", "(double) -> uint", body!(convert::uint_from_double), "uint(1.9) == 1u").form(Form::Conversion),
    row("uint", "int64_to_uint64", "(int) -> uint", body!(convert::uint_from_int), "uint(1) == 1u").form(Form::Conversion),
    row("uint", "string_to_uint64", "(string) -> uint", body!(convert::uint_from_string), "uint('12') == 12u").form(Form::Conversion),
];

/// `duration(int)`, which newer versions of Kubernetes do not declare. Every call fails.
#[rustfmt::skip] // One row per line.
pub(super) const DURATION_OF_INT: &[Overload] = &[
    row("duration", "int64_to_duration", "(int) -> duration", body!(no_duration), "[1].exists(i, i == 1 || duration(i) == duration('1s'))").form(Form::Conversion).literals(LiteralRule::Duration),
];

fn identity(value: Value<'_>) -> Value<'_> {
    value
}

fn to_type(value: Value<'_>) -> Value<'_> {
    Value::type_named(value.type_name())
}

fn to_duration(call: &CallContext<'_>, text: &str) -> Result<Duration, EvalError> {
    convert::duration_from_string(text, call.work_counter())
}

fn no_duration(_: i64) -> Result<Duration, EvalError> {
    Err(convert::conversion_error("int", "google.protobuf.Duration"))
}

/// Converts a number, a duration or a timestamp to text.
fn to_string<'a, T: Into<Value<'a>>>(
    call: &CallContext<'a>,
    value: T,
) -> Result<&'a str, EvalError> {
    convert::string_from(call.arena, &value.into())
}

#[cfg(test)]
mod tests;
