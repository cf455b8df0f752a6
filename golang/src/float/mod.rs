//! Doubles as Go prints and reads them (`strconv`: `ftoa.go`, `atof.go`).

use std::fmt::{self, Write};

/// Writes the fewest digits that read back as `value`, as `%g`, `%v` and CEL's `string()` do.
///
/// Absolute values below 1e-4 and from 1e6 on are written with an exponent. Examples: `100000`, `1e+06`, `1.5e-07`, `-0`, `+Inf`, `NaN`.
///
/// # Errors
///
/// Writing to `out` fails.
pub fn write_shortest(out: &mut impl Write, value: f64) -> fmt::Result {
    let magnitude = value.abs();
    if value == 0.0 || !value.is_finite() || (1e-4..1e6).contains(&magnitude) {
        return write_plain(out, value);
    }
    write_with_go_exponent(out, shortest(value)?.as_str())
}

/// The text that [`write_shortest`] writes.
pub fn format_shortest(value: f64) -> String {
    let mut out = String::new();
    // Writing to a String does not fail.
    let _ = write_shortest(&mut out, value);
    out
}

/// Writes the fewest digits that read back as `value`, never with an exponent (Go's format `'f'`, precision -1).
///
/// # Errors
///
/// Writing to `out` fails.
pub fn write_plain(out: &mut impl Write, value: f64) -> fmt::Result {
    if let Some(name) = special(value) {
        return out.write_str(name);
    }
    let text = shortest(value)?;
    let (mantissa, exponent) = text.as_str().split_once('e').unwrap_or_default();
    let (first, others) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    match exponent.parse::<isize>().unwrap_or_default() {
        0 => out.write_str(mantissa),
        exponent @ ..0 => {
            let (sign, digit) = first
                .strip_prefix('-')
                .map_or(("", first), |digit| ("-", digit));
            write!(
                out,
                "{sign}0.{:0>width$}{others}",
                digit,
                width = exponent.unsigned_abs()
            )
        }
        exponent => {
            let whole = exponent.unsigned_abs();
            match others.split_at_checked(whole) {
                Some((before, "")) => write!(out, "{first}{before}"),
                Some((before, after)) => write!(out, "{first}{before}.{after}"),
                None => write!(out, "{first}{others:0<whole$}"),
            }
        }
    }
}

/// The fewest digits that read back as `value`, which must be finite, with an exponent as Rust writes it (`1e6`).
///
/// If two texts of the same length are equally near to the value, Rust prints the larger number. This function prints the number whose
/// last digit is even, as Go does.
fn shortest(value: f64) -> Result<StackText<32>, fmt::Error> {
    let mut text = StackText::new();
    write!(text, "{value:e}")?;
    let digits = text
        .as_str()
        .bytes()
        .take_while(|b| *b != b'e')
        .filter(u8::is_ascii_digit)
        .count();
    // With fewer digits, two texts are never equally near to the value.
    if digits >= 16 {
        let mut even = StackText::new();
        write!(even, "{value:.*e}", digits.saturating_sub(1))?;
        if even.as_str().parse() == Ok(value) {
            return Ok(even);
        }
    }
    Ok(text)
}

/// The text of a double in protobuf's JSON: like [`write_shortest`], but `Infinity` and `-Infinity` instead of `+Inf` and `-Inf`.
pub fn format_json(value: f64) -> String {
    match value {
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        _ => format_shortest(value),
    }
}

/// The value with `precision` digits after the point (Go's format `'f'`), rounded to nearest. Ties go to the even last digit.
pub fn format_fixed(value: f64, precision: usize) -> String {
    if let Some(name) = special(value) {
        return name.to_owned();
    }
    let mut out = format!("{value:.*}", precision.min(MAX_PRECISION));
    out.extend(std::iter::repeat_n(
        '0',
        precision.saturating_sub(MAX_PRECISION),
    ));
    out
}

/// The value with one digit before the point, `precision` digits after it, and an exponent of two or more digits (Go's format `'e'`).
pub fn format_exponent(value: f64, precision: u16) -> String {
    if let Some(name) = special(value) {
        return name.to_owned();
    }
    let precision = usize::from(precision);
    // Rust's formatting does not support a precision of 65535.
    let mut text = format!("{value:.*e}", precision.min(MAX_PRECISION));
    let end = text.find('e').unwrap_or(text.len());
    text.insert_str(end, &"0".repeat(precision.saturating_sub(MAX_PRECISION)));
    let mut out = String::new();
    // Writing to a String does not fail.
    let _ = write_with_go_exponent(&mut out, &text);
    out
}

/// The limit of digits after the point: no double has more, and further digits are zeros.
const MAX_PRECISION: usize = 1100;

fn special(value: f64) -> Option<&'static str> {
    match value {
        f64::INFINITY => Some("+Inf"),
        f64::NEG_INFINITY => Some("-Inf"),
        _ if value.is_nan() => Some("NaN"),
        _ => None,
    }
}

/// Writes Rust's `1e6` as Go's `1e+06`.
fn write_with_go_exponent(out: &mut impl Write, text: &str) -> fmt::Result {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (sign, magnitude) = match exponent.strip_prefix('-') {
        Some(magnitude) => ('-', magnitude),
        None => ('+', exponent),
    };
    write!(out, "{digits}e{sign}{magnitude:0>2}")
}

