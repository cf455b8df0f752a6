//! The parts of timestamps, in UTC or in a zone, and the totals of durations.

use super::typed;
use crate::cost::Cost;
use crate::decl::{CallContext, Overload};
use crate::error::EvalError;
use crate::value::{Duration, Timestamp, Value};
use gavel_golang::duration::seconds;
use gavel_golang::time::Civil;
use gavel_golang::zone::Zone;

const IN_UTC: &str = "timestamp.() -> int";
const IN_ZONE: &str = "timestamp.(string) -> int";
const TOTAL: &str = "duration.() -> int";

const MINUTE: i64 = 60_000_000_000;
const HOUR: i64 = 3_600_000_000_000;

pub(super) const ROWS: &[Overload] = &[
    typed(
        "getFullYear",
        "timestamp_to_year",
        IN_UTC,
        full_year,
        Cost::ONE,
        "timestamp('2024-02-29T10:30:45.678Z').getFullYear() == 2024",
    ),
    typed(
        "getFullYear",
        "timestamp_to_year_with_tz",
        IN_ZONE,
        full_year,
        Cost::ONE,
        "timestamp('2024-01-01T05:00:00Z').getFullYear('-08:00') == 2023",
    ),
    typed(
        "getMonth",
        "timestamp_to_month",
        IN_UTC,
        month,
        Cost::ONE,
        "timestamp('2024-02-29T10:30:45.678Z').getMonth() == 1",
    ),
    typed(
        "getMonth",
        "timestamp_to_month_with_tz",
        IN_ZONE,
        month,
        Cost::ONE,
        "timestamp('2024-01-01T05:00:00Z').getMonth('America/Los_Angeles') == 11",
    ),
    typed(
        "getDayOfYear",
        "timestamp_to_day_of_year",
        IN_UTC,
        day_of_year,
        Cost::ONE,
        "timestamp('2024-02-29T10:30:45.678Z').getDayOfYear() == 59",
    ),
    typed(
        "getDayOfYear",
        "timestamp_to_day_of_year_with_tz",
        IN_ZONE,
        day_of_year,
        Cost::ONE,
        "timestamp('2024-01-01T05:00:00Z').getDayOfYear('-08:00') == 364",
    ),
    typed(
        "getDayOfMonth",
        "timestamp_to_day_of_month",
        IN_UTC,
        day_of_month,
        Cost::ONE,
        "timestamp('2024-02-29T10:30:45.678Z').getDayOfMonth() == 28",
    ),
    typed(
        "getDayOfMonth",
        "timestamp_to_day_of_month_with_tz",
        IN_ZONE,
        day_of_month,
        Cost::ONE,
        "timestamp('2024-01-01T05:00:00Z').getDayOfMonth('-08:00') == 30",
    ),
    typed(
        "getDate",
        "timestamp_to_day_of_month_1_based",
        IN_UTC,
        date,
        Cost::ONE,
        "timestamp('2024-02-29T10:30:45.678Z').getDate() == 29",
    ),
    typed(
        "getDate",
        "timestamp_to_day_of_month_1_based_with_tz",
        IN_ZONE,
        date,
        Cost::ONE,
        "timestamp('2024-01-01T05:00:00Z').getDate('-08:00') == 31",
    ),
    typed(
        "getDayOfWeek",
        "timestamp_to_day_of_week",
        IN_UTC,
        day_of_week,
        Cost::ONE,
        "timestamp('2024-02-29T10:30:45.678Z').getDayOfWeek() == 4",
    ),
    typed(
        "getDayOfWeek",
        "timestamp_to_day_of_week_with_tz",
        IN_ZONE,
        day_of_week,
        Cost::ONE,
        "timestamp('2024-01-01T05:00:00Z').getDayOfWeek('-08:00') == 0",
    ),
    typed(
        "getHours",
        "timestamp_to_hours",
        IN_UTC,
        hours,
        Cost::ONE,
        "timestamp('2024-02-29T10:30:45.678Z').getHours() == 10",
    ),
    typed(
        "getHours",
        "timestamp_to_hours_with_tz",
        IN_ZONE,
        hours,
        Cost::ONE,
        "timestamp('2024-02-29T10:30:45.678Z').getHours('Asia/Kolkata') == 16",
    ),
    typed(
        "getHours",
        "duration_to_hours",
        TOTAL,
        total_hours,
        Cost::ONE,
        "duration('90m').getHours() == 1",
    ),
    typed(
        "getMinutes",
        "timestamp_to_minutes",
        IN_UTC,
        minutes,
        Cost::ONE,
        "timestamp('2024-02-29T10:30:45.678Z').getMinutes() == 30",
    ),
    typed(
        "getMinutes",
        "timestamp_to_minutes_with_tz",
        IN_ZONE,
        minutes,
        Cost::ONE,
        "timestamp('2024-02-29T10:30:45.678Z').getMinutes('Asia/Kolkata') == 0",
    ),
    typed(
        "getMinutes",
        "duration_to_minutes",
        TOTAL,
        total_minutes,
        Cost::ONE,
        "duration('1h30m').getMinutes() == 90",
    ),
    typed(
        "getSeconds",
        "timestamp_to_seconds",
        IN_UTC,
        seconds_of_minute,
        Cost::ONE,
        "timestamp('2024-02-29T10:30:45.678Z').getSeconds() == 45",
    ),
    typed(
        "getSeconds",
        "timestamp_to_seconds_tz",
        IN_ZONE,
        seconds_of_minute,
        Cost::ONE,
        "timestamp('2024-02-29T10:30:45.678Z').getSeconds('+01:00') == 45",
    ),
    typed(
        "getSeconds",
        "duration_to_seconds",
        TOTAL,
        total_seconds,
        Cost::ONE,
        "duration('1m1.5s').getSeconds() == 61",
    ),
    typed(
        "getMilliseconds",
        "timestamp_to_milliseconds",
        IN_UTC,
        milliseconds,
        Cost::ONE,
        "timestamp('2024-02-29T10:30:45.678Z').getMilliseconds() == 678",
    ),
    typed(
        "getMilliseconds",
        "timestamp_to_milliseconds_with_tz",
        IN_ZONE,
        milliseconds,
        Cost::ONE,
        "timestamp('2024-02-29T10:30:45.678Z').getMilliseconds('+01:00') == 678",
    ),
    typed(
        "getMilliseconds",
        "duration_to_milliseconds",
        TOTAL,
        total_milliseconds,
        Cost::ONE,
        "duration('1.5s').getMilliseconds() == 1500",
    ),
];

