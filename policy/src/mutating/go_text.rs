//! Formats CEL values and the names of their types as Go prints them in messages.

use std::fmt::Write;

use gavel_engine::error::EvalError;
use gavel_engine::value::{List, Map, Timestamp, Value, ValueKind};
use gavel_golang::quote::quote;
use gavel_golang::time::Civil;

/// Formats a CEL list as Go prints it.
pub(super) fn list(list: List<'_>) -> String {
    let items: Vec<String> = list
        .iter()
        .map(|item| item.in_message().to_string())
        .collect();
    format!("[{}]", items.join(" "))
}

/// Formats a CEL map as Go prints it.
pub(super) fn map(map: Map<'_>) -> Result<String, EvalError> {
    let mut out = "map[".to_owned();
    for (n, entry) in map.iter().enumerate() {
        let (key, value) = entry?;
        let separator = if n == 0 { "" } else { " " };
        // Writing to a String does not fail.
        let _ = write!(
            out,
            "{separator}{}:{}",
            key.in_message(),
            value.in_message()
        );
    }
    out.push(']');
    Ok(out)
}

/// Formats a CEL list as Go's `%#v` prints it.
pub(super) fn list_source(list: List<'_>) -> String {
    let items: Vec<String> = list.iter().map(source).collect();
    format!("[]ref.Val{{{}}}", items.join(", "))
}

/// Formats a CEL map as Go's `%#v` prints it.
pub(super) fn map_source(map: Map<'_>) -> Result<String, EvalError> {
    let entries = map.iter().map(|entry| {
        let (key, value) = entry?;
        Ok(format!("{}:{}", source(key), source(value)))
    });
    let entries: Vec<String> = entries.collect::<Result<_, EvalError>>()?;
    Ok(format!("map[ref.Val]ref.Val{{{}}}", entries.join(", ")))
}

/// Formats a CEL value as Go's `%#v` prints it. Go prints the addresses of nested lists and maps; this function prints their values.
fn source(value: Value<'_>) -> String {
    match value.kind() {
        ValueKind::String(text) => quote(text).to_string(),
        ValueKind::Uint(uint) => format!("0x{uint:x}"),
        ValueKind::Null => "0".to_owned(),
        ValueKind::Bytes(bytes) => format!("types.Bytes{{{}}}", bytes_source(bytes)),
        ValueKind::Duration(span) => format!("types.Duration{{Duration:{}}}", span.0),
        ValueKind::Timestamp(time) => time_source(time),
        _ => value.in_message().to_string(),
    }
}

/// Formats the elements of a byte slice as Go's `%#v` prints them.
pub(super) fn bytes_source(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:x}")).collect();
    bytes.join(", ")
}

/// Formats a time as Go's `%#v` prints it.
pub(super) fn time_source(time: Timestamp) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let civil = Civil::at(time.seconds, time.offset.into());
    let month = usize::from(civil.month.saturating_sub(1));
    let month = MONTHS.get(month).copied().unwrap_or_default();
    let (year, day) = (civil.year, civil.day);
    let (hour, minute, second, nanos) = (civil.hour, civil.minute, civil.second, time.nanos);
    let zone = match time.offset {
        0 => "time.UTC",
        _ => r#"time.Location("")"#,
    };
    format!("time.Date({year}, time.{month}, {day}, {hour}, {minute}, {second}, {nanos}, {zone})")
}
