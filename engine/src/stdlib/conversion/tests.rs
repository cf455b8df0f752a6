use crate::stdlib::tests::{check_overload, fails_overload};
use crate::value::{Duration, Timestamp, Value};

#[test]
fn numbers_convert_within_the_range_of_their_target() {
    check_overload("double_to_int64", &[Value::Double(-1.9)], Value::Int(-1));
    check_overload("double_to_uint64", &[Value::Double(1.9)], Value::Uint(1));
    check_overload(
        "int64_to_double",
        &[Value::Int(i64::MAX)],
        Value::Double(9.223_372_036_854_776e18),
    );
    check_overload("timestamp_to_int64", &[timestamp(-1, 1)], Value::Int(-1));
    check_overload(
        "duration_to_int64",
        &[Value::Duration(Duration(7))],
        Value::Int(7),
    );
    for double in [f64::NAN, f64::INFINITY, -9.223_372_036_854_776e18, 9.3e18] {
        fails_overload(
            "double_to_int64",
            &[Value::Double(double)],
            "integer overflow",
        );
    }
    for double in [f64::NAN, -0.5, 18_446_744_073_709_551_616.0] {
        fails_overload(
            "double_to_uint64",
            &[Value::Double(double)],
            "unsigned integer overflow",
        );
    }
    fails_overload(
        "uint64_to_int64",
        &[Value::Uint(1 << 63)],
        "integer overflow",
    );
    fails_overload(
        "int64_to_uint64",
        &[Value::Int(-1)],
        "unsigned integer overflow",
    );
}

#[test]
fn texts_convert_where_go_reads_them() {
    check_overload("string_to_int64", &[Value::String("+5")], Value::Int(5));
    check_overload(
        "string_to_double",
        &[Value::String("1_0")],
        Value::Double(10.0),
    );
    check_overload("string_to_bool", &[Value::String("T")], Value::Bool(true));
    check_overload(
        "string_to_duration",
        &[Value::String("-1.5s")],
        Value::Duration(Duration(-1_500_000_000)),
    );
    check_overload(
        "string_to_timestamp",
        &[Value::String("1970-01-01T01:00:00,5+01:00")],
        timestamp(0, 500_000_000),
    );
    for (id, text, target) in [
        ("string_to_int64", " 1", "int"),
        ("string_to_uint64", "+1", "uint"),
        ("string_to_double", "1e999", "double"),
        ("string_to_bool", "yes", "bool"),
        ("string_to_duration", "1", "google.protobuf.Duration"),
        (
            "string_to_timestamp",
            "2020-01-01",
            "google.protobuf.Timestamp",
        ),
    ] {
        let expected = format!("type conversion error from 'string' to '{target}'");
        fails_overload(id, &[Value::String(text)], &expected);
    }
    fails_overload(
        "int64_to_duration",
        &[Value::Int(1)],
        "type conversion error from 'int' to 'google.protobuf.Duration'",
    );
    fails_overload(
        "int64_to_timestamp",
        &[Value::Int(253_402_300_800)],
        "timestamp overflow",
    );
    fails_overload(
        "string_to_timestamp",
        &[Value::String("0000-12-31T23:59:59Z")],
        "timestamp overflow",
    );
}

#[test]
fn values_convert_to_the_texts_of_go() {
    let with_offset = Value::Timestamp(Timestamp {
        seconds: 0,
        nanos: 500_000_000,
        offset: 3600,
    });
    for (id, value, expected) in [
        ("bool_to_string", Value::Bool(false), "false"),
        ("int64_to_string", Value::Int(-12), "-12"),
        ("uint64_to_string", Value::Uint(12), "12"),
        ("double_to_string", Value::Double(1e6), "1e+06"),
        ("double_to_string", Value::Double(999_999.5), "999999.5"),
        ("double_to_string", Value::Double(-0.0), "-0"),
        (
            "duration_to_string",
            Value::Duration(Duration(5_400_000_000_000)),
            "5400s",
        ),
        (
            "timestamp_to_string",
            with_offset,
            "1970-01-01T01:00:00.5+01:00",
        ),
        ("bytes_to_string", Value::Bytes("ä".as_bytes()), "ä"),
    ] {
        check_overload(id, &[value], Value::String(expected));
    }
    fails_overload(
        "bytes_to_string",
        &[Value::Bytes(b"\xff")],
        "invalid UTF-8 in bytes, cannot convert to string",
    );
}

#[test]
fn types_are_values() {
    check_overload("type", &[Value::Null], Value::Type("null_type"));
    check_overload("type", &[Value::Type("int")], Value::Type("type"));
    check_overload("to_dyn", &[Value::Int(1)], Value::Int(1));
}

fn timestamp(seconds: i64, nanos: u32) -> Value<'static> {
    Value::Timestamp(Timestamp {
        seconds,
        nanos,
        offset: 0,
    })
}
