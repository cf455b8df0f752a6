use crate::stdlib::tests::{check_overload, fails_overload};
use crate::value::{Duration, Timestamp, Value};

fn timestamp(seconds: i64) -> Value<'static> {
    Value::from(Timestamp {
        seconds,
        nanos: 678_000_000,
        offset: 3_600,
    })
}

#[test]
fn parts_are_read_in_utc_whatever_the_offset_of_the_text() {
    // 2024-02-29T10:30:45Z, a Thursday.
    let time = timestamp(1_709_202_645);
    for (id, expected) in [
        ("timestamp_to_year", 2024),
        ("timestamp_to_month", 1),
        ("timestamp_to_day_of_year", 59),
        ("timestamp_to_day_of_month", 28),
        ("timestamp_to_day_of_month_1_based", 29),
        ("timestamp_to_day_of_week", 4),
        ("timestamp_to_hours", 10),
        ("timestamp_to_minutes", 30),
        ("timestamp_to_seconds", 45),
        ("timestamp_to_milliseconds", 678),
    ] {
        check_overload(id, &[time], Value::from(expected));
    }
}

#[test]
fn zones_are_names_or_offsets_without_a_range() {
    let hour_in = |zone| [timestamp(0), Value::from(zone)];
    for (zone, expected) in [
        ("", 0),
        ("America/New_York", 19),
        ("+25:00", 1),
        ("-00:30", 23),
    ] {
        check_overload(
            "timestamp_to_hours_with_tz",
            &hour_in(zone),
            Value::from(expected),
        );
    }
    for (zone, expected) in [
        ("bogus", "unknown time zone bogus"),
        ("america/new_york", "unknown time zone america/new_york"),
        ("../x", "time: invalid location name"),
        (":30", "strconv.Atoi: parsing \"\": invalid syntax"),
        ("01:b", "strconv.Atoi: parsing \"b\": invalid syntax"),
    ] {
        fails_overload("timestamp_to_hours_with_tz", &hour_in(zone), expected);
    }
    // The offset in seconds overflows and wraps around.
    let far = [timestamp(0), Value::from("-99999999:00")];
    check_overload("timestamp_to_year_with_tz", &far, Value::from(2253));
}

#[test]
fn totals_are_cut_off_towards_zero() {
    const HOUR: i64 = 3_600_000_000_000;
    for (id, nanos, expected) in [
        ("duration_to_hours", HOUR / 2 * 3, 1),
        ("duration_to_hours", -HOUR / 2 * 3, -1),
        // A double cannot hold so many digits and rounds up.
        ("duration_to_hours", 2_562_047 * HOUR - 1, 2_562_047),
        ("duration_to_minutes", -1, 0),
        ("duration_to_seconds", -61_500_000_000, -61),
        ("duration_to_milliseconds", -1_500_000, -1),
    ] {
        check_overload(id, &[Value::from(Duration(nanos))], Value::from(expected));
    }
}
