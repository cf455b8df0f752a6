//! Checked arithmetic on numbers, durations and timestamps (cel-go `common/types/overflow.go`).

use super::{Duration, Timestamp};
use crate::error::EvalError;

const NANOS_PER_SECOND: i64 = 1_000_000_000;

#[cold]
fn int_overflow() -> EvalError {
    EvalError::new("integer overflow")
}

#[cold]
fn uint_overflow() -> EvalError {
    EvalError::new("unsigned integer overflow")
}

#[cold]
fn timestamp_overflow() -> EvalError {
    EvalError::new("timestamp overflow")
}

#[cold]
fn division_by_zero() -> EvalError {
    EvalError::new("division by zero")
}

#[cold]
fn modulus_by_zero() -> EvalError {
    EvalError::new("modulus by zero")
}

/// `left + right`
///
/// # Errors
///
/// The result is out of range.
#[inline]
pub fn add_int(left: i64, right: i64) -> Result<i64, EvalError> {
    left.checked_add(right).ok_or_else(int_overflow)
}

/// `left - right`
///
/// # Errors
///
/// The result is out of range.
#[inline]
pub fn subtract_int(left: i64, right: i64) -> Result<i64, EvalError> {
    left.checked_sub(right).ok_or_else(int_overflow)
}

/// `left * right`
///
/// # Errors
///
/// The result is out of range.
#[inline]
pub fn multiply_int(left: i64, right: i64) -> Result<i64, EvalError> {
    left.checked_mul(right).ok_or_else(int_overflow)
}

/// `left / right`, rounded towards zero.
///
/// # Errors
///
/// `right` is zero, or the result is out of range.
#[inline]
pub fn divide_int(left: i64, right: i64) -> Result<i64, EvalError> {
    if right == 0 {
        return Err(division_by_zero());
    }
    left.checked_div(right).ok_or_else(int_overflow)
}

/// `left % right`, with the sign of `left`.
///
/// # Errors
///
/// `right` is zero, or the result is out of range.
#[inline]
pub fn modulo_int(left: i64, right: i64) -> Result<i64, EvalError> {
    if right == 0 {
        return Err(modulus_by_zero());
    }
    left.checked_rem(right).ok_or_else(int_overflow)
}

/// `-int`
///
/// # Errors
///
/// The result is out of range.
#[inline]
pub fn negate_int(int: i64) -> Result<i64, EvalError> {
    int.checked_neg().ok_or_else(int_overflow)
}

/// `left + right`
///
/// # Errors
///
/// The result is out of range.
#[inline]
pub fn add_uint(left: u64, right: u64) -> Result<u64, EvalError> {
    left.checked_add(right).ok_or_else(uint_overflow)
}

/// `left - right`
///
/// # Errors
///
/// The result is out of range.
#[inline]
pub fn subtract_uint(left: u64, right: u64) -> Result<u64, EvalError> {
    left.checked_sub(right).ok_or_else(uint_overflow)
}

/// `left * right`
///
/// # Errors
///
/// The result is out of range.
#[inline]
pub fn multiply_uint(left: u64, right: u64) -> Result<u64, EvalError> {
    left.checked_mul(right).ok_or_else(uint_overflow)
}

/// `left / right`
///
/// # Errors
///
/// `right` is zero.
#[inline]
pub fn divide_uint(left: u64, right: u64) -> Result<u64, EvalError> {
    left.checked_div(right).ok_or_else(division_by_zero)
}

/// `left % right`
///
/// # Errors
///
/// `right` is zero.
#[inline]
pub fn modulo_uint(left: u64, right: u64) -> Result<u64, EvalError> {
    left.checked_rem(right).ok_or_else(modulus_by_zero)
}

/// `left + right`
///
/// # Errors
///
/// The result is out of range.
#[inline]
pub fn add_duration(left: Duration, right: Duration) -> Result<Duration, EvalError> {
    add_int(left.0, right.0).map(Duration)
}

/// `left - right`
///
/// # Errors
///
/// The result is out of range.
#[inline]
pub fn subtract_duration(left: Duration, right: Duration) -> Result<Duration, EvalError> {
    subtract_int(left.0, right.0).map(Duration)
}

/// `-duration`. No overload declares it, but an operand of type `dyn` can be a duration.
///
/// # Errors
///
/// The result is out of range.
#[inline]
pub fn negate_duration(duration: Duration) -> Result<Duration, EvalError> {
    negate_int(duration.0).map(Duration)
}

/// `time + duration`. The result has the UTC offset of `time`.
///
/// # Errors
///
/// The result is out of range.
pub fn add_to_timestamp(time: Timestamp, duration: Duration) -> Result<Timestamp, EvalError> {
    let nanos = i64::from(time.nanos).saturating_add(duration.0.rem_euclid(NANOS_PER_SECOND));
    let seconds = time
        .seconds
        .checked_add(duration.0.div_euclid(NANOS_PER_SECOND))
        .and_then(|seconds| seconds.checked_add(nanos.div_euclid(NANOS_PER_SECOND)))
        .ok_or_else(int_overflow)?;
    if !(Timestamp::MIN_SECONDS..=Timestamp::MAX_SECONDS).contains(&seconds) {
        return Err(timestamp_overflow());
    }
    let nanos =
        u32::try_from(nanos.rem_euclid(NANOS_PER_SECOND)).map_err(|_| timestamp_overflow())?;
    Ok(Timestamp {
        seconds,
        nanos,
        offset: time.offset,
    })
}

/// `time - duration`. The result has the UTC offset of `time`.
///
/// # Errors
///
/// The result is out of range.
pub fn subtract_from_timestamp(
    time: Timestamp,
    duration: Duration,
) -> Result<Timestamp, EvalError> {
    add_to_timestamp(time, negate_duration(duration)?)
}

/// `left - right`
///
/// # Errors
///
/// The result is out of range.
pub fn subtract_timestamp(left: Timestamp, right: Timestamp) -> Result<Duration, EvalError> {
    let seconds = subtract_int(left.seconds, right.seconds)?;
    let nanos = i64::from(left.nanos).saturating_sub(i64::from(right.nanos));
    add_int(multiply_int(seconds, NANOS_PER_SECOND)?, nanos).map(Duration)
}
