//! The values of CEL's types `duration` and `timestamp`, and their formatting.

use std::fmt;

use gavel_golang::time::OffsetTime;

/// A span of time in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub i64);

/// An instant, and the offset from UTC with which it was written.
///
/// Comparisons only use the instant. `string()` prints the time with the offset.
#[derive(Debug, Clone, Copy)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Nanoseconds within the second, 0 to 999,999,999.
    pub nanos: u32,
    /// The offset from UTC in seconds; positive east of UTC.
    pub offset: i32,
}

impl Timestamp {
    /// The first second that CEL supports: 0001-01-01T00:00:00Z.
    pub const MIN_SECONDS: i64 = -62_135_596_800;
    /// The last second that CEL supports: 9999-12-31T23:59:59Z.
    pub const MAX_SECONDS: i64 = 253_402_300_799;

    /// Writes the timestamp as `string()` does: with its offset, and with as many fractional digits as needed.
    ///
    /// # Errors
    ///
    /// Writing to `out` fails.
    pub fn write_rfc3339(self, out: &mut impl fmt::Write) -> fmt::Result {
        let time = OffsetTime {
            unix_seconds: self.seconds,
            nanos: self.nanos,
            offset_seconds: self.offset,
        };
        time.write_rfc3339(out)
    }
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        (self.seconds, self.nanos) == (other.seconds, other.nanos)
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.seconds, self.nanos).cmp(&(other.seconds, other.nanos))
    }
}
