use super::*;

#[test]
fn other_formats_are_as_lax_as_upstream() {
    let check = |valid: fn(&str) -> bool, cases: &[(&str, bool)]| {
        for (text, expected) in cases {
            assert_eq!(valid(text), *expected, "{text}");
        }
    };
    check(
        is_uuid,
        &[
            ("123e4567-E89B-12d3-a456-426614174000", true),
            ("123e4567e89b12d3a456426614174000", true),
            ("123e4567--e89b12d3a456426614174000", false),
            ("", false),
        ],
    );
    check(
        is_base64,
        &[
            ("", false),
            ("aGk=", true),
            ("aG==", true),
            ("a===", false),
            ("aGk", false),
            ("a-_=", false),
        ],
    );
    check(
        is_date,
        &[
            ("2024-02-29", true),
            ("2023-02-29", false),
            ("0000-02-29", true),
            ("2024-13-01", false),
            ("2024-1-01", false),
            ("2024-01-00", false),
        ],
    );
    check(
        is_date_time,
        &[
            ("2024-02-29T00:00:00Z", true),
            ("2024-02-29t23:59:59x5+99:99tt", true),
            ("2024-02-29T00:00:60Z", false),
            ("2024-02-29T24:00:00Z", false),
            ("2024-02-29T00:00:00", false),
            ("2024-02-29", false),
        ],
    );
}

/// Checks that all `valid` texts and no `invalid` texts have the format.
fn check(name: &str, valid: &[&str], invalid: &[&str]) {
    let format = Format::named(name, KubeVersion::default()).unwrap();
    for text in valid {
        assert!(format.is_valid(text), "{name} {text:?}");
    }
    for text in invalid {
        assert!(!format.is_valid(text), "{name} {text:?}");
    }
}

#[test]
fn formats_are_known_by_name_and_version() {
    let known = |name, minor| Format::named(name, KubeVersion::v1(minor)).is_some();
    assert!(known("date-time", 20) && known("datetime", 20) && known("-d-a-t-e", 20));
    assert!(known("k8s-long-name", 34) && !known("k8s-long-name", 33));
    assert!(!known("", 36) && !known("int32", 36) && !known("Date", 36));
}

