//! Comparison and exact conversion of numbers of different types (cel-go `common/types/compare.go`).

use std::cmp::Ordering;

/// 2^63 and 2^64 as doubles.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;
const TWO_64: f64 = 18_446_744_073_709_551_616.0;

/// The int that equals a double; `None` if no int equals it. As in upstream, it is also `None` for -2^63.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the range is checked and the fraction is zero"
)]
pub fn exact_int(double: f64) -> Option<i64> {
    let in_range = -TWO_63 < double && double < TWO_63;
    (double.fract() == 0.0 && in_range).then_some(double as i64)
}

/// The uint that equals a double; `None` if no uint equals it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked and the fraction is zero"
)]
pub fn exact_uint(double: f64) -> Option<u64> {
    (double.fract() == 0.0 && (0.0..TWO_64).contains(&double)).then_some(double as u64)
}

/// Compares an int with a double; `None` for NaN. As in upstream, the int is first rounded to a double.
pub fn compare_int_double(int: i64, double: f64) -> Option<Ordering> {
    if double < -TWO_63 {
        Some(Ordering::Greater)
    } else if double > TWO_63 {
        Some(Ordering::Less)
    } else {
        (int as f64).partial_cmp(&double)
    }
}

/// Compares a uint with a double; `None` for NaN. As in upstream, the uint is first rounded to a double.
pub fn compare_uint_double(uint: u64, double: f64) -> Option<Ordering> {
    if double < 0.0 {
        Some(Ordering::Greater)
    } else if double > TWO_64 {
        Some(Ordering::Less)
    } else {
        (uint as f64).partial_cmp(&double)
    }
}

/// Compares an int with a uint, exactly.
pub fn compare_int_uint(int: i64, uint: u64) -> Ordering {
    u64::try_from(int).map_or(Ordering::Less, |int| int.cmp(&uint))
}
