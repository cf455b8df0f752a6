use gavel_engine::value::Value;
use gavel_engine::value::{Arena, Duration, MapBuilder, Timestamp};

use super::*;
use crate::testing::check;
use crate::testing::{double, int, string, uint};

/// Formats by the rules of the versions 1 to 3.
#[track_caller]
fn localized(template: &str, values: &[Value<'_>], expected: Result<&str, &str>) {
    let arguments = [string(template), Value::from(values)];
    check(FORMAT_BEFORE_4, "string_format", &arguments, expected);
}

/// Formats by the rules of version 4.
#[track_caller]
fn portable(template: &str, values: &[Value<'_>], expected: Result<&str, &str>) {
    let arguments = [string(template), Value::from(values)];
    check(FORMAT_SINCE_4, "string_format", &arguments, expected);
}

const EVENING: Timestamp = Timestamp {
    seconds: 1_577_833_200,
    nanos: 0,
    offset: 3_600,
};

#[test]
fn text_stays_and_values_go_in() {
    for check in [localized, portable] {
        check("", &[], Ok(""));
        check("né", &[], Ok("né"));
        check("%%", &[], Ok("%"));
        check("%%%s%%", &[string("a")], Ok("%a%"));
        check(
            "%s %s is %s",
            &[string("a"), int(-2), uint(3)],
            Ok("a -2 is 3"),
        );
        check("%s", &[string("a"), string("b")], Ok("a"));
        check("%.3d %.2s", &[int(1), string("abcd")], Ok("1 abcd"));
    }
}

#[test]
fn constant_templates_of_texts_are_read_once() {
    let arena = Arena::new();
    let context = CallContext::new(&arena);
    let template = constant::read("é%s%%-%.3s%s").unwrap();
    let call = |values: &[Value<'_>]| {
        let arguments = [string("ignored"), Value::from(values)];
        let text = template.call(&context, &arguments)?;
        Some(text.unwrap().in_message().to_string())
    };
    let texts = [string("a"), string("bcdé"), string(""), string("d")];
    assert_eq!(call(&texts).as_deref(), Some("éa%-bcdé"));
    // The general implementation computes these calls.
    assert_eq!(call(&[string("a"), string("b")]), None);
    assert_eq!(call(&[string("a"), int(1), string("b")]), None);
    for template in ["%d", "%s%", "%z"] {
        assert!(constant::read(template).is_none(), "{template}");
    }
}

#[test]
fn malformed_templates_fail() {
    let values = [int(1), int(2)];
    for check in [localized, portable] {
        let clause = |template, expected: &str| {
            let expected = format!("could not parse formatting clause: {expected}");
            check(template, &values, Err(&expected));
        };
        check("%s %s %s", &values, Err("index 2 out of range"));
        check("%", &[], Err("index 0 out of range"));
        check("%", &values, Err("unexpected end of string"));
        check("%s%", &values, Err("unexpected end of string"));
        clause("%z", "unrecognized formatting clause \"z\"");
        clause("%é", "unrecognized formatting clause \"Ã\"");
        clause("% s", "unrecognized formatting clause \" \"");
        let precision = "error while parsing precision: ";
        clause(
            "%.3",
            &format!("{precision}could not find end of precision specifier"),
        );
        let number = format!(
            "{precision}error while converting precision to integer: strconv.Atoi: parsing "
        );
        clause("%.f", &format!("{number}\"\": invalid syntax"));
        clause(
            "%.99999999999999999999f",
            &format!("{number}\"99999999999999999999\": value out of range"),
        );
    }
}

#[test]
fn writes_integers_and_bits() {
    for check in [localized, portable] {
        check(
            "%d %d",
            &[int(i64::MIN), uint(u64::MAX)],
            Ok("-9223372036854775808 18446744073709551615"),
        );
        check(
            "%b %b %b %b",
            &[int(-5), uint(5), Value::from(true), Value::from(false)],
            Ok("-101 101 1 0"),
        );
        check("%o %o", &[int(-8), uint(8)], Ok("-10 10"));
        check(
            "%x %X %x",
            &[int(-255), uint(255), string("")],
            Ok("-ff FF "),
        );
        check(
            "%x %X",
            &[Value::from(b"\xff\x00"), string("é")],
            Ok("ff00 C3A9"),
        );
    }
}

#[test]
fn values_must_fit_their_clauses() {
    #[track_caller]
    fn both(template: &str, value: Value<'_>, expected: &str) {
        let expected = format!("error during formatting: {expected}");
        localized(template, &[value], Err(&expected));
        portable(template, &[value], Err(&expected));
    }
    both(
        "%d",
        string("a"),
        "decimal clause can only be used on integers, was given string",
    );
    both(
        "%f",
        string("1.5"),
        "fixed-point clause can only be used on doubles, was given string",
    );
    both(
        "%e",
        Value::NULL,
        "scientific clause can only be used on doubles, was given null_type",
    );
    both(
        "%b",
        double(1.0),
        "only integers and bools can be formatted as binary, was given double",
    );
    both(
        "%x",
        double(1.0),
        "only integers, byte buffers, and strings can be formatted as hex, was given double",
    );
    both(
        "%o",
        Value::from(true),
        "octal clause can only be used on integers, was given bool",
    );
    both(
        "%s",
        Value::NONE,
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and \
         timestamps, was given optional_type",
    );
    let integers =
        "error during formatting: decimal clause can only be used on integers, was given double";
    localized("%d", &[double(1.0)], Err(integers));
    let doubles =
        "error during formatting: fixed-point clause can only be used on doubles, was given int";
    localized("%f", &[int(1)], Err(doubles));
}

#[test]
fn localized_doubles_are_grouped() {
    let fixed = |template, value, expected| localized(template, &[double(value)], Ok(expected));
    fixed("%f", 3.25, "3.250000");
    fixed("%f", 1e6, "1,000,000.000000");
    fixed("%.0f", 999.5, "1,000");
    fixed("%.1f", -1234.25, "-1,234.2");
    fixed("%.2f", 2.675, "2.67");
    fixed("%.0f", 0.5, "0");
    fixed("%f", 1e23, "99,999,999,999,999,991,611,392.000000");
    fixed("%f", -0.0, "0.000000");
    fixed("%.0f", -0.4, "-0");
    fixed("%f", f64::INFINITY, "∞");
    fixed("%f", f64::NEG_INFINITY, "-∞");
    fixed("%f", f64::NAN, "NaN");
    localized(
        "%f %f %f",
        &[string("NaN"), string("Infinity"), string("-Infinity")],
        Ok("NaN ∞ -∞"),
    );
}

#[test]
fn localized_precisions_wrap_around() {
    #[track_caller]
    fn size(template: &str, value: f64, expected: usize) {
        let arena = Arena::new();
        let call = CallContext::new(&arena);
        let values = arena.list(&[double(value)]).as_list().unwrap();
        let text = format(&call, template, values, localized::write).unwrap();
        assert_eq!(text.chars().count(), expected, "{text}");
    }
    size("%.255f", 1.0, 257);
    size("%.300f", 1.0, 46);
    size("%.300f", 0.1, 57);
    size("%.32767f", 0.1, 257);
    size("%.40000f", 0.1, 66);
    size("%.65535f", 12345.6, 262);
    size("%.10000009f", 1.0, 139);
    size("%.10000009e", 1.0, 38_537);
    localized("%.65536f", &[double(1.25)], Ok("1"));
    localized("%.65536e", &[double(1.0)], Ok("1.000000×10⁰⁰"));
    localized(
        "%.10000010f %.10000010e",
        &[double(1.0), double(1.0)],
        Ok("%!(NOVERB) %!(NOVERB)"),
    );
}

#[test]
fn localized_exponents_are_superscript() {
    let scientific =
        |template, value, expected| localized(template, &[double(value)], Ok(expected));
    scientific("%e", 123456.789, "1.234568×10⁰⁵");
    scientific("%e", -1.5, "-1.500000×10⁰⁰");
    scientific("%e", 0.0, "0.000000×10⁰⁰");
    scientific("%e", -0.0, "0.000000×10⁰⁰");
    scientific("%e", 1.23e-300, "1.230000×10⁻³⁰⁰");
    scientific("%e", 5.2793485, "5.279349×10⁰⁰");
    scientific("%.20e", -1.5, "      -1.500000×10⁰⁰");
    scientific("%.0e", -1.5, "-1.500000×10⁰⁰");
    scientific("%e", f64::NAN, "   NaN");
    scientific("%e", f64::NEG_INFINITY, "    -∞");
}

#[test]
fn localized_strings_are_like_conversions() {
    let string = |value, expected| localized("%s", &[value], Ok(expected));
    string(double(1e6), "1e+06");
    string(double(-0.0), "-0");
    string(double(f64::INFINITY), "+Inf");
    string(Value::NULL, "null");
    string(Value::from("é".as_bytes()), "é");
    string(Value::type_named("list"), "list");
    string(Value::from(Duration(3_600_000_000_000)), "3600s");
    string(Value::from(EVENING), "2020-01-01T00:00:00+01:00");
    let invalid = "error during formatting: could not convert argument \"invalid UTF-8 in bytes, cannot convert to \
                   string\" to string";
    localized("%s", &[Value::from(b"\xff")], Err(invalid));
}

#[test]
fn localized_collections_are_literals() {
    let arena = Arena::new();
    let mut map = MapBuilder::new();
    map.insert(string("b"), int(1));
    map.insert(int(2), string("x\"\u{200b}"));
    map.insert(string("a"), Value::from(List::EMPTY));
    map.insert(Value::from(true), Value::from(b"a\x00"));
    let list = [
        map.build(&arena),
        double(2.0),
        double(-0.0),
        double(f64::NAN),
        double(f64::NEG_INFINITY),
        Value::NULL,
        Value::type_named("int"),
        Value::from(Duration(-1_500_000_000)),
        Value::from(EVENING),
        uint(1),
        Value::from(true),
    ];
    localized(
        "%s",
        &[Value::from(&list)],
        Ok(
            r#"[{"a":[], "b":1, 2:"x\"\u200b", true:b"a\x00"}, 2.000000, -0.000000, "NaN", "-Inf", null, int, duration("-1.5s"), timestamp("2020-01-01T00:00:00+01:00"), 1, true]"#,
        ),
    );
    let fail = |value, expected: &str| {
        let expected = format!("error during formatting: no formatting function for {expected}");
        localized("%s", &[value], Err(&expected));
    };
    fail(Value::from(&[Value::NONE]), "optional_type");
    let mut map = MapBuilder::new();
    map.insert(double(1.5), int(1));
    fail(map.build(&arena), "map key of type double");
}

#[test]
fn portable_doubles_are_plain() {
    let check = |template, value, expected| portable(template, &[value], Ok(expected));
    check("%f", double(1e6), "1000000.000000");
    check("%.3f", double(-123.4999), "-123.500");
    check("%.0f", double(2.5), "2");
    check("%f", int(2), "2.000000");
    check("%f", uint(3), "3.000000");
    check("%f", double(f64::NEG_INFINITY), "-Infinity");
    check("%e", double(1052.032911275), "1.052033e+03");
    check("%.1e", int(250), "2.5e+02");
    check("%e", double(f64::NAN), "NaN");
    check("%d", double(1e6), "1000000");
    check("%d", double(1.5), "1.5");
    check("%d", double(f64::INFINITY), "Infinity");
    check("%s", double(1e21), "1000000000000000000000");
    check("%s", double(f64::NAN), "NaN");
}

#[test]
fn portable_collections_are_bare() {
    let arena = Arena::new();
    let mut map = MapBuilder::new();
    map.insert(string("key"), Value::from(b"xyz"));
    map.insert(int(6), Value::from(Duration(422_000_000_000)));
    map.insert(double(1.5), Value::type_named("int"));
    let list = [
        string("abc"),
        double(3.25),
        Value::NULL,
        Value::from(EVENING),
        map.build(&arena),
    ];
    portable(
        "%s",
        &[Value::from(&list)],
        Ok("[abc, 3.25, null, 2019-12-31T23:00:00Z, {1.5: int, 6: 422s, key: xyz}]"),
    );
}

#[test]
fn depth_is_bounded() {
    let arena = Arena::new();
    let deep = (0..2_000).fold(Value::NULL, |value, _| arena.list(&[value]));
    let expected = Err("error during formatting: values are nested too deeply");
    localized("%s", &[deep], expected);
    portable("%s", &[deep], expected);
}
