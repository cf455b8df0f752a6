//! Functions of timestamps and durations. `timestamp.getHours()` returns the hour in UTC or in a time zone; `duration.getHours()` returns
//! the whole duration in hours.

use crate::body;
use crate::decl::{Overload, row};
use crate::error::EvalError;
use crate::value::{Duration, Timestamp};
use gavel_golang::duration::seconds;
use gavel_golang::time::Civil;
use gavel_golang::zone::Zone;

const IN_UTC: &str = "timestamp.() -> int";
const IN_ZONE: &str = "timestamp.(string) -> int";
const TOTAL: &str = "duration.() -> int";

const MINUTE: i64 = 60_000_000_000;
const HOUR: i64 = 3_600_000_000_000;

#[rustfmt::skip] // One row per line.
pub(super) const ROWS: &[Overload] = &[
    row("getFullYear", "timestamp_to_year", IN_UTC, body!(|time: Timestamp| full_year(utc(time))), "timestamp('2024-02-29T10:30:45.678Z').getFullYear() == 2024"),
    row("getFullYear", "timestamp_to_year_with_tz", IN_ZONE, body!(|time: Timestamp, zone: &str| local(time, zone).map(full_year)), "timestamp('2024-01-01T05:00:00Z').getFullYear('-08:00') == 2023"),
    row("getMonth", "timestamp_to_month", IN_UTC, body!(|time: Timestamp| month(utc(time))), "timestamp('2024-02-29T10:30:45.678Z').getMonth() == 1"),
    row("getMonth", "timestamp_to_month_with_tz", IN_ZONE, body!(|time: Timestamp, zone: &str| local(time, zone).map(month)), "timestamp('2024-01-01T05:00:00Z').getMonth('America/Los_Angeles') == 11"),
    row("getDayOfYear", "timestamp_to_day_of_year", IN_UTC, body!(|time: Timestamp| day_of_year(utc(time))), "timestamp('2024-02-29T10:30:45.678Z').getDayOfYear() == 59"),
    row("getDayOfYear", "timestamp_to_day_of_year_with_tz", IN_ZONE, body!(|time: Timestamp, zone: &str| local(time, zone).map(day_of_year)), "timestamp('2024-01-01T05:00:00Z').getDayOfYear('-08:00') == 364"),
    row("getDayOfMonth", "timestamp_to_day_of_month", IN_UTC, body!(|time: Timestamp| day_of_month(utc(time))), "timestamp('2024-02-29T10:30:45.678Z').getDayOfMonth() == 28"),
    row("getDayOfMonth", "timestamp_to_day_of_month_with_tz", IN_ZONE, body!(|time: Timestamp, zone: &str| local(time, zone).map(day_of_month)), "timestamp('2024-01-01T05:00:00Z').getDayOfMonth('-08:00') == 30"),
    row("getDate", "timestamp_to_day_of_month_1_based", IN_UTC, body!(|time: Timestamp| date(utc(time))), "timestamp('2024-02-29T10:30:45.678Z').getDate() == 29"),
    row("getDate", "timestamp_to_day_of_month_1_based_with_tz", IN_ZONE, body!(|time: Timestamp, zone: &str| local(time, zone).map(date)), "timestamp('2024-01-01T05:00:00Z').getDate('-08:00') == 31"),
    row("getDayOfWeek", "timestamp_to_day_of_week", IN_UTC, body!(|time: Timestamp| day_of_week(utc(time))), "timestamp('2024-02-29T10:30:45.678Z').getDayOfWeek() == 4"),
    row("getDayOfWeek", "timestamp_to_day_of_week_with_tz", IN_ZONE, body!(|time: Timestamp, zone: &str| local(time, zone).map(day_of_week)), "timestamp('2024-01-01T05:00:00Z').getDayOfWeek('-08:00') == 0"),
    row("getHours", "timestamp_to_hours", IN_UTC, body!(|time: Timestamp| hours(utc(time))), "timestamp('2024-02-29T10:30:45.678Z').getHours() == 10"),
    row("getHours", "timestamp_to_hours_with_tz", IN_ZONE, body!(|time: Timestamp, zone: &str| local(time, zone).map(hours)), "timestamp('2024-02-29T10:30:45.678Z').getHours('Asia/Kolkata') == 16"),
    row("getHours", "duration_to_hours", TOTAL, body!(total_hours), "duration('90m').getHours() == 1"),
    row("getMinutes", "timestamp_to_minutes", IN_UTC, body!(|time: Timestamp| minutes(utc(time))), "timestamp('2024-02-29T10:30:45.678Z').getMinutes() == 30"),
    row("getMinutes", "timestamp_to_minutes_with_tz", IN_ZONE, body!(|time: Timestamp, zone: &str| local(time, zone).map(minutes)), "timestamp('2024-02-29T10:30:45.678Z').getMinutes('Asia/Kolkata') == 0"),
    row("getMinutes", "duration_to_minutes", TOTAL, body!(total_minutes), "duration('1h30m').getMinutes() == 90"),
    row("getSeconds", "timestamp_to_seconds", IN_UTC, body!(|time: Timestamp| seconds_of_minute(utc(time))), "timestamp('2024-02-29T10:30:45.678Z').getSeconds() == 45"),
    row("getSeconds", "timestamp_to_seconds_tz", IN_ZONE, body!(|time: Timestamp, zone: &str| local(time, zone).map(seconds_of_minute)), "timestamp('2024-02-29T10:30:45.678Z').getSeconds('+01:00') == 45"),
    row("getSeconds", "duration_to_seconds", TOTAL, body!(total_seconds), "duration('1m1.5s').getSeconds() == 61"),
    row("getMilliseconds", "timestamp_to_milliseconds", IN_UTC, body!(|time: Timestamp| milliseconds(utc(time))), "timestamp('2024-02-29T10:30:45.678Z').getMilliseconds() == 678"),
    row("getMilliseconds", "timestamp_to_milliseconds_with_tz", IN_ZONE, body!(|time: Timestamp, zone: &str| local(time, zone).map(milliseconds)), "timestamp('2024-02-29T10:30:45.678Z').getMilliseconds('+01:00') == 678"),
    row("getMilliseconds", "duration_to_milliseconds", TOTAL, body!(total_milliseconds), "duration('1.5s').getMilliseconds() == 1500"),
];

