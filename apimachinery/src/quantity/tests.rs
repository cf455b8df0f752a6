use super::*;

fn quantity(text: &str) -> Quantity {
    Quantity::parse(text).unwrap()
}

#[test]
fn reads_what_upstream_reads() {
    let check = |text: &str, expected: &str| {
        // Adding zero drops the original text, so that the canonical text is printed.
        let nothing = Quantity::from(0);
        assert_eq!(
            quantity(text).plus(&nothing).unwrap().to_string(),
            expected,
            "{text}"
        );
    };
    for zero in [
        "0", "000", "-", "+", ".", "Mi", "e3", "-0.0", "0e400", "0e-10", "0Ei",
    ] {
        check(zero, "0");
    }
    check("1", "1");
    check("-1.50", "-1500m");
    check("1.", "1");
    check(".5k", "500");
    check("1000k", "1M");
    check("12e4", "120e3");
    check("1E", "1E");
    check("1000E", "1");
    check("1e4294967297", "10");
    check("1024Ki", "1Mi");
    check("1023Ki", "1023Ki");
    check("512", "512");
    check("0.5Ki", "512");
    check("1.5Gi", "1536Mi");
    check("1.0001Ki", "1024102400u");
    check("9Ei", "9223372036854775807");
    check("-9Ei", "-9223372036854775807");
    check("12345678901234567890", "12345678901234567890");
    check("1e-10", "1e-9");
    check("-1.0000000001", "-1000000001n");
    check("1e400", "10e399");
}

#[test]
fn refuses_what_upstream_refuses() {
    let check = |text: &str, expected: ParseQuantityError| {
        assert_eq!(Quantity::parse(text).unwrap_err(), expected, "{text}");
    };
    use ParseQuantityError::{Format, Numeric, Suffix};
    for text in [
        "", " 1", "1 ", "1,3G", "0x10", "1.2.3", "1e1e1", "1é", "1Ki ",
    ] {
        check(text, Format);
    }
    for text in [
        "1ki",
        "200K",
        "1e",
        "1e+",
        "1Ee5",
        "1Mi5",
        "1e99999999999999999999",
    ] {
        check(text, Suffix);
    }
    for text in ["Pi", "-Ei", ".Pi", "e-10"] {
        check(text, Numeric);
    }
}

#[test]
fn prints_the_text_that_upstream_keeps() {
    for text in ["+1.500", "001", "1E3", "+1Ki", "7Mi"] {
        assert_eq!(quantity(text).to_string(), text);
    }
    for (text, expected) in [
        ("8Ki", "8Ki"),
        ("08Ki", "8Ki"),
        ("01000", "1k"),
        ("+0.5", "500m"),
    ] {
        assert_eq!(quantity(text).to_string(), expected);
    }
}

#[test]
fn only_small_quantities_are_integers() {
    let check = |text: &str, expected: Option<i64>| {
        assert_eq!(quantity(text).as_integer().ok(), expected, "{text}");
    };
    check("0.5k", Some(500));
    check("99Ti", Some(99 << 40));
    check("999999999999999999", Some(999_999_999_999_999_999));
    check("1E", Some(1_000_000_000_000_000_000));
    check("-1e3", Some(-1000));
    check("0e400", Some(0));
    for text in [
        "1.0",
        "0.0",
        "1000m",
        "1.5Ki",
        "1Pi",
        "100Ti",
        "9223372036854775807",
        "10E",
    ] {
        check(text, None);
    }
}

#[test]
fn approximates_as_upstream_does() {
    let check = |text: &str, expected: f64| {
        assert_eq!(quantity(text).as_approximate_float(), expected, "{text}");
    };
    check("50k", 50_000.0);
    check("1e-10", 1e-9);
    check("1e308", 1e308);
    check("1e400", f64::INFINITY);
    check("0e300", 0.0);
    assert!(quantity("0e400").as_approximate_float().is_nan());
    check("12345678901234567890123", 1.234_567_890_123_456_7e31 * 1e-9);
}

#[test]
fn compares_across_formats() {
    let ascending = [
        "-1e100", "-1", "-1n", "0", "1n", "999m", "1", "1k", "1Ki", "1M", "1e18", "8Ei", "1e19",
        "1e30",
    ];
    for (n, left) in ascending.iter().enumerate() {
        for (m, right) in ascending.iter().enumerate() {
            assert_eq!(
                quantity(left).compare(&quantity(right)),
                n.cmp(&m),
                "{left} {right}"
            );
        }
    }
    assert!(quantity("200M").equals(&quantity("0.2G")));
    assert!(quantity("8Ei").equals(&quantity("9223372036854775807")));
}

#[test]
fn adds_and_subtracts() {
    let check = |left: &str, right: &str, sum: &str, difference: &str| {
        let of = |result: Result<Quantity, TooManyDigits>| result.unwrap().to_string();
        assert_eq!(
            of(quantity(left).plus(&quantity(right))),
            sum,
            "{left} {right}"
        );
        assert_eq!(
            of(quantity(left).minus(&quantity(right))),
            difference,
            "{left} {right}"
        );
    };
    check("1.5Gi", "512Mi", "2Gi", "1Gi");
    check("1k", "1Ki", "2024", "-24");
    check("0", "2Ki", "2Ki", "-2Ki");
    check("9e18", "9e18", "18e18", "0");
    check("7Ei", "7Ei", "14Ei", "0");
    check("1", "1n", "1000000001n", "999999999n");
    let least = Quantity::from(i64::MIN);
    assert_eq!(
        quantity("1Ki").plus(&least).unwrap().to_string(),
        "-9007199254740991Ki"
    );
    // As in upstream, the negation of the smallest integer overflows and does not change it.
    assert_eq!(
        quantity("1").minus(&least).unwrap().to_string(),
        "-9223372036854775807"
    );
    assert_eq!(
        quantity("1e1000000000").plus(&quantity("1")).unwrap_err(),
        TooManyDigits
    );
}

#[test]
fn comparing_with_a_large_quantity_makes_it_large() {
    let one = quantity("1");
    assert!(one.equals(&quantity("1.0")) && one.as_integer().is_ok());
    assert!(one.compare(&quantity("1e19")).is_lt() && one.as_integer().is_ok());
    assert!(one.compare(&quantity("12345678901234567890")).is_lt());
    assert!(one.as_integer().is_err());
}

#[test]
fn adding_to_a_large_quantity_changes_it() {
    let large = quantity("10000000000000000000");
    let sum = large.plus(&Quantity::from(1)).unwrap();
    assert!(sum.equals(&large));
    let _ = sum.minus(&large).unwrap();
    assert_eq!((large.to_string(), large.sign()), ("0".to_owned(), 0));
    let small = quantity("9e18");
    let _ = small.plus(&small).unwrap();
    assert_eq!(small.to_string(), "9e18");
}
