//! Decimal numbers of any size and precision, for quantities (`gopkg.in/inf.v0`).
//!
//! The base is 10⁹. This makes it cheap to shift by powers of ten, to round to billionths and to print. A huge exponent takes no memory.

use std::cmp::Ordering;

use smallvec::{SmallVec, smallvec};

/// The number of values that a limb can have.
const BASE: u64 = 1_000_000_000;
/// The number of decimal digits of a limb.
const LIMB_DIGITS: i64 = 9;
/// The limit of limbs in a sum. Every sum costs one cost unit, so its time and memory must be bounded: `1e1000000000` plus 1 would have a
/// billion digits.
const MAX_LIMBS: i64 = 512;

/// The limbs of a number. Most quantities need no allocation.
type Limbs = SmallVec<[u32; 4]>;

/// A decimal number.
#[derive(Debug, Clone, Default)]
pub(super) struct Decimal {
    negative: bool,
    /// The limbs, which are digits in base 10⁹, the least significant limb first. The first and the last limb are not zero. The number zero
    /// has no limbs.
    limbs: Limbs,
    /// The exponent of the first limb's weight, which is a power of 10⁹.
    offset: i64,
    /// The number of digits after the point in Go's representation. It affects the approximation as a double, but not the value.
    scale: i32,
}

/// The error for a sum with too many digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("quantities of more than {} digits are not added", MAX_LIMBS.saturating_mul(LIMB_DIGITS))]
pub struct TooManyDigits;

