//! Conversions: `bool`, `bytes`, `double`, `duration`, `dyn`, `int`, `string`, `timestamp`, `type` and `uint`.

use super::{shared, typed};
use crate::cost::Cost;
use crate::cost::formulas::{BYTES_TO_STRING, STRING_TO_BYTES};
use crate::decl::{CallContext, Overload};
use crate::error::EvalError;
use crate::value::{Value, convert};

const ONE: Cost = Cost::ONE;

pub(super) const ROWS: &[Overload] = &[
    shared(
        "type",
        "type",
        "(A) -> type(A)",
        to_type,
        ONE,
        "type('a') == string",
    ),
    typed(
        "bool",
        "bool_to_bool",
        "(bool) -> bool",
        identity,
        ONE,
        "bool(true)",
    ),
    typed(
        "bool",
        "string_to_bool",
        "(string) -> bool",
        to_bool,
        ONE,
        "bool('true')",
    ),
    typed(
        "bytes",
        "bytes_to_bytes",
        "(bytes) -> bytes",
        identity,
        ONE,
        "bytes(b'a') == b'a'",
    ),
    typed(
        "bytes",
        "string_to_bytes",
        "(string) -> bytes",
        to_bytes,
        STRING_TO_BYTES,
        "bytes('ä') == b'\\303\\244'",
    ),
    typed(
        "double",
        "double_to_double",
        "(double) -> double",
        identity,
        ONE,
        "double(1.5) == 1.5",
    ),
    typed(
        "double",
        "int64_to_double",
        "(int) -> double",
        to_double,
        ONE,
        "double(1) == 1.0",
    ),
    typed(
        "double",
        "string_to_double",
        "(string) -> double",
        to_double,
        ONE,
        "double('1e3') == 1000.0",
    ),
    typed(
        "double",
        "uint64_to_double",
        "(uint) -> double",
        to_double,
        ONE,
        "double(1u) == 1.0",
    ),
    typed(
        "duration",
        "duration_to_duration",
        "(duration) -> duration",
        identity,
        ONE,
        "duration(duration('1h')) == duration('60m')",
    ),
    // Upstream declares it and refuses every number.
    typed(
        "duration",
        "int64_to_duration",
        "(int) -> duration",
        to_duration,
        ONE,
        "[1].exists(i, i == 1 || duration(i) == duration('1s'))",
    ),
    typed(
        "duration",
        "string_to_duration",
        "(string) -> duration",
        to_duration,
        ONE,
        "duration('1h30m') == duration('5400s')",
    ),
    shared(
        "dyn",
        "to_dyn",
        "(A) -> dyn",
        identity,
        ONE,
        "dyn(1) == 1.0",
    ),
    typed(
        "int",
        "int64_to_int64",
        "(int) -> int",
        identity,
        ONE,
        "int(1) == 1",
    ),
    typed(
        "int",
        "double_to_int64",
        "(double) -> int",
        to_int,
        ONE,
        "int(-1.9) == -1",
    ),
    typed(
        "int",
        "duration_to_int64",
        "(duration) -> int",
        to_int,
        ONE,
        "int(duration('1us')) == 1000",
    ),
    typed(
        "int",
        "string_to_int64",
        "(string) -> int",
        to_int,
        ONE,
        "int('-12') == -12",
    ),
    typed(
        "int",
        "timestamp_to_int64",
        "(timestamp) -> int",
        to_int,
        ONE,
        "int(timestamp('1970-01-01T00:01:00Z')) == 60",
    ),
    typed(
        "int",
        "uint64_to_int64",
        "(uint) -> int",
        to_int,
        ONE,
        "int(1u) == 1",
    ),
    typed(
        "string",
        "string_to_string",
        "(string) -> string",
        identity,
        ONE,
        "string('a') == 'a'",
    ),
    typed(
        "string",
        "bool_to_string",
        "(bool) -> string",
        to_string,
        ONE,
        "string(true) == 'true'",
    ),
    typed(
        "string",
        "bytes_to_string",
        "(bytes) -> string",
        to_string,
        BYTES_TO_STRING,
        "string(b'a') == 'a'",
    ),
    typed(
        "string",
        "double_to_string",
        "(double) -> string",
        to_string,
        ONE,
        "string(1e6) == '1e+06'",
    ),
    typed(
        "string",
        "duration_to_string",
        "(duration) -> string",
        to_string,
        ONE,
        "string(duration('1h')) == '3600s'",
    ),
    typed(
        "string",
        "int64_to_string",
        "(int) -> string",
        to_string,
        ONE,
        "string(-12) == '-12'",
    ),
    typed(
        "string",
        "timestamp_to_string",
        "(timestamp) -> string",
        to_string,
        ONE,
        "string(timestamp(0)) == '1970-01-01T00:00:00Z'",
    ),
    typed(
        "string",
        "uint64_to_string",
        "(uint) -> string",
        to_string,
        ONE,
        "string(12u) == '12'",
    ),
    typed(
        "timestamp",
        "timestamp_to_timestamp",
        "(timestamp) -> timestamp",
        identity,
        ONE,
        "timestamp(timestamp(0)) == timestamp(0)",
    ),
    typed(
        "timestamp",
        "int64_to_timestamp",
        "(int) -> timestamp",
        to_timestamp,
        ONE,
        "timestamp(60) == timestamp('1970-01-01T00:01:00Z')",
    ),
    typed(
        "timestamp",
        "string_to_timestamp",
        "(string) -> timestamp",
        to_timestamp,
        ONE,
        "timestamp('1970-01-01T01:00:00+01:00') == timestamp(0)",
    ),
    typed(
        "uint",
        "uint64_to_uint64",
        "(uint) -> uint",
        identity,
        ONE,
        "uint(1u) == 1u",
    ),
    typed(
        "uint",
        "double_to_uint64",
        "(double) -> uint",
        to_uint,
        ONE,
        "uint(1.9) == 1u",
    ),
    typed(
        "uint",
        "int64_to_uint64",
        "(int) -> uint",
        to_uint,
        ONE,
        "uint(1) == 1u",
    ),
    typed(
        "uint",
        "string_to_uint64",
        "(string) -> uint",
        to_uint,
        ONE,
        "uint('12') == 12u",
    ),
];

