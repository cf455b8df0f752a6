//! Reading times by layouts (`time.Parse`), with Go's messages.

use std::fmt::{self, Write};

use super::{DAY, OffsetTime, days_from_civil, days_in_month, seconds};

/// A layout in which times are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `2006-01-02T15:04:05Z07:00`
    Rfc3339,
    /// `2006-01-02T15:04:05.000000Z07:00`: the fraction must have six digits.
    Rfc3339Micro,
    /// `2006-01-02T15:04:05`, in UTC.
    DateTime,
    /// `2006-01-02`: midnight in UTC.
    Date,
}

/// The error for a text that is not a time. Prints like Go's error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseError<'t> {
    layout: Layout,
    text: &'t str,
    fault: LayoutFault<'t>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LayoutFault<'t> {
    /// The rest of the text does not begin with this element of the layout.
    Expected(&'static str, &'t str),
    /// A number is too large or small.
    OutOfRange(&'static str),
    /// The text continues after the time.
    Extra(&'t str),
}

impl Layout {
    /// The layout as Go writes it.
    pub const fn text(self) -> &'static str {
        match self {
            Layout::Rfc3339 => "2006-01-02T15:04:05Z07:00",
            Layout::Rfc3339Micro => "2006-01-02T15:04:05.000000Z07:00",
            Layout::DateTime => "2006-01-02T15:04:05",
            Layout::Date => "2006-01-02",
        }
    }

    /// Reads a time as leniently as Go. The hour may have one digit. The seconds may be followed by a point or comma and a fraction of any
    /// number of digits. Offsets may be up to 24:60.
    ///
    /// # Errors
    ///
    /// The text is not a time in this layout.
    pub fn parse(self, text: &str) -> Result<OffsetTime, ParseError<'_>> {
        self.read(&mut Cursor(text)).map_err(|fault| ParseError {
            layout: self,
            text,
            fault,
        })
    }

    fn read<'t>(self, cursor: &mut Cursor<'t>) -> Result<OffsetTime, LayoutFault<'t>> {
        let year = cursor.digits::<4>("2006")?;
        cursor.literal("-")?;
        let month = cursor.digits::<2>("01")?;
        in_range("month", (1..=12).contains(&month))?;
        cursor.literal("-")?;
        let day = cursor.digits::<2>("02")?;
        let (mut second_of_day, mut nanos, mut offset_seconds) = (0, 0, 0);
        if self != Layout::Date {
            cursor.literal("T")?;
            let hour = cursor.hour()?;
            in_range("hour", hour < 24)?;
            cursor.literal(":")?;
            let minute = cursor.digits::<2>("04")?;
            in_range("minute", minute < 60)?;
            cursor.literal(":")?;
            let second = cursor.digits::<2>("05")?;
            in_range("second", second < 60)?;
            second_of_day = seconds(hour, minute).saturating_add(i64::from(second));
            nanos = match self {
                Layout::Rfc3339Micro => cursor.microseconds()?,
                _ => cursor.fraction(),
            };
        }
        if matches!(self, Layout::Rfc3339 | Layout::Rfc3339Micro) {
            offset_seconds = cursor.offset("Z07:00")?;
        }
        if !cursor.0.is_empty() {
            return Err(LayoutFault::Extra(cursor.0));
        }
        in_range("day", (1..=days_in_month(year, month)).contains(&day))?;
        let local = days_from_civil(year, month, day)
            .saturating_mul(DAY)
            .saturating_add(second_of_day);
        Ok(OffsetTime {
            unix_seconds: local.saturating_sub(i64::from(offset_seconds)),
            nanos,
            offset_seconds,
        })
    }
}

fn in_range<'t>(what: &'static str, is_in_range: bool) -> Result<(), LayoutFault<'t>> {
    match is_in_range {
        true => Ok(()),
        false => Err(LayoutFault::OutOfRange(what)),
    }
}

/// The rest of a time's text.
struct Cursor<'t>(&'t str);

