use super::*;

#[test]
fn prints_the_fewest_digits() {
    let cases = [
        (0.0, "0", "0"),
        (-0.0, "-0", "-0"),
        (1.0, "1", "1"),
        (1.5, "1.5", "1.5"),
        (-1.5, "-1.5", "-1.5"),
        (100000.0, "100000", "100000"),
        (999999.5, "999999.5", "999999.5"),
        (999999.9999999999, "999999.9999999999", "999999.9999999999"),
        (1e6, "1e+06", "1000000"),
        (1234567.0, "1.234567e+06", "1234567"),
        (123456789.0, "1.23456789e+08", "123456789"),
        (1e20, "1e+20", "100000000000000000000"),
        (1e21, "1e+21", "1000000000000000000000"),
        (0.0001, "0.0001", "0.0001"),
        (0.00009999, "9.999e-05", "0.00009999"),
        (0.00001234, "1.234e-05", "0.00001234"),
        (1e-5, "1e-05", "0.00001"),
        (0.1, "0.1", "0.1"),
        (
            0.30000000000000004,
            "0.30000000000000004",
            "0.30000000000000004",
        ),
        (1e23, "1e+23", "100000000000000000000000"),
        (4.35, "4.35", "4.35"),
        (-0.00012, "-0.00012", "-0.00012"),
        (1200.0, "1200", "1200"),
        // Ties: in the exact value, a single 5 follows the printed digits.
        (
            1281070428832670.2,
            "1.2810704288326702e+15",
            "1281070428832670.2",
        ),
        (
            830985716167268.2,
            "8.309857161672682e+14",
            "830985716167268.2",
        ),
        (
            2.9802322387695312e-8,
            "2.9802322387695312e-08",
            "0.000000029802322387695312",
        ),
        (
            1e100,
            "1e+100",
            "10000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
        ),
    ];
    for (value, shortest, plain) in cases {
        let mut as_plain = String::new();
        write_plain(&mut as_plain, value).unwrap();
        assert_eq!(
            (format_shortest(value).as_str(), as_plain.as_str()),
            (shortest, plain)
        );
    }
}

#[test]
fn prints_extreme_and_special_values() {
    let cases = [
        (f64::from_bits(1), "5e-324", "5e-324"),
        (
            f64::MIN_POSITIVE,
            "2.2250738585072014e-308",
            "2.2250738585072014e-308",
        ),
        (
            f64::MAX,
            "1.7976931348623157e+308",
            "1.7976931348623157e+308",
        ),
        (
            f64::MIN,
            "-1.7976931348623157e+308",
            "-1.7976931348623157e+308",
        ),
        (f64::INFINITY, "+Inf", "Infinity"),
        (f64::NEG_INFINITY, "-Inf", "-Infinity"),
        (f64::NAN, "NaN", "NaN"),
        (-f64::NAN, "NaN", "NaN"),
    ];
    for (value, shortest, json) in cases {
        assert_eq!(
            (format_shortest(value).as_str(), format_json(value).as_str()),
            (shortest, json)
        );
    }
}

#[test]
fn rounds_to_a_precision_on_the_exact_value() {
    let cases = [
        (0.5, 0, "0", "5e-01"),
        (1.5, 0, "2", "2e+00"),
        (2.5, 0, "2", "2e+00"),
        (0.25, 1, "0.2", "2.5e-01"),
        (0.125, 2, "0.12", "1.25e-01"),
        (1.005, 2, "1.00", "1.00e+00"),
        (2.675, 2, "2.67", "2.67e+00"),
        (-0.0, 6, "-0.000000", "-0.000000e+00"),
        (0.0, 6, "0.000000", "0.000000e+00"),
        (-0.0000001, 6, "-0.000000", "-1.000000e-07"),
        (1e21, 2, "1000000000000000000000.00", "1.00e+21"),
        (5e-324, 6, "0.000000", "4.940656e-324"),
        (123456789.5, 6, "123456789.500000", "1.234568e+08"),
        (
            0.1,
            20,
            "0.10000000000000000555",
            "1.00000000000000005551e-01",
        ),
        (9.9999999, 6, "10.000000", "1.000000e+01"),
        (99999999.9999999, 6, "100000000.000000", "1.000000e+08"),
        (0.05, 1, "0.1", "5.0e-02"),
        (0.15, 1, "0.1", "1.5e-01"),
        (f64::INFINITY, 6, "+Inf", "+Inf"),
        (f64::NEG_INFINITY, 6, "-Inf", "-Inf"),
        (f64::NAN, 6, "NaN", "NaN"),
    ];
    for (value, precision, fixed, exponent) in cases {
        assert_eq!(
            format_fixed(value, usize::from(precision)),
            fixed,
            "{value} {precision}"
        );
        assert_eq!(
            format_exponent(value, precision),
            exponent,
            "{value} {precision}"
        );
    }
}

