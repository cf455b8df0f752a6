//! How a quantity is printed (`CanonicalizeBytes`).

use std::fmt;

use super::decimal::Decimal;
use super::suffix::{BINARY_SUFFIXES, DECIMAL_SUFFIXES, suffix_of};
use super::{Quantity, QuantityFormat, Small};

impl fmt::Display for Quantity {
    /// Writes the canonical text, or the original text if upstream considers it canonical.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.text.is_empty() {
            return f.write_str(&self.text);
        }
        if self.sign() == 0 {
            return f.write_str("0");
        }
        let decimal = self.decimal();
        if self.format == QuantityFormat::Binary && decimal.is_integer() {
            let bound = Decimal::new(1024, 0);
            if decimal.compare(&bound).is_ge() || decimal.compare(&bound.with_sign(true)).is_le() {
                return self.write_binary(f, &decimal);
            }
        }
        let (mut digits, mut exponent) = decimal.digits();
        while exponent % 3 != 0 {
            digits.push('0');
            exponent = exponent.saturating_sub(1);
        }
        let sign = if decimal.sign() < 0 { "-" } else { "" };
        write!(f, "{sign}{digits}")?;
        match self.format {
            QuantityFormat::DecimalExponent if exponent == 0 => Ok(()),
            QuantityFormat::DecimalExponent => write!(f, "e{exponent}"),
            QuantityFormat::Decimal | QuantityFormat::Binary => {
                f.write_str(suffix_of(&DECIMAL_SUFFIXES, exponent))
            }
        }
    }
}

impl Quantity {
    fn write_binary(&self, f: &mut fmt::Formatter<'_>, decimal: &Decimal) -> fmt::Result {
        // Upstream does not divide the smallest integer, because its negation overflows.
        if self.large.get().is_none()
            && self.small
                == (Small {
                    value: i64::MIN,
                    scale: 0,
                })
        {
            return write!(f, "{}", i64::MIN);
        }
        let (number, times) = decimal.without_factors_of_1024();
        let (digits, zeros) = number.digits();
        let sign = if decimal.sign() < 0 { "-" } else { "" };
        write!(f, "{sign}{digits}")?;
        for _ in 0..zeros {
            f.write_str("0")?;
        }
        f.write_str(suffix_of(
            &BINARY_SUFFIXES,
            i64::from(times).saturating_mul(10),
        ))
    }
}
