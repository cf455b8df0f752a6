//! Converts numbers as Go does.

use gavel_apimachinery::server::{Difference, Server};

/// 2^53 - 1: doubles represent every integer up to this one exactly.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// A double as an integer, without its fraction. A double that does not fit becomes the smallest integer, as in Go on amd64.
#[expect(
    clippy::cast_possible_truncation,
    reason = "numbers out of range are handled"
)]
pub(super) fn truncate(double: f64) -> i64 {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    match (-BEYOND..BEYOND).contains(&double) {
        true => double as i64,
        false => i64::MIN,
    }
}

/// An integer as a double.
#[expect(clippy::cast_precision_loss, reason = "Go rounds in the same way")]
pub(super) fn widen(int: i64) -> f64 {
    int as f64
}

/// The doubles that upstream treats as integers (swag `IsFloat64AJSONInteger`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WholeDoubles {
    /// A double may differ from the nearest integer by a billionth of that integer.
    NearIntegers,
    /// A positive double may exceed an integer by about two billionths of that integer.
    AboveIntegers,
}

impl WholeDoubles {
    pub(super) fn of(server: Server) -> Self {
        match server.has(Difference::WholeDoublesAreNearIntegers) {
            true => WholeDoubles::NearIntegers,
            false => WholeDoubles::AboveIntegers,
        }
    }

    pub(super) fn contain(self, double: f64) -> bool {
        const CLOSE: f64 = 1e-9;
        if !(-MAX_SAFE..=MAX_SAFE).contains(&double) {
            return false;
        }
        match self {
            WholeDoubles::NearIntegers => {
                let whole = double.round();
                whole == double || (double - whole).abs() < CLOSE * whole.abs()
            }
            WholeDoubles::AboveIntegers => {
                let whole = double.trunc();
                let off = (double - whole).abs();
                whole == double || (whole > 0.0 && off / (double + whole) < CLOSE)
            }
        }
    }
}

/// The character with this code point, or U+FFFD if the code point is invalid, as when Go converts an integer to a string.
pub(super) fn character(int: i64) -> char {
    let code = u32::try_from(int).ok().and_then(char::from_u32);
    code.unwrap_or(char::REPLACEMENT_CHARACTER)
}