#[test]
fn takes_any_precision() {
    assert_eq!(
        format_fixed(1.5, 100_000),
        format!("1.5{}", "0".repeat(99_999))
    );
    assert_eq!(
        format_exponent(1.5, u16::MAX),
        format!("1.5{}e+00", "0".repeat(65_534))
    );
    let smallest = format_fixed(f64::from_bits(1), 2000);
    assert!(smallest.ends_with(&format!("625{}", "0".repeat(926))));
}

#[test]
fn parses_what_go_parses() {
    let cases = [
        ("0", Some(0.0)),
        ("-0", Some(-0.0)),
        ("1", Some(1.0)),
        ("+1", Some(1.0)),
        ("1.", Some(1.0)),
        ("1.e5", Some(100000.0)),
        (".5", Some(0.5)),
        (".", None),
        ("", None),
        ("+", None),
        ("-", None),
        ("e5", None),
        (".e5", None),
        ("1e", None),
        ("1e+", None),
        ("1e5", Some(100000.0)),
        ("1E5", Some(100000.0)),
        ("1e+05", Some(100000.0)),
        ("1e-400", Some(0.0)),
        ("1e308", Some(1e308)),
        ("1.7976931348623157e308", Some(1.7976931348623157e308)),
        ("1.7976931348623158e308", Some(1.7976931348623157e308)),
        ("1.797693134862315808e308", None),
        ("1e309", None),
        ("-1e309", None),
        ("1e99999999999999999999", None),
        ("0e99999999999999999999", Some(0.0)),
        ("5e-324", Some(5e-324)),
        ("2e-324", Some(0.0)),
        ("3e-324", Some(5e-324)),
        ("inf", Some(f64::INFINITY)),
        ("Inf", Some(f64::INFINITY)),
        ("+INF", Some(f64::INFINITY)),
        ("-inf", Some(f64::NEG_INFINITY)),
        ("infinity", Some(f64::INFINITY)),
        ("-Infinity", Some(f64::NEG_INFINITY)),
        ("+iNfInItY", Some(f64::INFINITY)),
        ("infin", None),
        ("inff", None),
        ("nan", Some(f64::NAN)),
        ("NaN", Some(f64::NAN)),
        ("NAN", Some(f64::NAN)),
        ("+nan", None),
        ("-nan", None),
        ("nanx", None),
        ("1_0", Some(10.0)),
        ("1__0", None),
        ("_1", None),
        ("1_", None),
        ("1_.5", None),
        ("1._5", None),
        ("1.5_5", Some(1.55)),
        ("1e1_0", Some(1e10)),
        ("1e_1", None),
        ("1e1_", None),
        ("1_e1", None),
        ("0_1", Some(1.0)),
        ("0x_1p0", Some(1.0)),
        ("0x1_p0", None),
        ("0x1p_0", None),
        ("0x1p1_0", Some(1024.0)),
        ("0x", None),
        ("0x1", None),
        ("0x1p", None),
        ("0x1p0", Some(1.0)),
        ("0x1p-2", Some(0.25)),
        ("0X1P+2", Some(4.0)),
        ("0x1.8p1", Some(3.0)),
        ("0x.8p1", Some(1.0)),
        ("0x8.p1", Some(16.0)),
        ("0x.p1", None),
        ("0x1.8", None),
        ("-0x1p0", Some(-1.0)),
        ("0xap0", Some(10.0)),
        ("0xAbCdEfp0", Some(1.1259375e07)),
        ("0xgp0", None),
        ("0x1p1023", Some(8.98846567431158e307)),
        ("0x1.fffffffffffffp1023", Some(1.7976931348623157e308)),
        ("0x1.fffffffffffff7p1023", Some(1.7976931348623157e308)),
        ("0x1.fffffffffffff8p1023", None),
        ("0x1p1024", None),
        ("0x1p-1074", Some(5e-324)),
        ("0x1p-1075", Some(0.0)),
        ("0x1.00000000000000000001p-1075", Some(5e-324)),
        ("0x1p-1076", Some(0.0)),
        ("0x0p99999", Some(0.0)),
        ("0x1p99999", None),
        ("0x1p-99999", Some(0.0)),
        ("0x1.00000000000008p0", Some(1.0)),
        ("0x1.000000000000080000000001p0", Some(1.0000000000000002)),
        ("0x1.00000000000018p0", Some(1.0000000000000004)),
        ("0x123456789abcdef01p0", Some(2.0988295479420645e19)),
        ("0x1.8p-1074", Some(1e-323)),
        ("0b1", None),
        ("0o1", None),
        ("1f", None),
        ("1d", None),
        (" 1", None),
        ("1 ", None),
        ("1,5", None),
        ("\u{663}", None),
        ("1e10001", None),
        ("0.000000000000000000000000000000000000000001e42", Some(1.0)),
        ("0x00000000000000000000000000001p0", Some(1.0)),
        ("0x1.8.8p0", None),
        ("1.5.5", None),
    ];
    for (text, expected) in cases {
        // Comparing bits distinguishes -0 from 0. All NaNs count as equal.
        let bits = |value: f64| {
            if value.is_nan() {
                u64::MAX
            } else {
                value.to_bits()
            }
        };
        assert_eq!(parse(text).map(bits), expected.map(bits), "{text:?}");
    }
}
