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
