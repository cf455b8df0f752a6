use crate::stdlib::tests::{check_overload, fails_overload};
use crate::value::{Duration, Timestamp, Value};

#[test]
fn numbers_convert_within_the_range_of_their_target() {
    check_overload("double_to_int64", &[Value::from(-1.9)], Value::from(-1));
    check_overload("double_to_uint64", &[Value::from(1.9)], Value::from(1_u64));
    check_overload(
        "int64_to_double",
        &[Value::from(i64::MAX)],
        Value::from(9.223_372_036_854_776e18),
    );
    check_overload("timestamp_to_int64", &[timestamp(-1, 1)], Value::from(-1));
    check_overload(
        "duration_to_int64",
        &[Value::from(Duration(7))],
        Value::from(7),
    );
    for double in [f64::NAN, f64::INFINITY, -9.223_372_036_854_776e18, 9.3e18] {
        fails_overload(
            "double_to_int64",
            &[Value::from(double)],
            "integer overflow",
        );
    }
    for double in [f64::NAN, -0.5, 18_446_744_073_709_551_616.0] {
        fails_overload(
            "double_to_uint64",
            &[Value::from(double)],
            "unsigned integer overflow",
        );
    }
    fails_overload(
        "uint64_to_int64",
        &[Value::from(1_u64 << 63)],
        "integer overflow",
    );
    fails_overload(
        "int64_to_uint64",
        &[Value::from(-1)],
        "unsigned integer overflow",
    );
}

#[test]
fn texts_convert_where_go_reads_them() {
    check_overload("string_to_int64", &[Value::from("+5")], Value::from(5));
    check_overload("string_to_double", &[Value::from("1_0")], Value::from(10.0));
    check_overload("string_to_bool", &[Value::from("T")], Value::from(true));
    check_overload(
        "string_to_duration",
        &[Value::from("-1.5s")],
        Value::from(Duration(-1_500_000_000)),
    );
    check_overload(
        "string_to_timestamp",
        &[Value::from("1970-01-01T01:00:00,5+01:00")],
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
        fails_overload(id, &[Value::from(text)], &expected);
    }
    fails_overload(
        "int64_to_duration",
        &[Value::from(1)],
        "type conversion error from 'int' to 'google.protobuf.Duration'",
    );
    fails_overload(
        "int64_to_timestamp",
        &[Value::from(253_402_300_800_i64)],
        "timestamp overflow",
    );
    fails_overload(
        "string_to_timestamp",
        &[Value::from("0000-12-31T23:59:59Z")],
        "timestamp overflow",
    );
}

#[test]
fn values_convert_to_the_texts_of_go() {
    let with_offset = Value::from(Timestamp {
        seconds: 0,
        nanos: 500_000_000,
        offset: 3600,
    });
    for (id, value, expected) in [
        ("bool_to_string", Value::from(false), "false"),
        ("int64_to_string", Value::from(-12), "-12"),
        ("uint64_to_string", Value::from(12_u64), "12"),
        ("double_to_string", Value::from(1e6), "1e+06"),
        ("double_to_string", Value::from(999_999.5), "999999.5"),
        ("double_to_string", Value::from(-0.0), "-0"),
        (
            "duration_to_string",
            Value::from(Duration(5_400_000_000_000)),
            "5400s",
        ),
        (
            "timestamp_to_string",
            with_offset,
            "1970-01-01T01:00:00.5+01:00",
        ),
        ("bytes_to_string", Value::from("ä".as_bytes()), "ä"),
    ] {
        check_overload(id, &[value], Value::from(expected));
    }
    fails_overload(
        "bytes_to_string",
        &[Value::from(b"\xff")],
        "invalid UTF-8 in bytes, cannot convert to string",
    );
}

#[test]
fn types_are_values() {
    check_overload("type", &[Value::NULL], Value::type_named("null_type"));
    check_overload(
        "type",
        &[Value::type_named("int")],
        Value::type_named("type"),
    );
    check_overload("to_dyn", &[Value::from(1)], Value::from(1));
}

fn timestamp(seconds: i64, nanos: u32) -> Value<'static> {
    Value::from(Timestamp {
        seconds,
        nanos,
        offset: 0,
    })
}