impl<'t> Cursor<'t> {
    fn expected(&self, element: &'static str) -> LayoutFault<'t> {
        LayoutFault::Expected(element, self.0)
    }

    fn literal(&mut self, text: &'static str) -> Result<(), LayoutFault<'t>> {
        self.0 = self
            .0
            .strip_prefix(text)
            .ok_or_else(|| self.expected(text))?;
        Ok(())
    }

    /// Reads a number of exactly `N` digits, at most four.
    fn digits<const N: usize>(&mut self, element: &'static str) -> Result<u16, LayoutFault<'t>> {
        let digits = self.0.get(..N).and_then(number);
        let (value, rest) = digits
            .zip(self.0.get(N..))
            .ok_or_else(|| self.expected(element))?;
        self.0 = rest;
        Ok(value)
    }

    /// Reads one or two digits.
    fn hour(&mut self) -> Result<u16, LayoutFault<'t>> {
        self.digits::<2>("15").or_else(|_| self.digits::<1>("15"))
    }

    /// Reads a fraction such as `.5` or `,5`; returns it in nanoseconds. Returns 0 if the text does not start with a fraction.
    fn fraction(&mut self) -> u32 {
        let Some(rest) = self.0.strip_prefix(['.', ',']) else {
            return 0;
        };
        let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = rest.strip_suffix(after).unwrap_or_default();
        if digits.is_empty() {
            return 0;
        }
        self.0 = after;
        let nine = digits.bytes().chain(std::iter::repeat(b'0')).take(9);
        nine.fold(0u32, |value, byte| {
            value
                .saturating_mul(10)
                .saturating_add(u32::from(byte.saturating_sub(b'0')))
        })
    }

    /// Reads a fraction of exactly six digits; returns it in nanoseconds.
    fn microseconds(&mut self) -> Result<u32, LayoutFault<'t>> {
        let fault = self.expected(".000000");
        let digits = self
            .0
            .strip_prefix(['.', ','])
            .and_then(|rest| rest.get(..6));
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let micros: u32 = digits.and_then(|digits| digits.parse().ok()).ok_or(fault)?;
        self.0 = self.0.get(7..).ok_or(fault)?;
        Ok(micros.saturating_mul(1000))
    }

    /// Reads `Z` or an offset such as `+01:00`, in seconds east of UTC.
    fn offset(&mut self, element: &'static str) -> Result<i32, LayoutFault<'t>> {
        if let Some(rest) = self.0.strip_prefix('Z') {
            self.0 = rest;
            return Ok(0);
        }
        let fault = self.expected(element);
        let Some((&[sign, h1, h2, b':', m1, m2], _)) = self.0.as_bytes().split_first_chunk::<6>()
        else {
            return Err(fault);
        };
        // Upstream checks the ranges before it checks the digits and the sign.
        let number = |digits: [u8; 2]| str::from_utf8(&digits).ok().and_then(number);
        let (hours, minutes) = (number([h1, h2]), number([m1, m2]));
        in_range(
            "time zone offset hour",
            hours.is_none_or(|hours| hours <= 24),
        )?;
        // Minutes are not read if the hours are not a number.
        let minutes = hours.and(minutes);
        in_range(
            "time zone offset minute",
            minutes.is_none_or(|minutes| minutes <= 60),
        )?;
        let (Some(hours), Some(minutes), b'+' | b'-') = (hours, minutes, sign) else {
            return Err(fault);
        };
        self.0 = self.0.get(6..).ok_or(fault)?;
        let magnitude = i32::try_from(seconds(hours, minutes)).unwrap_or_default();
        Ok(match sign {
            b'-' => magnitude.saturating_neg(),
            _ => magnitude,
        })
    }
}

/// The number that a text of digits represents; `None` if it contains anything else.
fn number(digits: &str) -> Option<u16> {
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| all_digits)
}

impl fmt::Display for ParseError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("parsing time ")?;
        write_quoted(f, self.text)?;
        match self.fault {
            LayoutFault::Expected(element, rest) => {
                f.write_str(" as ")?;
                write_quoted(f, self.layout.text())?;
                f.write_str(": cannot parse ")?;
                write_quoted(f, rest)?;
                f.write_str(" as ")?;
                write_quoted(f, element)
            }
            LayoutFault::OutOfRange(what) => write!(f, ": {what} out of range"),
            LayoutFault::Extra(rest) => {
                f.write_str(": extra text: ")?;
                write_quoted(f, rest)
            }
        }
    }
}

impl std::error::Error for ParseError<'_> {}

/// Quotes like Go's package `time`, which escapes quotes, backslashes, bytes below 0x20 and bytes outside of ASCII.
fn write_quoted(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => write!(out, "\\{}", char::from(byte))?,
            b' '..=0x7f => out.write_char(char::from(byte))?,
            _ => write!(out, "\\x{byte:02x}")?,
        }
    }
    out.write_char('"')
}
