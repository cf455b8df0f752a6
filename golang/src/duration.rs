//! Durations as Go reads and prints them (`time.ParseDuration`, `Duration.String`), and CEL's own text for them.
//!
//! A duration is a number of nanoseconds.

use std::fmt::{self, Write};

use super::float;
use super::work::{Interrupted, Work};

const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60_000_000_000;
const HOUR: u64 = 3_600_000_000_000;
/// The absolute value of the most negative duration, in nanoseconds.
const MAX_MAGNITUDE: u64 = 1 << 63;
/// The units of work for reading one number with its unit.
const WORK_PER_TERM: usize = 32;

/// The nanoseconds of a duration such as `1h30m`, `-1.5s` or `0`.
///
/// Returns `None` for texts that Go rejects: a number without a unit, an unknown unit, or a duration that does not fit in 64 bits.
pub fn parse(text: &str) -> Option<i64> {
    parse_working(text, &Work::unbounded()).unwrap_or_default()
}

/// Like [`parse`], but counts its work in `work`, which can interrupt the call.
///
/// # Errors
///
/// The work is interrupted.
pub fn parse_working(text: &str, work: &Work<'_>) -> Result<Option<i64>, Interrupted> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(Some(0));
    }
    if rest.is_empty() {
        return Ok(None);
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        work.spend(WORK_PER_TERM)?;
        let Some((term, after)) = parse_term(rest) else {
            return Ok(None);
        };
        // Go adds modulo 2^64 before it compares, so two terms of 2^63 add up to 0.
        total = total.wrapping_add(term);
        if total > MAX_MAGNITUDE {
            return Ok(None);
        }
        rest = after;
    }
    Ok(if negative {
        0i64.checked_sub_unsigned(total)
    } else {
        i64::try_from(total).ok()
    })
}

/// Reads one number with its unit; returns its nanoseconds and the rest of the text.
fn parse_term(text: &str) -> Option<(u64, &str)> {
    let (whole_digits, rest) = split_digits(text);
    let (fraction_digits, rest) = rest.strip_prefix('.').map_or(("", rest), split_digits);
    if whole_digits.is_empty() && fraction_digits.is_empty() {
        return None;
    }
    let (name, rest) = split_where(rest, |b| b == b'.' || b.is_ascii_digit());
    let unit = match name {
        "ns" => 1,
        "us" | "\u{b5}s" | "\u{3bc}s" => MICROSECOND,
        "ms" => MILLISECOND,
        "s" => SECOND,
        "m" => MINUTE,
        "h" => HOUR,
        _ => return None,
    };
    let whole: u64 = if whole_digits.is_empty() {
        0
    } else {
        whole_digits.parse().ok()?
    };
    let mut term = whole
        .checked_mul(unit)
        .filter(|term| *term <= MAX_MAGNITUDE)?;
    let (fraction, scale) = parse_fraction(fraction_digits);
    if fraction > 0 {
        let nanos = fraction as f64 * (unit as f64 / scale);
        term = term
            .checked_add(nanos as u64)
            .filter(|term| *term <= MAX_MAGNITUDE)?;
    }
    Some((term, rest))
}

/// Reads the digits of a fraction as a numerator of at most 2^63 and a power of ten as denominator. Digits that do not fit are dropped.
fn parse_fraction(digits: &str) -> (u64, f64) {
    let mut value: u64 = 0;
    let mut scale = 1.0;
    for byte in digits.bytes() {
        let digit = u64::from(byte.saturating_sub(b'0'));
        match value
            .checked_mul(10)
            .and_then(|v| v.checked_add(digit))
            .filter(|v| *v <= MAX_MAGNITUDE)
        {
            Some(next) => value = next,
            None => break,
        }
        scale *= 10.0;
    }
    (value, scale)
}

fn split_digits(text: &str) -> (&str, &str) {
    split_where(text, |b| !b.is_ascii_digit())
}

