//! Durations in custom resources (kube-openapi `pkg/validation/strfmt/duration.go`): a string in Go's notation or, if Go cannot parse the
//! string, the sum of all numbers in the string that have a unit.

use gavel_golang::duration;

/// Kubernetes' error for a string that is not a duration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoDuration(pub(crate) String);

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;

/// The units: their names, and their length in nanoseconds. Words that begin with the last name in a row, such as `days`, are also names of
/// its unit.
const UNITS: [(&[&str], i64); 8] = [
    (&["ns", "nano"], 1),
    (&["us", "µs", "micro"], 1_000),
    (&["ms", "milli"], 1_000_000),
    (&["s", "sec"], SECOND),
    (&["m", "min"], 60 * SECOND),
    (&["h", "hr", "hour"], 3_600 * SECOND),
    (&["d", "day"], DAY),
    (&["w", "wk", "week"], 7 * DAY),
];

/// The nanoseconds of a duration. If Go cannot parse the string, all its numbers that have a unit are added, and the rest of the string is
/// ignored: `2 days` is two days, but so is `-2d`, and `1.5d` is five days.
pub(crate) fn parse(text: &str) -> Result<i64, NoDuration> {
    if let Some(nanos) = duration::parse(text) {
        return Ok(nanos);
    }
    let mut total = None;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (_, from) = rest.split_at_checked(start).unwrap_or_default();
        let (digits, after) = split_while(from, |c| c.is_ascii_digit());
        let is_space = |c| matches!(c, ' ' | '\t' | '\n' | '\x0c' | '\r');
        let (_, spaced) = split_while(after, is_space);
        let (unit, end) = split_while(spaced, |c| c.is_ascii_alphabetic() || c == 'µ');
        if unit.is_empty() {
            rest = after;
            continue;
        }
        rest = end;
        let number: i64 = digits.parse().map_err(|_| {
            NoDuration(format!(
                "strconv.Atoi: parsing \"{digits}\": value out of range"
            ))
        })?;
        if let Some(nanos) = nanoseconds(&unit.to_ascii_lowercase()) {
            let so_far: i64 = total.unwrap_or(0);
            total = Some(so_far.wrapping_add(number.wrapping_mul(nanos)));
        }
    }
    total.ok_or_else(|| NoDuration(format!("unable to parse {text} as duration")))
}

fn nanoseconds(unit: &str) -> Option<i64> {
    let (_, nanos) = UNITS.iter().find(|(names, _)| {
        names.contains(&unit) || names.last().is_some_and(|last| unit.starts_with(last))
    })?;
    Some(*nanos)
}

fn split_while(text: &str, matches: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !matches(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_are_added_up() {
        for (text, expected) in [
            ("1h30m", Some(5_400 * SECOND)),
            ("0", Some(0)),
            ("-2d", Some(2 * DAY)),
            ("1.5d", Some(5 * DAY)),
            ("PT1H", Some(3_600 * SECOND)),
            ("1h30foo", Some(3_600 * SECOND)),
            ("2 days 3\tHOURS", Some(2 * DAY + 3 * 3_600 * SECOND)),
            ("1 week, 1wk", Some(14 * DAY)),
            ("5µs", Some(5_000)),
            ("10 micros", Some(10_000)),
            ("106752d", Some(106_752_i64.wrapping_mul(DAY))),
            ("5", None),
            ("", None),
            ("1 month", None),
            ("1 2 3", None),
        ] {
            assert_eq!(parse(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn failures_are_worded_as_upstream() {
        for (text, message) in [
            ("5", "unable to parse 5 as duration"),
            (
                "99999999999999999999 d",
                "strconv.Atoi: parsing \"99999999999999999999\": value out of range",
            ),
        ] {
            assert_eq!(parse(text), Err(NoDuration(message.to_owned())));
        }
    }
}