impl Decimal {
    /// The memory of the digits, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.limbs)
    }

    /// `value` × 10^`exponent`.
    pub(super) fn new(value: i64, exponent: i32) -> Decimal {
        let mut rest = value.unsigned_abs();
        let mut limbs = Limbs::new();
        while rest > 0 {
            limbs.push(u32::try_from(rest % BASE).unwrap_or(0));
            rest /= BASE;
        }
        let scale = exponent.wrapping_neg();
        let exponent = i64::from(exponent);
        let power = u32::try_from(exponent.rem_euclid(LIMB_DIGITS)).unwrap_or(0);
        Decimal::of(limbs, exponent.div_euclid(LIMB_DIGITS), scale)
            .times(10_u32.saturating_pow(power))
            .with_sign(value < 0)
    }

    /// The number `whole`.`fraction` × 10^`exponent`. `whole` and `fraction` are ASCII digits.
    pub(super) fn from_digits(whole: &[u8], fraction: &[u8], exponent: i32) -> Decimal {
        let places = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
        let last = i64::from(exponent).saturating_sub(places);
        let mut limbs = Limbs::with_capacity(
            (whole.len().saturating_add(fraction.len()) / 9).saturating_add(2),
        );
        let (mut limb, mut weight) = (0u32, 1u32);
        for _ in 0..last.rem_euclid(LIMB_DIGITS) {
            weight = weight.saturating_mul(10);
        }
        for digit in whole.iter().chain(fraction).rev() {
            let digit = u32::from(digit.saturating_sub(b'0'));
            limb = limb.saturating_add(digit.saturating_mul(weight));
            weight = weight.saturating_mul(10);
            if u64::from(weight) == BASE {
                limbs.push(limb);
                (limb, weight) = (0, 1);
            }
        }
        limbs.push(limb);
        // Go's scales are 32 bits wide, and overflow wraps around.
        let scale = i32::try_from(places)
            .unwrap_or(i32::MAX)
            .wrapping_sub(exponent);
        Decimal::of(limbs, last.div_euclid(LIMB_DIGITS), scale)
    }

    /// The positive number with these limbs. The highest limbs may be zero.
    fn of(mut limbs: Limbs, mut offset: i64, scale: i32) -> Decimal {
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        let zeros = limbs.iter().take_while(|limb| **limb == 0).count();
        limbs.drain(..zeros);
        offset = offset.saturating_add_unsigned(zeros.try_into().unwrap_or(u64::MAX));
        let negative = false;
        if limbs.is_empty() {
            offset = 0;
        }
        Decimal {
            negative,
            limbs,
            offset,
            scale,
        }
    }

    /// One more than the exponent of the last limb's weight, which is a power of 10⁹.
    fn end(&self) -> i64 {
        let length = self.limbs.len().try_into().unwrap_or(u64::MAX);
        self.offset.saturating_add_unsigned(length)
    }

    fn limb(&self, weight: i64) -> u32 {
        let index = usize::try_from(weight.saturating_sub(self.offset)).ok();
        let limb = index.and_then(|index| self.limbs.get(index));
        limb.copied().unwrap_or(0)
    }

    /// The sign: -1, 0 or 1.
    pub(super) fn sign(&self) -> i64 {
        match (self.limbs.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    /// Sets the sign.
    pub(super) fn with_sign(self, negative: bool) -> Decimal {
        let negative = negative && !self.limbs.is_empty();
        Decimal { negative, ..self }
    }

    /// The order of two numbers.
    pub(super) fn compare(&self, other: &Decimal) -> Ordering {
        self.sign()
            .cmp(&other.sign())
            .then_with(|| match self.negative {
                true => other.compare_magnitude(self),
                false => self.compare_magnitude(other),
            })
    }

    fn compare_magnitude(&self, other: &Decimal) -> Ordering {
        let by_length = match (self.limbs.is_empty(), other.limbs.is_empty()) {
            (false, false) => self.end().cmp(&other.end()),
            (left, right) => right.cmp(&left),
        };
        // If the limbs of the shorter number all match, the longer number is greater, because its lowest limb is not zero.
        by_length.then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev()))
    }

    /// The sum.
    pub(super) fn plus(&self, other: &Decimal) -> Result<Decimal, TooManyDigits> {
        let scale = self.scale.max(other.scale);
        let sum = match (self.limbs.is_empty(), other.limbs.is_empty()) {
            (true, _) => other.clone(),
            (false, true) => self.clone(),
            (false, false) => {
                let start = self.offset.min(other.offset).min(0);
                let end = self.end().max(other.end()).max(0);
                if end.saturating_sub(start) > MAX_LIMBS {
                    return Err(TooManyDigits);
                }
                if self.negative == other.negative {
                    self.sum(other).with_sign(self.negative)
                } else if self.compare_magnitude(other).is_lt() {
                    other.difference(self).with_sign(other.negative)
                } else {
                    self.difference(other).with_sign(self.negative)
                }
            }
        };
        Ok(Decimal { scale, ..sum })
    }

    /// The difference.
    pub(super) fn minus(&self, other: &Decimal) -> Result<Decimal, TooManyDigits> {
        let negative = !other.negative;
        self.plus(&other.clone().with_sign(negative))
    }

    /// The sum of the absolute values.
    fn sum(&self, other: &Decimal) -> Decimal {
        self.zip(other, |carry, left, right| {
            let sum = carry.saturating_add(left).saturating_add(right);
            (sum % BASE, sum / BASE)
        })
    }

    /// The difference of the absolute values. `other` must not have a greater absolute value than `self`.
    fn difference(&self, other: &Decimal) -> Decimal {
        self.zip(other, |borrow, left, right| {
            let taken = right.saturating_add(borrow);
            match left.checked_sub(taken) {
                Some(limb) => (limb, 0),
                None => (left.saturating_add(BASE).saturating_sub(taken), 1),
            }
        })
    }

    /// Combines two numbers limb by limb. `step` takes the carry and a limb of each number, and returns a limb of the result and the next
    /// carry.
    fn zip(&self, other: &Decimal, step: impl Fn(u64, u64, u64) -> (u64, u64)) -> Decimal {
        let start = self.offset.min(other.offset);
        let end = self.end().max(other.end());
        let mut limbs = Limbs::new();
        let mut carry = 0;
        for weight in start..=end {
            let (limb, next) = step(carry, self.limb(weight).into(), other.limb(weight).into());
            limbs.push(limb.try_into().unwrap_or(0));
            carry = next;
        }
        Decimal::of(limbs, start, self.scale)
    }

    /// The product with a small integer.
    pub(super) fn times(self, factor: u32) -> Decimal {
        let mut carry: u64 = 0;
        let product = self.limbs.iter().map(|limb| {
            carry = u64::from(*limb)
                .saturating_mul(factor.into())
                .saturating_add(carry);
            let limb = carry % BASE;
            carry /= BASE;
            u32::try_from(limb).unwrap_or(0)
        });
        let mut limbs: Limbs = product.collect();
        while carry > 0 {
            limbs.push(u32::try_from(carry % BASE).unwrap_or(0));
            carry /= BASE;
        }
        Decimal::of(limbs, self.offset, self.scale).with_sign(self.negative)
    }

    /// The number with nine digits after the point, rounded away from zero. Zero is returned unchanged.
    pub(super) fn rounded_up_to_nano(self) -> Decimal {
        if self.limbs.is_empty() {
            return self;
        }
        let scale = 9;
        if self.offset >= -1 {
            return Decimal { scale, ..self };
        }
        let kept: Limbs = (-1..self.end()).map(|weight| self.limb(weight)).collect();
        let kept = Decimal::of(kept, -1, scale);
        let one = Decimal {
            negative: false,
            limbs: smallvec![1],
            offset: -1,
            scale,
        };
        kept.sum(&one).with_sign(self.negative)
    }

    /// The number with three digits after the point, rounded away from zero.
    pub(super) fn rounded_up_to_milli(self) -> Decimal {
        const MICRO: u32 = 1_000_000;
        let number = self.rounded_up_to_nano();
        let rest = number.limb(-1) % MICRO;
        if rest == 0 {
            return number;
        }
        let limbs = (-1..number.end()).map(|weight| match weight {
            -1 => number.limb(-1).saturating_sub(rest),
            weight => number.limb(weight),
        });
        let kept = Decimal::of(limbs.collect(), -1, 3);
        let one = Decimal::of(smallvec![MICRO], -1, 3);
        kept.sum(&one).with_sign(number.negative)
    }

    /// Whether the number has no fraction.
    pub(super) fn is_integer(&self) -> bool {
        self.offset >= 0
    }

    /// The number's digits without sign and trailing zeros, and the exponent of the power of ten by which they are multiplied.
    pub(super) fn digits(&self) -> (String, i64) {
        use std::fmt::Write;
        let mut digits = String::with_capacity(self.limbs.len().saturating_mul(9));
        for limb in self.limbs.iter().rev() {
            let width = if digits.is_empty() { 1 } else { 9 };
            // Writing to a String does not fail.
            let _ = write!(digits, "{limb:0width$}");
        }
        let length = digits.trim_end_matches('0').len();
        let zeros = digits.len().saturating_sub(length);
        digits.truncate(length);
        let exponent = self.offset.saturating_mul(LIMB_DIGITS);
        (
            digits,
            exponent.saturating_add_unsigned(zeros.try_into().unwrap_or(u64::MAX)),
        )
    }

    /// The double nearest to the unscaled integer, and the scale. Go stores a decimal as two integers: the unscaled integer, which is the
    /// number × 10^scale, and the scale.
    pub(super) fn approximate(&self) -> (f64, i32) {
        let (digits, exponent) = self.digits();
        let exponent = exponent.saturating_add(self.scale.into());
        let sign = if self.negative { "-" } else { "" };
        let unscaled = format!("{sign}{digits}e{exponent}").parse();
        (unscaled.unwrap_or(0.0), self.scale)
    }

    /// Divides an integer by 1024 as long as the result is an integer. Returns the result and the number of divisions.
    pub(super) fn without_factors_of_1024(&self) -> (Decimal, u32) {
        let limbs = (0..self.end()).map(|weight| self.limb(weight)).collect();
        let (mut number, mut times): (Limbs, u32) = (limbs, 0);
        loop {
            let mut remainder: u64 = 0;
            let mut quotient: Limbs = number
                .iter()
                .rev()
                .map(|limb| {
                    let dividend = remainder
                        .saturating_mul(BASE)
                        .saturating_add((*limb).into());
                    remainder = dividend % 1024;
                    u32::try_from(dividend / 1024).unwrap_or(0)
                })
                .collect();
            if remainder != 0 || number.is_empty() {
                let number = Decimal::of(number, 0, 0).with_sign(self.negative);
                return (number, times);
            }
            quotient.reverse();
            while quotient.last() == Some(&0) {
                quotient.pop();
            }
            number = quotient;
            times = times.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        let (negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (number, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let exponent = exponent.parse().unwrap();
        Decimal::from_digits(whole.as_bytes(), fraction.as_bytes(), exponent).with_sign(negative)
    }

    #[test]
    fn orders_numbers() {
        let ascending = [
            "-1e2147483647",
            "-1e9",
            "-999999999.5",
            "-1",
            "-0.5",
            "-1e-2147483647",
            "0",
            "1e-9",
            "0.999",
            "1",
            "1.000000000000000000001",
            "2",
            "999999999",
            "1e9",
            "1000000000.1",
            "123e20",
            "1e2147483647",
        ];
        for (n, left) in ascending.iter().enumerate() {
            for (m, right) in ascending.iter().enumerate() {
                let order = decimal(left).compare(&decimal(right));
                assert_eq!(order, n.cmp(&m), "{left} {right}");
            }
        }
    }

    #[test]
    fn adds_numbers() {
        let check = |left: &str, right: &str, sum: &str, difference: &str| {
            let (left, right) = (decimal(left), decimal(right));
            assert!(left.plus(&right).unwrap().compare(&decimal(sum)).is_eq());
            assert!(
                left.minus(&right)
                    .unwrap()
                    .compare(&decimal(difference))
                    .is_eq()
            );
        };
        check(
            "999999999999999999999",
            "1",
            "1e21",
            "999999999999999999998",
        );
        check(
            "1e30",
            "-1e-9",
            "999999999999999999999999999999.999999999",
            "1000000000000000000000000000000.000000001",
        );
        check("0", "5", "5", "-5");
        check("-7.5", "7.5", "0", "-15");
        assert_eq!(
            decimal("1e2147483647").plus(&decimal("1")).unwrap_err(),
            TooManyDigits
        );
    }

    #[test]
    fn rounds_away_from_zero() {
        let check = |text: &str, expected: &str| {
            let rounded = decimal(text).rounded_up_to_nano();
            assert!(rounded.compare(&decimal(expected)).is_eq(), "{text}");
        };
        check("1e-2147483647", "1e-9");
        check("-1.0000000001", "-1.000000001");
        check("0.9999999999", "1");
        check("1.5", "1.5");
        check("1e2147483647", "1e2147483647");
        check("0", "0");
    }

    #[test]
    fn rounds_to_thousandths_away_from_zero() {
        let check = |text: &str, expected: &str| {
            let rounded = decimal(text).rounded_up_to_milli();
            assert!(rounded.compare(&decimal(expected)).is_eq(), "{text}");
        };
        check("1e-9", "1e-3");
        check("-1.0001", "-1.001");
        check("0.9999", "1");
        check("1.5", "1.5");
        check("12.345", "12.345");
        check("0", "0");
    }

    #[test]
    fn multiplies_and_divides() {
        let product = decimal("999999999999999999.9")
            .times(1 << 30)
            .times(1 << 30);
        let expected = ("11529215046068469758847078495393153024".to_owned(), -1);
        assert_eq!(product.digits(), expected);
        let (quotient, times) = decimal("1152921504606846976e18").without_factors_of_1024();
        assert_eq!((quotient.digits(), times), (("9765625".to_owned(), 8), 7));
    }

    #[test]
    fn approximates_what_go_stores() {
        let check = |text: &str, expected: (f64, i32)| {
            assert_eq!(
                decimal(text).rounded_up_to_nano().approximate(),
                expected,
                "{text}"
            );
        };
        check("-12345678901234567890", (-1.234_567_890_123_456_8e28, 9));
        check("1e-400", (1.0, 9));
        check("1e2147483647", (f64::INFINITY, 9));
        assert_eq!(decimal("0.00").approximate(), (0.0, 2));
    }
}