/// What the specification has otherwise: the milliseconds of a duration within the second.
pub(super) const SPECIFIED: &[Overload] = &[typed(
    "getMilliseconds",
    "duration_to_milliseconds",
    TOTAL,
    milliseconds_of_second,
    Cost::ONE,
    "duration('1.5s').getMilliseconds() == 500",
)];

fn full_year<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    part(args, |civil, _| civil.year)
}

fn month<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    part(args, |civil, _| i64::from(civil.month).saturating_sub(1))
}

fn day_of_year<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    part(args, |civil, _| i64::from(civil.year_day).saturating_sub(1))
}

fn day_of_month<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    part(args, |civil, _| i64::from(civil.day).saturating_sub(1))
}

fn date<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    part(args, |civil, _| i64::from(civil.day))
}

fn day_of_week<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    part(args, |civil, _| i64::from(civil.weekday))
}

fn hours<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    part(args, |civil, _| i64::from(civil.hour))
}

fn minutes<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    part(args, |civil, _| i64::from(civil.minute))
}

fn seconds_of_minute<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    part(args, |civil, _| i64::from(civil.second))
}

fn milliseconds<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    part(args, |_, time| i64::from(time.nanos / 1_000_000))
}

/// A part of a timestamp, in the zone that the second argument names.
fn part<'a>(args: &[Value<'a>], read: fn(Civil, Timestamp) -> i64) -> Result<Value<'a>, EvalError> {
    let (time, offset) = match args {
        [Value::Timestamp(time)] => (*time, 0),
        [Value::Timestamp(time), Value::String(zone)] => {
            let zone = Zone::parse(zone).map_err(|error| EvalError::new(error.to_string()))?;
            (*time, zone.offset_at(time.seconds))
        }
        _ => return Err(EvalError::no_such_overload()),
    };
    Ok(Value::Int(read(Civil::at(time.seconds, offset), time)))
}

fn total_hours<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    total(args, |nanos| sum(nanos / HOUR, nanos % HOUR, HOUR))
}

fn total_minutes<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    total(args, |nanos| sum(nanos / MINUTE, nanos % MINUTE, MINUTE))
}

fn total_seconds<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    total(args, |nanos| seconds(nanos) as i64)
}

fn total_milliseconds<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    total(args, |nanos| nanos / 1_000_000)
}

fn milliseconds_of_second<'a>(
    _: &CallContext<'a>,
    args: &[Value<'a>],
) -> Result<Value<'a>, EvalError> {
    total(args, |nanos| nanos % 1_000_000_000 / 1_000_000)
}

/// A whole number of units in a duration, towards zero.
fn total<'a>(args: &[Value<'a>], count: fn(i64) -> i64) -> Result<Value<'a>, EvalError> {
    match args {
        [Value::Duration(Duration(nanos))] => Ok(Value::Int(count(*nanos))),
        _ => Err(EvalError::no_such_overload()),
    }
}

/// Whole units and the nanoseconds that are left, added up as a double and cut off, as Go has it: just below a whole
/// number, long durations round up.
fn sum(whole: i64, rest: i64, unit: i64) -> i64 {
    (whole as f64 + rest as f64 / unit as f64) as i64
}

#[cfg(test)]
mod tests;
