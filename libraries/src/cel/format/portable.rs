//! The clauses of version 4, which do not depend on a locale.

use std::fmt::{self, Write};
use std::string::String as Owned;

use gavel_engine::value::{Arena, List, Map, Timestamp, Value, ValueKind};
use gavel_golang::{duration, float};

use super::clause::{MAX_DEPTH, deeper, write_integer};
use super::output::{Entries, Output};
use super::problem::Problem;
use super::template::{Clause, Verb};

/// The default number of digits after the point.
const DEFAULT_PRECISION: u16 = 6;

/// Writes a value as its clause requires.
pub(super) fn write(
    out: &mut Output<'_, '_>,
    clause: Clause,
    value: &Value<'_>,
) -> Result<(), Problem> {
    let precision = clause.precision.map_or(DEFAULT_PRECISION, |precision| {
        u16::try_from(precision).unwrap_or(u16::MAX)
    });
    match (clause.verb, value.kind()) {
        (Verb::String, _) => return write_string(out, value, MAX_DEPTH),
        (Verb::Decimal, ValueKind::Double(double)) => write_plain(out, double)?,
        (Verb::Fixed, _) => match finite(clause.verb, value)? {
            Ok(double) => out.push_str(&float::format_fixed(double, usize::from(precision))),
            Err(name) => out.push_str(name),
        },
        (Verb::Scientific, _) => match finite(clause.verb, value)? {
            Ok(double) => out.push_str(&float::format_exponent(double, precision)),
            Err(name) => out.push_str(name),
        },
        (verb, _) => write_integer(out, verb, value)?,
    }
    Ok(())
}

/// A number as a double. The inner `Err` is the text of NaN or an infinity.
fn finite(verb: Verb, value: &Value<'_>) -> Result<Result<f64, &'static str>, Problem> {
    let double = match value.kind() {
        ValueKind::Double(double) => double,
        ValueKind::Int(int) => int as f64,
        ValueKind::Uint(uint) => uint as f64,
        _ => return Err(Problem::misfit(verb, value.type_name())),
    };
    Ok(special(double).map_or(Ok(double), Err))
}

fn special(double: f64) -> Option<&'static str> {
    match double {
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        _ if double.is_nan() => Some("NaN"),
        _ => None,
    }
}

fn write_plain(out: &mut impl Write, double: f64) -> fmt::Result {
    match special(double) {
        Some(name) => out.write_str(name),
        None => float::write_plain(out, double),
    }
}

fn write_string(out: &mut Output<'_, '_>, value: &Value<'_>, depth: usize) -> Result<(), Problem> {
    match value.kind() {
        ValueKind::Null => out.write_str("null")?,
        ValueKind::Bool(value) => write!(out, "{value}")?,
        ValueKind::Int(int) => write!(out, "{int}")?,
        ValueKind::Uint(uint) => write!(out, "{uint}")?,
        ValueKind::Double(double) => write_plain(out, double)?,
        ValueKind::String(text) | ValueKind::Type(text) => out.write_str(text)?,
        ValueKind::Bytes(bytes) => out.write_str(&Owned::from_utf8_lossy(bytes))?,
        ValueKind::Duration(time) => duration::write_cel(out, time.0)?,
        ValueKind::Timestamp(time) => Timestamp { offset: 0, ..time }.write_rfc3339(out)?,
        _ => {
            let depth = deeper(depth, out)?;
            // An object of a named type is not a map.
            let map = value.as_map().filter(|_| value.type_name() == "map");
            match (value.as_list(), map) {
                (Some(list), _) => write_list(out, list, depth)?,
                (_, Some(map)) => write_map(out, map, depth)?,
                _ => return Err(Problem::misfit(Verb::String, value.type_name())),
            }
        }
    }
    Ok(())
}

fn write_list(out: &mut Output<'_, '_>, list: List<'_>, depth: usize) -> Result<(), Problem> {
    out.write_char('[')?;
    let arena = Arena::new();
    for (n, element) in list.iter().enumerate() {
        out.write_str(if n == 0 { "" } else { ", " })?;
        write_string(out, &element.read(&arena).unwrap_or(element), depth)?;
        out.check()?;
    }
    Ok(out.write_char(']')?)
}

/// Writes the entries of a map, sorted by the texts of their keys.
fn write_map(out: &mut Output<'_, '_>, map: Map<'_>, depth: usize) -> Result<(), Problem> {
    let mut entries = Entries::of(map, out)?;
    for entry in map.iter() {
        let (key, value) = entry.map_err(|error| Problem::new(error.message().to_owned()))?;
        let mut text = Output::new(out.call, 0).map_err(Problem::Ended)?;
        let written = write_string(&mut text, &key, depth);
        let text = text.finish().map_err(Problem::Ended)?;
        written?;
        entries.add(text, value, out)?;
    }
    out.write_char('{')?;
    let arena = Arena::new();
    for (n, (key, value)) in entries.iter().enumerate() {
        out.write_str(if n == 0 { "" } else { ", " })?;
        write!(out, "{key}: ")?;
        write_string(out, &value.read(&arena).unwrap_or(*value), depth)?;
        out.check()?;
    }
    Ok(out.write_char('}')?)
}
