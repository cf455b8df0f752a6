//! Amounts of resources: `100m`, `1.5Gi`, `2e6` (apimachinery `pkg/api/resource`).
//!
//! A quantity has one of two representations. The small form is an integer times a power of ten. The large form is a decimal of any size.
//! As in upstream, the representation has visible effects. Only quantities in the small form are integers. A comparison may convert its
//! first operand to the large form. If the first operand of a sum or difference has the large form, the result is written into this operand
//! and shared with it, so the operand's value changes. These effects are deterministic, and Gavel reproduces them.

use std::cmp::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use smol_str::SmolStr;

mod decimal;
mod numeral;
mod print;
mod suffix;

use decimal::Decimal;
pub use decimal::TooManyDigits;
use numeral::Numeral;
use suffix::Suffix;

/// An amount of a resource, such as `100m`.
#[derive(Debug, Clone)]
pub struct Quantity {
    /// The amount in the small form. It is used unless `large` is set.
    small: Small,
    large: OnceLock<Large>,
    format: QuantityFormat,
    /// The text that the quantity was read from. Empty if upstream does not print this text.
    text: SmolStr,
}

/// The small form: `value` × 10^`scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Small {
    value: i64,
    scale: i32,
}

/// The large form: a decimal that several quantities can share.
#[derive(Debug, Clone)]
struct Large(Arc<Mutex<Arc<Decimal>>>);

/// How a quantity is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuantityFormat {
    /// With an exponent: `12e6`.
    DecimalExponent,
    /// With a suffix for a power of 1024: `12Mi`.
    Binary,
    /// With a suffix for a power of 1000: `12M`.
    Decimal,
}

/// The error for a text that is not a quantity, in upstream's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseQuantityError {
    /// A character is not allowed at its position.
    #[error(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    Format,
    /// The text has no digits.
    #[error("unable to parse numeric part of quantity")]
    Numeric,
    /// The unit is unknown.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// The error for a quantity that is not an integer, or is not stored as an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot convert value to integer")]
pub struct NotAnInteger;

impl Quantity {
    /// Reads a quantity.
    ///
    /// # Errors
    ///
    /// The text is not a quantity.
    pub fn parse(text: &str) -> Result<Quantity, ParseQuantityError> {
        let numeral = Numeral::scan(text).ok_or(ParseQuantityError::Format)?;
        let suffix = Suffix::read(numeral.suffix).ok_or(ParseQuantityError::Suffix)?;
        if let Some(small) = numeral.small(suffix) {
            let text = match text == "0" || numeral.is_canonical(suffix, small) {
                true => SmolStr::new(text),
                false => SmolStr::default(),
            };
            return Ok(Quantity {
                small,
                large: OnceLock::new(),
                format: suffix.format,
                text,
            });
        }
        let (decimal, format) = numeral.large(suffix).ok_or(ParseQuantityError::Numeric)?;
        Ok(Quantity::of_large(Large::new(decimal), format))
    }

    fn of_small(small: Small, format: QuantityFormat) -> Quantity {
        Quantity {
            small,
            large: OnceLock::new(),
            format,
            text: SmolStr::default(),
        }
    }

    fn of_large(large: Large, format: QuantityFormat) -> Quantity {
        let small = Small { value: 0, scale: 0 };
        Quantity {
            large: OnceLock::from(large),
            ..Quantity::of_small(small, format)
        }
    }

    /// A copy that shares no decimal with this quantity: later sums and comparisons with this quantity do not change the copy.
    #[must_use]
    pub fn unshared(&self) -> Quantity {
        let large = self.large.get();
        Quantity {
            large: large.map_or_else(OnceLock::new, |large| large.unshared().into()),
            text: self.text.clone(),
            ..*self
        }
    }

    /// Whether the quantity has the large form. Only operations with such a quantity change an operand.
    pub fn is_large(&self) -> bool {
        self.large.get().is_some()
    }

