//! Doubles as written in American English (`golang.org/x/text/message`, locale `en_US`).
//!
//! The Go package stores precisions and widths in small integers, so large ones wrap around.

use std::fmt::{self, Write};

use gavel_golang::float;

use super::output::Output;

/// The lowest precision that Go's format parser cannot read. The parser treats the verb after such a precision as missing.
const UNREADABLE: u64 = 10_000_010;
/// The output if the verb is missing.
const NO_VERB: &str = "%!(NOVERB)";

/// The default number of digits after the point, and the default width.
const DEFAULT: u64 = 6;

/// Writes a double as `1,234.500000`, with `precision` digits after the point. The exact value is rounded to the nearest; ties go to the
/// even digit.
pub(super) fn write_fixed(
    out: &mut Output<'_, '_>,
    value: f64,
    precision: Option<u64>,
) -> fmt::Result {
    let precision = precision.unwrap_or(DEFAULT);
    if precision >= UNREADABLE {
        return out.write_str(NO_VERB);
    }
    if let Some(name) = special(value) {
        return out.write_str(name);
    }
    // The lower 16 bits of the precision determine the rounding, as a signed number; if it is negative, nothing is rounded. The lower 8
    // bits are the number of digits up to which zeros are appended.
    let zeros = usize::from(precision.to_le_bytes()[0]);
    let text = match u16::try_from(precision & 0xffff).unwrap_or(0) {
        digits @ ..0x8000 => float::format_fixed(value.abs(), usize::from(digits)),
        _ => {
            let mut text = std::string::String::new();
            float::write_plain(&mut text, value.abs())?;
            text
        }
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    if value < 0.0 {
        out.push('-');
    }
    write_grouped(out, whole);
    if !fraction.is_empty() || zeros > 0 {
        write!(out, ".{fraction:0<zeros$}")?;
    }
    Ok(())
}

/// Writes digits with commas between groups of three.
fn write_grouped(out: &mut Output<'_, '_>, digits: &str) {
    for (left, digit) in (0..digits.len()).rev().zip(digits.chars()) {
        out.push(digit);
        if left > 0 && left % 3 == 0 {
            out.push(',');
        }
    }
}

/// Writes a double as `1.234500×10⁰³`: always six digits after the point; the precision is used as the width.
pub(super) fn write_scientific(
    out: &mut Output<'_, '_>,
    value: f64,
    precision: Option<u64>,
) -> fmt::Result {
    let precision = precision.unwrap_or(DEFAULT);
    if precision >= UNREADABLE {
        return out.write_str(NO_VERB);
    }
    let width = usize::try_from(precision & 0xffff).unwrap_or(0);
    if let Some(name) = special(value) {
        return write!(out, "{name:>width$}");
    }
    let text = format!("{:.6e}", value.abs());
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (minus, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ("\u{207b}", exponent),
        None => ("", exponent),
    };
    let sign = if value < 0.0 { "-" } else { "" };
    let exponent: std::string::String =
        format!("{exponent:0>2}").chars().map(superscript).collect();
    let text = format!("{sign}{digits}×10{minus}{exponent}");
    write!(out, "{text:>width$}")
}

fn superscript(digit: char) -> char {
    match digit {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    }
}

fn special(value: f64) -> Option<&'static str> {
    match value {
        f64::INFINITY => Some("∞"),
        f64::NEG_INFINITY => Some("-∞"),
        _ if value.is_nan() => Some("NaN"),
        _ => None,
    }
}
