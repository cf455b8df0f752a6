//! Values written as CEL.

use std::fmt::{self, Write as _};

use gavel_engine::value::{Opaque, Value, ValueKind};
use gavel_golang::{duration, float, quote, time::OffsetTime};

/// The nesting limit of printed values.
const MAX_DEPTH: usize = 64;

/// A value that prints as CEL.
pub(super) struct Literal<'a> {
    value: Value<'a>,
    depth: usize,
}

impl<'a> Literal<'a> {
    pub(super) fn new(value: Value<'a>) -> Self {
        Literal { value, depth: 0 }
    }

    fn inner(&self, value: Value<'a>) -> Self {
        Literal {
            value,
            depth: self.depth.saturating_add(1),
        }
    }
}

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.depth > MAX_DEPTH {
            return f.write_char('…');
        }
        if let Some(list) = self.value.as_list() {
            f.write_char('[')?;
            for (n, element) in list.iter().enumerate() {
                write!(f, "{}{}", separator(n), self.inner(element))?;
            }
            return f.write_char(']');
        }
        if let Some(map) = self.value.as_map() {
            f.write_char('{')?;
            for (n, entry) in map.iter().enumerate() {
                f.write_str(separator(n))?;
                match entry {
                    Ok((key, value)) => write!(f, "{}: {}", self.inner(key), self.inner(value))?,
                    Err(error) => write!(f, "<{error}>")?,
                }
            }
            return f.write_char('}');
        }
        match self.value.kind() {
            ValueKind::Null => f.write_str("null"),
            ValueKind::Bool(b) => write!(f, "{b}"),
            ValueKind::Int(int) => write!(f, "{int}"),
            ValueKind::Uint(uint) => write!(f, "{uint}u"),
            ValueKind::Double(double) => write_double(f, double),
            ValueKind::String(text) => quote::write_quoted(f, text),
            ValueKind::Bytes(bytes) => write_bytes(f, bytes),
            ValueKind::Duration(span) => {
                f.write_str("duration(\"")?;
                duration::write_go(f, span.0)?;
                f.write_str("\")")
            }
            ValueKind::Timestamp(time) => {
                f.write_str("timestamp(\"")?;
                let time = OffsetTime {
                    unix_seconds: time.seconds,
                    nanos: time.nanos,
                    offset_seconds: time.offset,
                };
                time.write_rfc3339(f)?;
                f.write_str("\")")
            }
            ValueKind::Optional(None) => f.write_str("optional.none()"),
            ValueKind::Optional(Some(value)) => write!(f, "optional.of({})", self.inner(*value)),
            ValueKind::Type(name) => f.write_str(name),
            ValueKind::Object(object) => {
                write!(f, "{}{{", object.type_name())?;
                for (n, (name, value)) in object.fields().iter().enumerate() {
                    write!(f, "{}{name}: {}", separator(n), self.inner(*value))?;
                }
                f.write_char('}')
            }
            ValueKind::Opaque(opaque) => write_opaque(f, opaque),
            // Lists and maps are printed above.
            _ => Ok(()),
        }
    }
}

fn separator(position: usize) -> &'static str {
    if position == 0 { "" } else { ", " }
}

fn write_double(f: &mut fmt::Formatter<'_>, double: f64) -> fmt::Result {
    if !double.is_finite() {
        return write!(f, "double(\"{}\")", float::format_json(double));
    }
    let text = float::format_shortest(double);
    let whole = text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    write!(f, "{text}{}", if whole { ".0" } else { "" })
}

fn write_bytes(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_str("b\"")?;
    for byte in bytes {
        match byte {
            b'"' | b'\\' => write!(f, "\\{}", char::from(*byte))?,
            b' '..=b'~' => f.write_char(char::from(*byte))?,
            _ => write!(f, "\\x{byte:02x}")?,
        }
    }
    f.write_char('"')
}

/// Writes a value of a library type, such as a quantity, as the call that creates the value.
fn write_opaque(f: &mut fmt::Formatter<'_>, opaque: &dyn Opaque) -> fmt::Result {
    let text = opaque.to_text();
    let function = match opaque.type_name() {
        "kubernetes.Quantity" => "quantity",
        "kubernetes.URL" => "url",
        "net.IP" => "ip",
        "net.CIDR" => "cidr",
        "kubernetes.Semver" => "semver",
        "kubernetes.NamedFormat" => "format.named",
        other => return write!(f, "{other}({})", quote::quote(&*text)),
    };
    write!(f, "{function}({})", quote::quote(&*text))
}