    /// The memory of the digits, in bytes; 0 if the quantity has the small form.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.large.get().map_or(0, Large::bytes)
    }

    /// The amount as a decimal.
    fn decimal(&self) -> Arc<Decimal> {
        match self.large.get() {
            Some(large) => large.get(),
            None => Arc::new(self.small.to_decimal()),
        }
    }

    /// The sign: -1, 0 or 1.
    pub fn sign(&self) -> i64 {
        match self.large.get() {
            Some(large) => large.get().sign(),
            None => self.small.value.signum(),
        }
    }

    /// The quantity as an integer. `1` and `1Ki` are stored as integers, `1.0` and `1Pi` are not.
    ///
    /// # Errors
    ///
    /// The quantity is not stored as an integer.
    pub fn as_integer(&self) -> Result<i64, NotAnInteger> {
        let integer = match self.large.get() {
            Some(_) => None,
            None => self.small.at_scale(0),
        };
        integer.ok_or(NotAnInteger)
    }

    /// The amount as a double. It may not be the nearest double, because upstream multiplies two doubles.
    pub fn as_approximate_float(&self) -> f64 {
        let (base, exponent) = match self.large.get() {
            Some(large) => {
                let (unscaled, scale) = large.get().approximate();
                (unscaled, scale.wrapping_neg())
            }
            None => (self.small.value as f64, self.small.scale),
        };
        if exponent == 0 {
            base
        } else {
            base * power_of_ten(exponent)
        }
    }

    /// Whether two quantities are the same amount, even if they are written differently.
    pub fn equals(&self, other: &Quantity) -> bool {
        self.order(other).is_eq()
    }

    /// Compares two amounts. If `other` has the large form, `self` is converted to the large form too, and has this form from then on.
    pub fn compare(&self, other: &Quantity) -> Ordering {
        if other.is_large() {
            self.large
                .get_or_init(|| Large::new(self.small.to_decimal()));
        }
        self.order(other)
    }

    #[inline(always)]
    fn order(&self, other: &Quantity) -> Ordering {
        match (self.large.get(), other.large.get()) {
            (None, None) => self.small.compare(other.small),
            _ => self.order_of_decimals(other),
        }
    }

    #[cold]
    fn order_of_decimals(&self, other: &Quantity) -> Ordering {
        self.decimal().compare(&other.decimal())
    }

    /// The sum. If `self` has the large form, the call also changes `self`, as in upstream: its value becomes the sum.
    ///
    /// # Errors
    ///
    /// The sum would have too many digits.
    pub fn plus(&self, other: &Quantity) -> Result<Quantity, TooManyDigits> {
        self.combine(other, Small::plus, Decimal::plus)
    }

    /// The difference. If `self` has the large form, its value becomes the difference too.
    ///
    /// # Errors
    ///
    /// The difference would have too many digits.
    pub fn minus(&self, other: &Quantity) -> Result<Quantity, TooManyDigits> {
        // As in upstream, the negation of the smallest integer overflows and does not change it.
        let minus = |left: Small, right: Small| {
            let value = right.value.wrapping_neg();
            left.plus(Small { value, ..right })
        };
        self.combine(other, minus, Decimal::minus)
    }

    /// The quantity rounded away from zero to thousandths, the finest unit of amounts in resource lists.
    #[must_use]
    pub fn rounded_up_to_milli(&self) -> Quantity {
        let decimal = self.decimal();
        let rounded = Decimal::clone(&decimal).rounded_up_to_milli();
        match rounded.compare(&decimal) {
            Ordering::Equal => self.clone(),
            _ => Quantity::of_large(Large::new(rounded), self.format),
        }
    }

    fn combine(
        &self,
        other: &Quantity,
        small: impl Fn(Small, Small) -> Option<Small>,
        decimal: impl Fn(&Decimal, &Decimal) -> Result<Decimal, TooManyDigits>,
    ) -> Result<Quantity, TooManyDigits> {
        let format = if self.sign() == 0 {
            other.format
        } else {
            self.format
        };
        if !self.is_large()
            && !other.is_large()
            && let Some(small) = small(self.small, other.small)
        {
            return Ok(Quantity::of_small(small, format));
        }
        let result = decimal(&self.decimal(), &other.decimal())?;
        let large = match self.large.get() {
            Some(large) => {
                large.set(result);
                large.clone()
            }
            None => Large::new(result),
        };
        Ok(Quantity::of_large(large, format))
    }
}