/// A text of at most `N` bytes on the stack. The longest text of a double, -1.2345678901234567e-308, has 24 bytes.
struct StackText<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> StackText<N> {
    fn new() -> Self {
        StackText {
            bytes: [0; N],
            len: 0,
        }
    }

    fn as_str(&self) -> &str {
        self.bytes
            .get(..self.len)
            .and_then(|bytes| str::from_utf8(bytes).ok())
            .unwrap_or_default()
    }
}

impl<const N: usize> Write for StackText<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len.saturating_add(text.len());
        let room = self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// Reads a double as `strconv.ParseFloat` does: decimal and hexadecimal numbers, `inf`, `infinity` and `nan` in any
/// case, `_` between digits.
///
/// `None` for other texts and for numbers beyond the largest double.
pub fn parse(text: &str) -> Option<f64> {
    let (negative, magnitude) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let value =
        if magnitude.eq_ignore_ascii_case("inf") || magnitude.eq_ignore_ascii_case("infinity") {
            f64::INFINITY
        } else if text.eq_ignore_ascii_case("nan") {
            f64::NAN
        } else {
            parse_number(magnitude)?
        };
    Some(if negative { -value } else { value })
}

fn parse_number(text: &str) -> Option<f64> {
    let hex_digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    if !underscores_separate_digits(text, hex_digits.is_some()) {
        return None;
    }
    let bare = |text: &str| text.replace('_', "");
    let value = match hex_digits {
        Some(digits) => parse_hex(&bare(digits))?,
        // Rust also reads words such as `inf`, so the text must start with a digit or a point.
        None if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
            if text.contains('_') {
                bare(text).parse().ok()?
            } else {
                text.parse().ok()?
            }
        }
        None => return None,
    };
    Some(value).filter(|value: &f64| value.is_finite())
}

/// Whether each underscore is between two digits; the prefix `0x` counts as a digit.
fn underscores_separate_digits(text: &str, hex: bool) -> bool {
    let is_digit = |b: u8| {
        if hex {
            b.is_ascii_hexdigit()
        } else {
            b.is_ascii_digit()
        }
    };
    let mut after_digit = false;
    let mut after_underscore = false;
    for (index, byte) in text.bytes().enumerate() {
        if byte == b'_' {
            if !after_digit {
                return false;
            }
            (after_digit, after_underscore) = (false, true);
        } else {
            let digit = is_digit(byte);
            if after_underscore && !digit {
                return false;
            }
            (after_digit, after_underscore) = (digit || (hex && index == 1), false);
        }
    }
    !after_underscore
}

/// Reads the text after `0x`: hexadecimal digits with an optional point, then `p` and the exponent of a power of two, in decimal.
fn parse_hex(text: &str) -> Option<f64> {
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut mantissa: u64 = 0;
    let mut lost = false;
    let mut exponent = parse_exponent(exponent)?;
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    for (digits, exponent_shift) in [(whole, 0), (fraction, -4)] {
        for c in digits.chars() {
            let digit = u64::from(c.to_digit(16)?);
            if mantissa >> 60 == 0 {
                mantissa = mantissa << 4 | digit;
                exponent = exponent.saturating_add(exponent_shift);
            } else {
                lost |= digit != 0;
                exponent = exponent.saturating_add(exponent_shift).saturating_add(4);
            }
        }
    }
    Some(scale(mantissa, exponent, lost))
}

/// Reads a decimal exponent. As in Go, an exponent beyond 10000 is not read exactly.
fn parse_exponent(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for c in digits.chars() {
        let digit = c.to_digit(10)?;
        if value < 10_000 {
            value = value.saturating_mul(10).saturating_add(i64::from(digit));
        }
    }
    Some(if negative {
        value.saturating_neg()
    } else {
        value
    })
}

/// `mantissa * 2^exponent`, rounded half to even; `lost` means that digits were cut off, so the exact mantissa is slightly larger.
fn scale(mantissa: u64, exponent: i64, lost: bool) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    // Bring the mantissa's first bit to the top, so that the value is at least 2^(exponent + 63).
    let zeros = mantissa.leading_zeros();
    let mantissa = mantissa << zeros;
    let exponent = exponent.saturating_sub(i64::from(zeros));
    let top = exponent.saturating_add(63);
    if top > 1023 {
        return f64::INFINITY;
    }
    // A double keeps 53 bits, and fewer below 2^-1022, where its last bit is 2^-1074.
    let dropped = 11i64.max((-1074i64).saturating_sub(exponent));
    if dropped > 64 {
        return 0.0;
    }
    let wide = u128::from(mantissa);
    let (kept, rest) = (wide >> dropped, wide & !(u128::MAX << dropped));
    let half = 1u128 << dropped.saturating_sub(1);
    let round_up = rest > half || (rest == half && (lost || kept & 1 == 1));
    let kept = kept.saturating_add(u128::from(round_up));
    kept as f64 * power_of_two(exponent.saturating_add(dropped))
}

/// `2^exponent` for an exponent from -1074 to 1023.
fn power_of_two(exponent: i64) -> f64 {
    let bits = match u64::try_from(exponent.saturating_add(1023)) {
        Ok(biased @ 1..) => biased << 52,
        _ => 1 << exponent.saturating_add(1074).clamp(0, 51),
    };
    f64::from_bits(bits)
}

#[cfg(test)]
mod tests;
