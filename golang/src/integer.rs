//! Decimal integers as Go reads them (`strconv`: `ParseInt`, `ParseUint`, `Atoi`).

use thiserror::Error;

use super::quote::quote;

/// Reads a decimal integer with an optional sign; no spaces, prefixes or underscores.
pub fn parse_int(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// Reads a decimal integer that consists of digits only, without a sign.
pub fn parse_uint(text: &str) -> Option<u64> {
    if text.starts_with('+') {
        None
    } else {
        text.parse().ok()
    }
}

/// The error for a text that is not an integer, or that does not fit into 64 bits, in the words of `strconv.Atoi`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("strconv.Atoi: parsing {}: {}", quote(text), if *out_of_range { "value out of range" } else { "invalid syntax" })]
pub struct AtoiError {
    text: String,
    out_of_range: bool,
}

/// Reads the same texts as [`parse_int`], with Go's error message.
///
/// # Errors
///
/// The text is not an integer, or is out of range.
pub fn atoi(text: &str) -> Result<i64, AtoiError> {
    parse_int(text).ok_or_else(|| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let out_of_range = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        AtoiError {
            text: text.to_owned(),
            out_of_range,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_int_takes_a_sign_and_decimal_digits() {
        let cases = [
            ("0", Some(0)),
            ("+5", Some(5)),
            ("-5", Some(-5)),
            ("-0", Some(0)),
            ("007", Some(7)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("-9223372036854775809", None),
            ("", None),
            ("+", None),
            ("-", None),
            ("+-1", None),
            (" 1", None),
            ("1 ", None),
            ("0x10", None),
            ("1_0", None),
            ("1.0", None),
            ("٣", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_int(text), expected, "{text:?}");
        }
    }

    #[test]
    fn parse_uint_takes_decimal_digits_alone() {
        let cases = [
            ("0", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("+5", None),
            ("-0", None),
            ("-5", None),
            ("", None),
            ("1_0", None),
            ("0b1", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_uint(text), expected, "{text:?}");
        }
    }

    #[test]
    fn atoi_words_its_errors_as_go_does() {
        let cases = [
            ("a", r#"strconv.Atoi: parsing "a": invalid syntax"#),
            ("", r#"strconv.Atoi: parsing "": invalid syntax"#),
            ("-", r#"strconv.Atoi: parsing "-": invalid syntax"#),
            ("1\n", r#"strconv.Atoi: parsing "1\n": invalid syntax"#),
            (
                "99999999999999999999",
                r#"strconv.Atoi: parsing "99999999999999999999": value out of range"#,
            ),
            (
                "-99999999999999999999",
                r#"strconv.Atoi: parsing "-99999999999999999999": value out of range"#,
            ),
            (
                "99999999999999999999x",
                r#"strconv.Atoi: parsing "99999999999999999999x": invalid syntax"#,
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(atoi(text).unwrap_err().to_string(), expected, "{text:?}");
        }
        assert_eq!(atoi("+08"), Ok(8));
    }
}
