//! The clauses of versions 1 to 3, which write doubles as in American English, and collections as CEL literals.

use std::fmt::Write;
use std::string::String as Owned;

use gavel_engine::value::convert::string_from_bytes;
use gavel_engine::value::{Arena, List, Map, Value, ValueKind};
use gavel_golang::quote::{quote, write_quoted};
use gavel_golang::{duration, float};

use super::clause::{MAX_DEPTH, deeper, write_integer};
use super::locale::{write_fixed, write_scientific};
use super::output::{Entries, Output};
use super::problem::Problem;
use super::template::{Clause, Verb};

/// Writes a value as its clause requires.
pub(super) fn write(
    out: &mut Output<'_, '_>,
    clause: Clause,
    value: &Value<'_>,
) -> Result<(), Problem> {
    match clause.verb {
        Verb::String => write_string(out, value, MAX_DEPTH),
        Verb::Fixed => Ok(write_fixed(
            out,
            double(clause.verb, value)?,
            clause.precision,
        )?),
        Verb::Scientific => Ok(write_scientific(
            out,
            double(clause.verb, value)?,
            clause.precision,
        )?),
        verb => write_integer(out, verb, value),
    }
}

/// Reads a double, or one of the strings for NaN and the infinities.
fn double(verb: Verb, value: &Value<'_>) -> Result<f64, Problem> {
    match value.kind() {
        ValueKind::Double(double) => Ok(double),
        ValueKind::String("NaN") => Ok(f64::NAN),
        ValueKind::String("Infinity") => Ok(f64::INFINITY),
        ValueKind::String("-Infinity") => Ok(f64::NEG_INFINITY),
        _ => Err(Problem::misfit(verb, value.type_name())),
    }
}

/// Writes a value for `%s`: a collection as a literal, any other value as `string()` returns it.
fn write_string(out: &mut Output<'_, '_>, value: &Value<'_>, depth: usize) -> Result<(), Problem> {
    match value.kind() {
        ValueKind::String(text) => out.push_str(text),
        ValueKind::Bytes(bytes) => out.push_str(text_of(bytes)?),
        ValueKind::Double(double) => float::write_shortest(out, double)?,
        ValueKind::Duration(time) => duration::write_cel(out, time.0)?,
        ValueKind::Timestamp(time) => time.write_rfc3339(out)?,
        _ => match write_member(out, value, depth) {
            Some(written) => written?,
            None => return Err(Problem::misfit(Verb::String, value.type_name())),
        },
    }
    Ok(())
}

/// Writes an element of a collection as a literal.
fn write_element(out: &mut Output<'_, '_>, value: &Value<'_>, depth: usize) -> Result<(), Problem> {
    match value.kind() {
        ValueKind::String(text) => write_quoted(out, text)?,
        ValueKind::Bytes(bytes) => {
            out.push('b');
            write_quoted(out, text_of(bytes)?)?;
        }
        ValueKind::Double(double) if double.is_finite() => write!(out, "{double:.6}")?,
        ValueKind::Double(double) => {
            out.push('"');
            float::write_plain(out, double)?;
            out.push('"');
        }
        ValueKind::Duration(time) => {
            out.push_str("duration(\"");
            duration::write_cel(out, time.0)?;
            out.push_str("\")");
        }
        ValueKind::Timestamp(time) => {
            out.push_str("timestamp(\"");
            time.write_rfc3339(out)?;
            out.push_str("\")");
        }
        _ => match write_member(out, value, depth) {
            Some(written) => written?,
            None => {
                return Err(Problem::new(format!(
                    "no formatting function for {}",
                    value.type_name()
                )));
            }
        },
    }
    Ok(())
}

/// Writes a value that looks the same inside and outside of a collection. Returns `None` for values of other types.
fn write_member(
    out: &mut Output<'_, '_>,
    value: &Value<'_>,
    depth: usize,
) -> Option<Result<(), Problem>> {
    let written = match value.kind() {
        ValueKind::Null => out.write_str("null"),
        ValueKind::Bool(value) => write!(out, "{value}"),
        ValueKind::Int(int) => write!(out, "{int}"),
        ValueKind::Uint(uint) => write!(out, "{uint}"),
        ValueKind::Type(name) => out.write_str(name),
        _ => {
            if let Some(list) = value.as_list() {
                return Some(deeper(depth, out).and_then(|depth| write_list(out, list, depth)));
            }
            // An object of a named type is not a map.
            let map = value.as_map().filter(|_| value.type_name() == "map")?;
            return Some(deeper(depth, out).and_then(|depth| write_map(out, map, depth)));
        }
    };
    Some(written.map_err(Problem::from))
}

fn write_list(out: &mut Output<'_, '_>, list: List<'_>, depth: usize) -> Result<(), Problem> {
    out.push('[');
    let arena = Arena::new();
    for (n, element) in list.iter().enumerate() {
        out.push_str(if n == 0 { "" } else { ", " });
        write_element(out, &element.read(&arena).unwrap_or(element), depth)?;
        out.check()?;
    }
    out.push(']');
    Ok(())
}

/// Writes the entries of a map, sorted by the texts of their keys.
fn write_map(out: &mut Output<'_, '_>, map: Map<'_>, depth: usize) -> Result<(), Problem> {
    let mut entries = Entries::of(map, out)?;
    let mut keys = map.iter();
    while let Some(key) = keys.next_key() {
        if map.is_shaped() && key.is_null() {
            return Err(Problem::NoKey);
        }
        let text = key_text(&key)?;
        let value = map
            .get(&key)
            .map_err(|error| Problem::new(error.message().to_owned()))?
            .ok_or_else(|| Problem::new(format!("could not find key: {text}")))?;
        entries.add(text, value, out)?;
    }
    out.push('{');
    let arena = Arena::new();
    for (n, (key, value)) in entries.iter().enumerate() {
        out.push_str(if n == 0 { "" } else { ", " });
        out.push_str(key);
        out.push(':');
        write_element(out, &value.read(&arena).unwrap_or(*value), depth)?;
        out.check()?;
    }
    out.push('}');
    Ok(())
}

fn key_text(key: &Value<'_>) -> Result<Owned, Problem> {
    match key.kind() {
        ValueKind::String(text) => Ok(quote(text)),
        ValueKind::Bool(value) => Ok(value.to_string()),
        ValueKind::Int(int) => Ok(int.to_string()),
        ValueKind::Uint(uint) => Ok(uint.to_string()),
        _ => Err(Problem::new(format!(
            "no formatting function for map key of type {}",
            key.type_name()
        ))),
    }
}

fn text_of(bytes: &[u8]) -> Result<&str, Problem> {
    string_from_bytes(bytes).map_err(|error| {
        Problem::new(format!(
            "could not convert argument {} to string",
            quote(error.message())
        ))
    })
}
