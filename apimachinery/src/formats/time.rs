//! Dates, times, and durations in the notation of Go (`5m`) or of Scala (`5 minutes`).

use std::sync::LazyLock;

use gavel_golang::duration;
use gavel_golang::regex::Regex;

/// Whether the text is a date: `2006-01-02`.
pub fn is_date(text: &str) -> bool {
    let number = |digits: &[u8]| {
        let text = str::from_utf8(digits)
            .ok()
            .filter(|_| digits.iter().all(u8::is_ascii_digit))?;
        text.parse::<u32>().ok()
    };
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else {
        return false;
    };
    let date = (
        number(&[*y1, *y2, *y3, *y4]),
        number(&[*m1, *m2]),
        number(&[*d1, *d2]),
    );
    let (Some(year), Some(month), Some(day)) = date else {
        return false;
    };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Whether upstream accepts the text as a date and time. Text after a second `t` is ignored, and an offset may have any two digits for
/// hours and minutes.
pub fn is_date_time(text: &str) -> bool {
    static CLOCK: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            "^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?([zZ]|[+-][0-9]{2}:[0-9]{2})$",
        )
        .ok()
    });
    let mut parts = text.split(['t', 'T']);
    match (parts.next(), parts.next()) {
        (Some(date), Some(clock)) => {
            is_date(date)
                && CLOCK
                    .as_ref()
                    .is_some_and(|pattern| pattern.is_match(clock))
        }
        _ => false,
    }
}

/// The spellings of each unit. As in upstream, any word that begins with a unit's last spelling also names the unit: `minutes` begins with
/// `min`.
const UNITS: &[&[&str]] = &[
    &["ns", "nano"],
    &["us", "µs", "micro"],
    &["ms", "milli"],
    &["s", "sec"],
    &["m", "min"],
    &["h", "hr", "hour"],
    &["d", "day"],
    &["w", "wk", "week"],
];

/// Whether Go reads the text as a duration, or the text contains a number with a known unit, such as `5 minutes`. Each number before a word
/// must fit into 64 bits.
pub(super) fn is_duration(text: &str) -> bool {
    static PART: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::with_groups(r"((\d+)\s*([A-Za-zµ]+))").ok());
    if duration::parse(text).is_some() {
        return true;
    }
    let Some(pattern) = PART.as_ref() else {
        return false;
    };
    let mut found = false;
    for groups in pattern
        .captures_iter(text, &gavel_golang::work::Work::unbounded())
        .flatten()
    {
        let group = |index: usize| {
            let range = groups.get(index).cloned().flatten();
            range.and_then(|range| text.get(range)).unwrap_or_default()
        };
        if group(2).parse::<i64>().is_err() {
            return false;
        }
        found |= is_unit(&group(3).to_lowercase());
    }
    found
}

fn is_unit(unit: &str) -> bool {
    UNITS.iter().any(|spellings| {
        let last = spellings.last();
        spellings.contains(&unit) || last.is_some_and(|last| unit.starts_with(last))
    })
}
