//! Time zones in the form that CEL's timestamp members accept (cel-go `common/types/timestamp.go`, Go's `time.LoadLocation`).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use thiserror::Error;

use super::integer::{AtoiError, atoi};

/// The longest name that can follow the directory of the database, `/usr/share/zoneinfo/`, in a path of Linux, in bytes.
const LONGEST_NAME: usize = 4074;

/// The longest name of a file or directory of Linux, in bytes.
const LONGEST_PART: usize = 255;

/// The directories of the database, such as `America` and `America/Argentina`.
static DIRECTORIES: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let directory = |end: usize, name: &str| name.get(..end).map(str::to_owned);
    let within = |name: &str| {
        Vec::from_iter(
            name.match_indices('/')
                .filter_map(|(end, _)| directory(end, name)),
        )
    };
    jiff::tz::db()
        .available()
        .flat_map(|name| within(name.as_str()))
        .collect()
});

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
    /// The operating system cannot read the file that the name denotes. The text is the operating system's.
    #[error("{0}")]
    Unreadable(&'static str),
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
        match find(name) {
            Some(zone) => Ok(Zone::Named(zone)),
            None => open(name).map(Zone::Named),
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

/// The zone of the database with this name.
fn find(name: &str) -> Option<TimeZone> {
    // jiff ignores the case of names. It also accepts `Etc/Unknown`, which is not in the database and has no `iana_name`.
    let zone = TimeZone::get(name).ok()?;
    (zone.iana_name() == Some(name)).then_some(zone)
}

/// Finds the zone whose file Linux would open for a name, such as `./UTC`. Go opens a file in the directory of the database.
fn open(name: &str) -> Result<TimeZone, ZoneError> {
    if name.contains('\0') {
        return Err(ZoneError::Unreadable("invalid argument"));
    }
    if name.len() > LONGEST_NAME {
        return Err(ZoneError::Unreadable("file name too long"));
    }
    let (mut path, mut file) = (String::new(), None);
    for part in name.split('/') {
        if file.is_some() {
            return Err(ZoneError::Unreadable("not a directory"));
        }
        if part.len() > LONGEST_PART {
            return Err(ZoneError::Unreadable("file name too long"));
        }
        if matches!(part, "" | ".") {
            continue;
        }
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(part);
        file = find(&path);
        if file.is_none() && !DIRECTORIES.contains(&path) {
            return Err(ZoneError::Unknown(name.to_owned()));
        }
    }
    file.ok_or(ZoneError::Unreadable("is a directory"))
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