#[test]
fn addresses_are_those_of_go() {
    check(
        "ipv4",
        &[
            "1.2.3.4",
            "01.002.0003.0",
            "::ffff:1.2.3.4",
            "::00ffff:01.2.3.4",
        ],
        &[
            "",
            "::",
            "1.2.3",
            "256.1.1.1",
            "1.2.3.4%a",
            "1..2.3",
            "::ffff:1.2.3.4%a",
        ],
    );
    check(
        "ipv6",
        &["::", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4"],
        &["1.2.3.4", "::1%eth0", "00001::", "::01.2.3.4", ":::"],
    );
    check(
        "cidr",
        &["1.2.3.4/8", "01.2.3.4/008", "::1.2.3.4/128", "::/0"],
        &[
            "1.2.3.4",
            "1.2.3.4/33",
            "::/129",
            "1.2.3.4/",
            "1.2.3.4/+8",
            "/8",
            "::1%a/8",
        ],
    );
    check(
        "mac",
        &[
            "01:23:45:67:89:ab",
            "01-23-45-67-89-AB-cd-ef",
            "0123.4567.89ab",
            "0123456789ab",
        ],
        &[
            "01:23-45:67:89:ab",
            "01:23:45:67:89:ab:cd",
            "0123.4567.89a",
            "",
            "0123456789ag",
            "é1:23:45:67:89:a",
        ],
    );
    check(
        "hostname",
        &["a", "a.b.com", "☃.net", "xn--a.com", "A-b.c.dd"],
        &["", "-a.com", "a_b", "a..b", "a.b.", "foo.12"],
    );
    assert!(!is_hostname(&format!("{}.com", "a".repeat(64))));
    assert!(!is_hostname(&format!("{}com", "abc.".repeat(64))));
}

#[test]
fn addresses_of_mail_are_those_of_go() {
    check(
        "email",
        &[
            "a@b",
            " a@ b",
            "Bob S. <a@b.c>",
            "\"q s\"@b",
            "\"B\" <a@b>",
            "a@[10.0.0.1]",
            "a@b (c(d) \\))",
            "g: a@b;",
            "x: <a@b>; (c)",
            "=?utf-8?q?x?= <a@b>",
            "x =?foo?q?x?= <a@b>",
            "=?foo?q?=zz?= <a@b>",
            "é@é",
        ],
        &[
            "",
            "a",
            "a b",
            "a@",
            "@b",
            "a@b c",
            "a@b,c@d",
            "a.@b",
            ".a@b",
            "a..b@c",
            "\"\"@b",
            "\"a",
            "a@[x]",
            "<a@b",
            "a@b>",
            "a@b (c",
            "g:;",
            "g: a@b, c@d;",
            "g: h: a@b;;",
            "=?foo?q?x?= <a@b>",
            "a@b (=?foo?b?aGk=?=)",
            "a\u{1}@b",
        ],
    );
}

#[test]
fn numbers_have_check_digits() {
    check(
        "isbn10",
        &["0321751043", "0-321-75104-3", "080442957X"],
        &["0321751044", "080442957x", "", "X321751043"],
    );
    check(
        "isbn13",
        &["978-0321751041", "978 0 321 75104 1"],
        &["9780321751042", "0321751043"],
    );
    check("isbn", &["0321751043", "9780321751041"], &["1"]);
    check(
        "creditcard",
        &[
            "4111 1111 1111 1111",
            "378282246310005",
            "30569309025904",
            "6011111111111117",
        ],
        &["4111111111111112", "1111111111111117", ""],
    );
    check(
        "ssn",
        &["123-45-6789", "123 45 6789"],
        &["123456789", "123.45.6789", "12-345-6789"],
    );
}

#[test]
fn texts_of_bytes_and_colors() {
    check(
        "bsonobjectid",
        &["507f1f77bcf86cd79943901A"],
        &["507f1f77bcf86cd79943901", "g07f1f77bcf86cd799439011"],
    );
    check(
        "uuid3",
        &["123e4567-e89b-32d3-c456-426614174000"],
        &["123e4567-e89b-42d3-c456-426614174000"],
    );
    check(
        "uuid4",
        &["123e4567-e89b-42d3-B456-426614174000"],
        &["123e4567-e89b-42d3-c456-426614174000"],
    );
    check(
        "uuid5",
        &["123e4567e89b52d38456426614174000"],
        &["123e4567e89b42d38456426614174000", ""],
    );
    check(
        "hexcolor",
        &["#fff", "FFF000"],
        &["#ffff", "##fff", "ggg", ""],
    );
    check(
        "rgbcolor",
        &["rgb(0,99,255)", "rgb( 1\t,2,3 )"],
        &[
            "rgb(256,0,0)",
            "rgb(00,0,0)",
            "rgb(1,2)",
            "rgb(1,2,3,4)",
            "rgb(+1,2,3)",
            "rgb(1,2,3) ",
        ],
    );
    check("k8s-short-name", &["a-1"], &["a.b", "A", ""]);
    check("k8s-long-name", &["a.b"], &["a..b", ""]);
    check("password", &[""], &[]);
}

#[test]
fn durations_are_gos_or_scalas() {
    check(
        "duration",
        &[
            "1s",
            "-2d",
            "1h30foo",
            "1 hour",
            "3 weeks",
            "5 minutes 2 x",
            "1 µs",
            "0",
            "1.5d",
        ],
        &[
            "",
            "5",
            "1x",
            "x1dx",
            "1 wkx",
            "99999999999999999999 hours",
            "1d 99999999999999999999d",
        ],
    );
}