impl From<i64> for Quantity {
    fn from(value: i64) -> Quantity {
        Quantity::of_small(Small { value, scale: 0 }, QuantityFormat::DecimalExponent)
    }
}

impl Large {
    /// The memory of the digits, in bytes.
    #[cold]
    fn bytes(&self) -> usize {
        self.get().bytes()
    }

    fn new(decimal: Decimal) -> Large {
        Large(Arc::new(Mutex::new(Arc::new(decimal))))
    }

    fn unshared(&self) -> Large {
        Large(Arc::new(Mutex::new(self.get())))
    }

    fn get(&self) -> Arc<Decimal> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn set(&self, decimal: Decimal) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(decimal);
    }
}

impl Small {
    fn to_decimal(self) -> Decimal {
        Decimal::new(self.value, self.scale)
    }

    /// The amount × 10^-`scale` as an integer. `None` if it does not fit into 64 bits, or if `scale` is greater than `self.scale`.
    fn at_scale(self, scale: i32) -> Option<i64> {
        let difference = i64::from(self.scale).checked_sub(scale.into())?;
        match u32::try_from(difference) {
            Ok(_) if self.value == 0 => Some(0),
            Ok(power) => self.value.checked_mul(10_i64.checked_pow(power)?),
            Err(_) => None,
        }
    }

    #[inline]
    fn compare(self, other: Small) -> Ordering {
        match self.scale.cmp(&other.scale) {
            Ordering::Less => other.compare_scaled(self).reverse(),
            Ordering::Equal => self.value.cmp(&other.value),
            Ordering::Greater => self.compare_scaled(other),
        }
    }

    /// Compares two amounts. `self` must have the greater scale.
    fn compare_scaled(self, other: Small) -> Ordering {
        let power = self.scale.abs_diff(other.scale);
        let raised = 10_i128
            .checked_pow(power)
            .and_then(|power| power.checked_mul(self.value.into()));
        match raised {
            Some(raised) => raised.cmp(&other.value.into()),
            // The scaled value overflowed. Unless it is zero, its magnitude exceeds that of every other value.
            None if self.value == 0 => 0.cmp(&other.value),
            None => self.value.cmp(&0),
        }
    }

    /// The sum, if it can be represented in the small form.
    fn plus(self, other: Small) -> Option<Small> {
        if other.value == 0 {
            return Some(self);
        }
        if self.value == 0 {
            return Some(other);
        }
        let scale = self.scale.min(other.scale);
        let value = self.at_scale(scale)?.checked_add(other.at_scale(scale)?)?;
        Some(Small { value, scale })
    }
}

/// 10^`exponent`, as Go computes it from two tables (`math.Pow10`).
fn power_of_ten(exponent: i32) -> f64 {
    const ONES: [f64; 32] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31,
    ];
    const LARGE: [f64; 10] = [
        1e0, 1e32, 1e64, 1e96, 1e128, 1e160, 1e192, 1e224, 1e256, 1e288,
    ];
    const TINY: [f64; 11] = [
        1e0, 1e-32, 1e-64, 1e-96, 1e-128, 1e-160, 1e-192, 1e-224, 1e-256, 1e-288, 1e-320,
    ];
    let nth = |table: &[f64], index: u32| {
        let index = usize::try_from(index).ok();
        index
            .and_then(|index| table.get(index).copied())
            .unwrap_or(0.0)
    };
    let size = exponent.unsigned_abs();
    let one = nth(&ONES, size % 32);
    match exponent {
        0..=308 => nth(&LARGE, size / 32) * one,
        -323..0 => nth(&TINY, size / 32) / one,
        309.. => f64::INFINITY,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests;
