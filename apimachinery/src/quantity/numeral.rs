//! Reading the text of a quantity (`parseQuantityString` and `ParseQuantity`).

use super::decimal::Decimal;
use super::suffix::Suffix;
use super::{QuantityFormat, Small};

/// The smallest exponent of a power of ten: quantities have at most nine digits after the point.
const NANO: i32 = -9;

/// The text of a quantity, split into its parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numeral<'t> {
    negative: bool,
    /// The digits before the point, without leading zeros. `0` if no other digit precedes the point.
    whole: &'t [u8],
    /// The digits after the point.
    fraction: &'t [u8],
    /// Whether there is any digit.
    has_digits: bool,
    /// The text after the number.
    pub(super) suffix: &'t [u8],
}

impl<'t> Numeral<'t> {
    #[inline(always)]
    pub(super) fn scan(text: &'t str) -> Option<Numeral<'t>> {
        let (negative, unsigned) = match text.as_bytes() {
            [] => return None,
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let (zeros, rest) = split_after(unsigned, |byte| *byte == b'0');
        let (whole, rest) = split_after(rest, u8::is_ascii_digit);
        let (fraction, rest) = match rest {
            [b'.', rest @ ..] => split_after(rest, u8::is_ascii_digit),
            _ => (&[][..], rest),
        };
        let (_, number) = split_after(rest, is_suffix_letter);
        let number = match number {
            [b'+' | b'-', number @ ..] | number => number,
        };
        if !number.iter().all(u8::is_ascii_digit) {
            return None;
        }
        // As in upstream, a text without digits is zero, even a lone sign.
        let has_digits = !(zeros.is_empty() && whole.is_empty() && fraction.is_empty());
        let whole = if whole.is_empty() { b"0" } else { whole };
        Some(Numeral {
            negative,
            whole,
            fraction,
            has_digits,
            suffix: rest,
        })
    }

    /// The number in the small form, if upstream uses this form for it.
    pub(super) fn small(&self, suffix: Suffix) -> Option<Small> {
        let digits = self.whole.len().checked_add(self.fraction.len())?;
        let (limit, scale, factor) = match suffix.format {
            QuantityFormat::Decimal | QuantityFormat::DecimalExponent => {
                // Upstream's exponents are 32 bits wide, and overflow wraps around.
                let places = i32::try_from(self.fraction.len()).ok()?;
                (18, suffix.exponent.wrapping_sub(places), 1)
            }
            QuantityFormat::Binary if self.fraction.is_empty() => {
                let power = u32::try_from(suffix.exponent).ok()?;
                let lost = power.checked_mul(3)?.checked_div(10)?;
                (14u32.checked_sub(lost)?, 0, 1_i64.checked_shl(power)?)
            }
            QuantityFormat::Binary => return None,
        };
        if digits > usize::try_from(limit).ok()? || scale < NANO {
            return None;
        }
        // 18 digits do not overflow.
        let value = self
            .whole
            .iter()
            .chain(self.fraction)
            .fold(0_i64, |value, digit| {
                let digit = digit.wrapping_sub(b'0');
                value.wrapping_mul(10).wrapping_add(digit.into())
            });
        let value = value.checked_mul(factor)?;
        let value = if self.negative {
            value.checked_neg()?
        } else {
            value
        };
        Some(Small { value, scale })
    }

    /// Whether upstream considers the text of a number canonical, and therefore prints it unchanged. `small` is the number in the small
    /// form.
    pub(super) fn is_canonical(&self, suffix: Suffix, small: Small) -> bool {
        match suffix.format {
            QuantityFormat::Binary => {
                // True if the number before the suffix is not divisible by eight.
                let zeros = i64::from(small.value.trailing_zeros());
                small.value != 0 && zeros < i64::from(suffix.exponent).saturating_add(3)
            }
            QuantityFormat::Decimal | QuantityFormat::DecimalExponent => {
                let last = self.whole.iter().chain(self.fraction).rev();
                let thousands = last.take(3).eq(b"000");
                small.scale % 3 == 0 && !thousands && self.whole.first() != Some(&b'0')
            }
        }
    }

    /// The number in the large form, and the format in which it is printed.
    pub(super) fn large(&self, suffix: Suffix) -> Option<(Decimal, QuantityFormat)> {
        if !self.has_digits {
            return None;
        }
        let decimal = match suffix.format {
            QuantityFormat::Decimal | QuantityFormat::DecimalExponent => {
                Decimal::from_digits(self.whole, self.fraction, suffix.exponent)
            }
            QuantityFormat::Binary => {
                let half = suffix.exponent.checked_div(2)?;
                let factor = 1_u32.checked_shl(half.try_into().ok()?)?;
                let number = Decimal::from_digits(self.whole, self.fraction, 0);
                number.times(factor).times(factor)
            }
        };
        let mut decimal = decimal.rounded_up_to_nano();
        let mut format = suffix.format;
        if format == QuantityFormat::Binary {
            let max = Decimal::new(i64::MAX, 0);
            if decimal.compare(&max).is_gt() {
                decimal = max;
            }
            if decimal.sign() > 0 && decimal.compare(&Decimal::new(1, 0)).is_lt() {
                format = QuantityFormat::Decimal;
            }
        }
        Some((decimal.with_sign(self.negative), format))
    }
}

/// Whether upstream's regular expression accepts the byte as a letter of a suffix.
fn is_suffix_letter(byte: &u8) -> bool {
    matches!(
        byte,
        b'e' | b'E' | b'i' | b'n' | b'u' | b'm' | b'k' | b'K' | b'M' | b'G' | b'T' | b'P'
    )
}

/// Splits the text after its longest prefix of bytes that are `accepted`.
fn split_after(text: &[u8], accepted: impl Fn(&u8) -> bool) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !accepted(byte));
    text.split_at(end.unwrap_or(text.len()))
}
