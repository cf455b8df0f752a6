//! Times as Go reads and prints them (`time.Parse` and `Format` with RFC 3339; `format.go`, `format_rfc3339.go`), and
//! the fields of a date.

mod layout;

use std::fmt::{self, Write};

pub use layout::{Layout, ParseError};

const DAY: i64 = 86_400;
/// The days of 400 years, after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;

/// An instant with the offset from UTC in which it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffsetTime {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub unix_seconds: i64,
    /// Nanoseconds within the second.
    pub nanos: u32,
    /// Seconds east of UTC.
    pub offset_seconds: i32,
}

impl OffsetTime {
    /// Reads a time in the layout [`Layout::Rfc3339`]; `None` if the text is not such a time.
    pub fn parse(text: &str) -> Option<OffsetTime> {
        Layout::Rfc3339.parse(text).ok()
    }

    /// Whether this is the start of the year 1, Go's zero time.
    pub fn is_zero(self) -> bool {
        self.unix_seconds == -62_135_596_800 && self.nanos == 0
    }

    /// The same instant in UTC, truncated to whole seconds.
    #[must_use]
    pub fn utc_second(self) -> OffsetTime {
        OffsetTime {
            nanos: 0,
            offset_seconds: 0,
            ..self
        }
    }

    /// Writes the time as `time.RFC3339Nano` does, in its own offset: fractions without trailing zeros, `Z` for UTC.
    ///
    /// # Errors
    ///
    /// Writing to `out` fails.
    pub fn write_rfc3339(self, out: &mut impl Write) -> fmt::Result {
        let c = Civil::at(self.unix_seconds, i64::from(self.offset_seconds));
        if c.year < 0 {
            out.write_char('-')?;
        }
        let year = c.year.unsigned_abs();
        write!(
            out,
            "{year:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            c.month, c.day, c.hour, c.minute, c.second
        )?;
        if self.nanos != 0 {
            let (mut fraction, mut width) = (self.nanos, 9usize);
            while fraction.is_multiple_of(10) {
                fraction /= 10;
                width = width.saturating_sub(1);
            }
            write!(out, ".{fraction:0width$}")?;
        }
        if self.offset_seconds == 0 {
            return out.write_char('Z');
        }
        let minutes = self.offset_seconds / 60;
        let sign = if minutes < 0 { '-' } else { '+' };
        write!(
            out,
            "{sign}{:02}:{:02}",
            minutes.unsigned_abs() / 60,
            minutes.unsigned_abs() % 60
        )
    }
}

/// The calendar date and the time of day of an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Civil {
    /// The year of the Gregorian calendar; 0 is the year before 1.
    pub year: i64,
    /// The month, from 1.
    pub month: u8,
    /// The day of the month, from 1.
    pub day: u8,
    /// The day of the year, from 1.
    pub year_day: u16,
    /// The day of the week; Sunday is 0.
    pub weekday: u8,
    /// The hour, 0 to 23.
    pub hour: u8,
    /// The minute, 0 to 59.
    pub minute: u8,
    /// The second, 0 to 59.
    pub second: u8,
}

impl Civil {
    /// The date and time of day of an instant, at an offset in seconds east of UTC.
    pub fn at(unix_seconds: i64, offset_seconds: i64) -> Civil {
        let local = unix_seconds.saturating_add(offset_seconds);
        let days = local.div_euclid(DAY);
        let second_of_day = local.rem_euclid(DAY);
        // Days since 0000-03-01, so that a leap day ends its year.
        let shifted = days.saturating_add(719_468);
        let (era_year, month, day, year_day) = civil_of_era(shifted.rem_euclid(ERA_DAYS));
        Civil {
            year: shifted
                .div_euclid(ERA_DAYS)
                .saturating_mul(400)
                .saturating_add(era_year),
            month,
            day,
            year_day,
            // 1970-01-01 was a Thursday.
            weekday: small(days.rem_euclid(7).saturating_add(4) % 7),
            hour: small(second_of_day / 3600),
            minute: small(second_of_day / 60 % 60),
            second: small(second_of_day % 60),
        }
    }
}

/// The year (0 to 400), month, day and day of the year for a day of an era. Days are counted from March 1 of the era's year 0.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "all numbers are below the number of days in 400 years"
)]
fn civil_of_era(day_of_era: i64) -> (i64, u8, u8, u16) {
    let day_of_era = day_of_era.clamp(0, ERA_DAYS - 1);
    let march_year =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_march_year = day_of_era - (365 * march_year + march_year / 4 - march_year / 100);
    let march_month = (5 * day_of_march_year + 2) / 153;
    let day = day_of_march_year - (153 * march_month + 2) / 5 + 1;
    let (year, month) = if march_month < 10 {
        (march_year, march_month + 3)
    } else {
        (march_year + 1, march_month - 9)
    };
    let year_day = if month <= 2 {
        day_of_march_year - 305
    } else {
        day_of_march_year + 60 + i64::from(is_leap(year))
    };
    (
        year,
        small(month),
        small(day),
        u16::try_from(year_day).unwrap_or_default(),
    )
}

/// The days from 1970-01-01 to a date of the years 0 to 9999.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "all numbers are below the number of days in 10000 years"
)]
fn days_from_civil(year: u16, month: u16, day: u16) -> i64 {
    let (month, day) = (i64::from(month), i64::from(day));
    let march_year = i64::from(year) - i64::from(month <= 2);
    let march_month = (month + 9) % 12;
    let leap_days =
        march_year.div_euclid(4) - march_year.div_euclid(100) + march_year.div_euclid(400);
    365 * march_year + leap_days + (153 * march_month + 2) / 5 + day - 1 - 719_468
}

fn days_in_month(year: u16, month: u16) -> u16 {
    match month {
        2 if is_leap(i64::from(year)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Converts hours and minutes to seconds.
fn seconds(hours: u16, minutes: u16) -> i64 {
    i64::from(hours)
        .saturating_mul(60)
        .saturating_add(i64::from(minutes))
        .saturating_mul(60)
}

/// A number that is known to be below 256.
fn small(number: i64) -> u8 {
    u8::try_from(number).unwrap_or_default()
}

#[cfg(test)]
mod tests;