fn identity<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match args {
        [value] => Ok(*value),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn to_type<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match args {
        [value] => Ok(Value::Type(value.type_name())),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn to_bool<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match args {
        [Value::String(text)] => convert::bool_from_string(text).map(Value::Bool),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn to_bytes<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match args {
        [Value::String(text)] => Ok(Value::Bytes(text.as_bytes())),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn to_double<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match *args {
        [Value::Int(int)] => Ok(Value::Double(int as f64)),
        [Value::Uint(uint)] => Ok(Value::Double(uint as f64)),
        [Value::String(text)] => convert::double_from_string(text).map(Value::Double),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn to_duration<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match args {
        [Value::String(text)] => convert::duration_from_string(text).map(Value::Duration),
        [Value::Int(_)] => Err(convert::conversion_error("int", "google.protobuf.Duration")),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn to_int<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let int = match *args {
        [Value::Uint(uint)] => convert::int_from_uint(uint),
        [Value::Double(double)] => convert::int_from_double(double),
        [Value::String(text)] => convert::int_from_string(text),
        [Value::Duration(duration)] => Ok(duration.0),
        [Value::Timestamp(time)] => Ok(time.seconds),
        _ => Err(EvalError::no_such_overload()),
    };
    int.map(Value::Int)
}

fn to_string<'a>(context: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let text = match args {
        [Value::Bool(true)] => Ok("true"),
        [Value::Bool(false)] => Ok("false"),
        [Value::Bytes(bytes)] => convert::string_from_bytes(bytes),
        [value] => convert::string_from(context.arena, value),
        _ => Err(EvalError::no_such_overload()),
    };
    text.map(Value::String)
}

fn to_timestamp<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let time = match args {
        [Value::Int(seconds)] => convert::timestamp_from_int(*seconds),
        [Value::String(text)] => convert::timestamp_from_string(text),
        _ => Err(EvalError::no_such_overload()),
    };
    time.map(Value::Timestamp)
}

fn to_uint<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    let uint = match *args {
        [Value::Int(int)] => convert::uint_from_int(int),
        [Value::Double(double)] => convert::uint_from_double(double),
        [Value::String(text)] => convert::uint_from_string(text),
        _ => Err(EvalError::no_such_overload()),
    };
    uint.map(Value::Uint)
}

#[cfg(test)]
mod tests;