/// The row that differs in the specification: a duration's `getMilliseconds` returns only the milliseconds within the second.
#[rustfmt::skip] // One row per line.
pub(super) const SPECIFIED: &[Overload] = &[row("getMilliseconds", "duration_to_milliseconds", TOTAL, body!(milliseconds_of_second), "duration('1.5s').getMilliseconds() == 500")];

/// A timestamp in a time zone.
#[derive(Debug, Clone, Copy)]
struct Local {
    civil: Civil,
    nanos: u32,
}

fn utc(time: Timestamp) -> Local {
    Local {
        civil: Civil::at(time.seconds, 0),
        nanos: time.nanos,
    }
}

fn local(time: Timestamp, zone: &str) -> Result<Local, EvalError> {
    let zone = Zone::parse(zone).map_err(|error| EvalError::new(error.to_string()))?;
    Ok(Local {
        civil: Civil::at(time.seconds, zone.offset_at(time.seconds)),
        nanos: time.nanos,
    })
}

fn full_year(at: Local) -> i64 {
    at.civil.year
}

fn month(at: Local) -> i64 {
    i64::from(at.civil.month).saturating_sub(1)
}

fn day_of_year(at: Local) -> i64 {
    i64::from(at.civil.year_day).saturating_sub(1)
}

fn day_of_month(at: Local) -> i64 {
    i64::from(at.civil.day).saturating_sub(1)
}

fn date(at: Local) -> i64 {
    at.civil.day.into()
}

fn day_of_week(at: Local) -> i64 {
    at.civil.weekday.into()
}

fn hours(at: Local) -> i64 {
    at.civil.hour.into()
}

fn minutes(at: Local) -> i64 {
    at.civil.minute.into()
}

fn seconds_of_minute(at: Local) -> i64 {
    at.civil.second.into()
}

fn milliseconds(at: Local) -> i64 {
    i64::from(at.nanos / 1_000_000)
}

fn total_hours(Duration(nanos): Duration) -> i64 {
    sum(nanos / HOUR, nanos % HOUR, HOUR)
}

fn total_minutes(Duration(nanos): Duration) -> i64 {
    sum(nanos / MINUTE, nanos % MINUTE, MINUTE)
}

fn total_seconds(Duration(nanos): Duration) -> i64 {
    seconds(nanos) as i64
}

fn total_milliseconds(Duration(nanos): Duration) -> i64 {
    nanos / 1_000_000
}

fn milliseconds_of_second(Duration(nanos): Duration) -> i64 {
    nanos % 1_000_000_000 / 1_000_000
}

/// Adds the whole units and the remaining fraction of a unit as doubles, and truncates the sum, as Go does. For a long duration just below
/// a whole number of units, the sum rounds up to that number.
fn sum(whole: i64, rest: i64, unit: i64) -> i64 {
    (whole as f64 + rest as f64 / unit as f64) as i64
}

#[cfg(test)]
mod tests;
