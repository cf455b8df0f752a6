//! Time zones in the form that CEL's timestamp members accept (cel-go `common/types/timestamp.go`, Go's `time.LoadLocation`).

use jiff::Timestamp;
use jiff::tz::TimeZone;
use thiserror::Error;

use super::integer::{AtoiError, atoi};

/// A time zone: an offset from UTC for each instant.
#[derive(Debug, Clone)]
pub enum Zone {
    /// The same offset at all times, in seconds east of UTC.
    Fixed(i64),
    /// The rules of a zone of the IANA database.
    Named(TimeZone),
}

/// The error for a text that does not name a time zone, in Go's words.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ZoneError {
    /// The database has no such name.
    #[error("unknown time zone {0}")]
    Unknown(String),
    /// A name that is a path out of the database's directory, such as `../UTC`.
    #[error("time: invalid location name")]
    InvalidName,
    /// The hours or minutes of an offset are not a number.
    #[error(transparent)]
    Offset(#[from] AtoiError),
}

impl Zone {
    /// UTC.
    pub const UTC: Zone = Zone::Fixed(0);

    /// Finds the zone that a text names: a text with a colon is an offset, such as `-03:30`; any other text is a name in the IANA database,
    /// in its exact case. The empty name, `UTC` and `Local` are UTC.
    ///
    /// # Errors
    ///
    /// The offset is malformed, or the database has no such zone.
    pub fn parse(text: &str) -> Result<Zone, ZoneError> {
        match text.split_once(':') {
            Some((hours, minutes)) => Ok(Zone::Fixed(fixed_offset(hours, minutes)?)),
            None => Zone::named(text),
        }
    }

    fn named(name: &str) -> Result<Zone, ZoneError> {
        if matches!(name, "" | "UTC" | "Local") {
            return Ok(Zone::UTC);
        }
        if name.contains("..") || name.starts_with(['/', '\\']) {
            return Err(ZoneError::InvalidName);
        }
        // jiff ignores the case of names. It also accepts `Etc/Unknown`, which is not in the database and has no `iana_name`.
        match TimeZone::get(name) {
            Ok(zone) if zone.iana_name() == Some(name) => Ok(Zone::Named(zone)),
            _ => Err(ZoneError::Unknown(name.to_owned())),
        }
    }

    /// The offset in seconds east of UTC at an instant. The instant is given in seconds since 1970-01-01T00:00:00Z.
    pub fn offset_at(&self, unix_seconds: i64) -> i64 {
        match self {
            Zone::Fixed(offset) => *offset,
            Zone::Named(zone) => {
                // jiff's last instant is a day before the year 10000; the rules do not change after it.
                let within =
                    unix_seconds.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
                let instant = Timestamp::from_second(within).unwrap_or_default();
                i64::from(zone.to_offset(instant).seconds())
            }
        }
    }
}

/// The seconds of an offset. The sign of the hours also applies to the minutes, there is no range check, and Go's arithmetic
/// wraps.
fn fixed_offset(hours: &str, minutes: &str) -> Result<i64, AtoiError> {
    const MINUTE_NANOS: i64 = 60_000_000_000;
    let magnitude = atoi(hours)?.wrapping_mul(60);
    let part = atoi(minutes)?;
    let total = if hours.starts_with('-') {
        magnitude.wrapping_sub(part)
    } else {
        magnitude.wrapping_add(part)
    };
    let nanos = total.wrapping_mul(MINUTE_NANOS);
    // Go takes the seconds of the duration as a double and drops the fraction.
    Ok(super::duration::seconds(nanos) as i64)
}

#[cfg(test)]
mod tests;