/// Splits a text before the first byte that satisfies `end`.
fn split_where(text: &str, end: impl Fn(u8) -> bool) -> (&str, &str) {
    let at = text.bytes().position(end).unwrap_or(text.len());
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// Writes a duration as Go prints it: `1h0m0s`, `1.5s`, `250ms`, `0s`.
///
/// # Errors
///
/// Writing to `out` fails.
pub fn write_go(out: &mut impl Write, nanos: i64) -> fmt::Result {
    if nanos < 0 {
        out.write_char('-')?;
    }
    let magnitude = nanos.unsigned_abs();
    match magnitude {
        0 => out.write_str("0s"),
        1..MICROSECOND => write!(out, "{magnitude}ns"),
        MICROSECOND..MILLISECOND => write_decimal(out, magnitude, MICROSECOND, "\u{b5}s"),
        MILLISECOND..SECOND => write_decimal(out, magnitude, MILLISECOND, "ms"),
        _ => {
            if magnitude >= HOUR {
                write!(out, "{}h", magnitude / HOUR)?;
            }
            if magnitude >= MINUTE {
                write!(out, "{}m", magnitude % HOUR / MINUTE)?;
            }
            write_decimal(out, magnitude % MINUTE, SECOND, "s")
        }
    }
}

/// Writes `value / unit` without trailing zeros; `unit` is a power of ten.
fn write_decimal(out: &mut impl Write, value: u64, unit: u64, suffix: &str) -> fmt::Result {
    write!(out, "{}", value.checked_div(unit).unwrap_or(0))?;
    let mut fraction = value.checked_rem(unit).unwrap_or(0);
    if fraction != 0 {
        let mut width = unit.checked_ilog10().unwrap_or(0) as usize;
        while fraction.is_multiple_of(10) {
            fraction /= 10;
            width = width.saturating_sub(1);
        }
        write!(out, ".{fraction:0width$}")?;
    }
    out.write_str(suffix)
}

/// Writes a duration as CEL's `string()` does: its seconds as a double in plain decimal, with an `s`.
///
/// # Errors
///
/// Writing to `out` fails.
pub fn write_cel(out: &mut impl Write, nanos: i64) -> fmt::Result {
    float::write_plain(out, seconds(nanos))?;
    out.write_char('s')
}

/// The seconds of a duration as Go computes them in a double (`Duration.Seconds`).
pub fn seconds(nanos: i64) -> f64 {
    let whole = nanos / 1_000_000_000;
    let rest = nanos % 1_000_000_000;
    whole as f64 + rest as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_what_go_parses() {
        let cases = [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("+0", Some(0)),
            ("", None),
            ("-", None),
            ("1", None),
            ("1s", Some(1000000000)),
            ("+1.5h", Some(5400000000000)),
            ("-1.5h", Some(-5400000000000)),
            ("1h30m", Some(5400000000000)),
            ("1m1h", Some(3660000000000)),
            ("1.s", Some(1000000000)),
            (".5s", Some(500000000)),
            (".s", None),
            ("1.5.5s", None),
            ("1d", None),
            ("1 s", None),
            (" 1s", None),
            ("1S", None),
            ("1us", Some(1000)),
            ("1\u{b5}s", Some(1000)),
            ("1\u{3bc}s", Some(1000)),
            ("1ns", Some(1)),
            ("0.1ns", Some(0)),
            ("1.999999999999ns", Some(1)),
            ("9223372036854775807ns", Some(9223372036854775807)),
            ("9223372036854775808ns", None),
            ("-9223372036854775808ns", Some(-9223372036854775808)),
            ("-9223372036854775809ns", None),
            ("9223372036854775808ns9223372036854775808ns", Some(0)),
            ("2562047h47m16.854775807s", Some(9223372036854775807)),
            ("2562047h47m16.854775808s", None),
            ("-2562047h47m16.854775808s", Some(-9223372036854775808)),
            ("2562048h", None),
            ("0.3333333333333333333h", Some(1200000000000)),
            ("0.9223372036854775807h", Some(3320413933267)),
            ("0.12345678901234567890123s", Some(123456789)),
            ("0.00000000000000000000000000001h", Some(0)),
            ("1h-1m", None),
            ("--1s", None),
            ("3000000h", None),
            ("1e3s", None),
            ("1_0s", None),
            ("007s", Some(7000000000)),
            ("-.5s", Some(-500000000)),
            ("1ms1", None),
            ("0s0", None),
            ("00", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse(text), expected, "{text:?}");
        }
    }

    #[test]
    fn prints_as_go_and_as_cel_do() {
        let cases = [
            (0, "0s", "0s"),
            (1, "1ns", "0.000000001s"),
            (999, "999ns", "0.000000999s"),
            (1000, "1\u{b5}s", "0.000001s"),
            (1100, "1.1\u{b5}s", "0.0000011s"),
            (1001, "1.001\u{b5}s", "0.000001001s"),
            (999999, "999.999\u{b5}s", "0.000999999s"),
            (1000000, "1ms", "0.001s"),
            (1500000, "1.5ms", "0.0015s"),
            (999999999, "999.999999ms", "0.999999999s"),
            (1000000000, "1s", "1s"),
            (1000000001, "1.000000001s", "1.000000001s"),
            (59999999999, "59.999999999s", "59.999999999s"),
            (60000000000, "1m0s", "60s"),
            (61000000000, "1m1s", "61s"),
            (3600000000000, "1h0m0s", "3600s"),
            (5400000000000, "1h30m0s", "5400s"),
            (3661000000000, "1h1m1s", "3661s"),
            (
                123456789123456789,
                "34293h33m9.123456789s",
                "123456789.12345679s",
            ),
            (i64::MAX, "2562047h47m16.854775807s", "9223372036.854776s"),
            (i64::MIN, "-2562047h47m16.854775808s", "-9223372036.854776s"),
            (-1, "-1ns", "-0.000000001s"),
            (-1500000, "-1.5ms", "-0.0015s"),
            (-360000000000000, "-100h0m0s", "-360000s"),
            (250000000, "250ms", "0.25s"),
            (100000000, "100ms", "0.1s"),
        ];
        for (nanos, go, cel) in cases {
            let (mut as_go, mut as_cel) = (String::new(), String::new());
            write_go(&mut as_go, nanos).unwrap();
            write_cel(&mut as_cel, nanos).unwrap();
            assert_eq!((as_go.as_str(), as_cel.as_str()), (go, cel), "{nanos}");
        }
    }
}
