//! Values as messages print them: Go's `%v` of cel-go's values, and the `%T` of some.

use std::borrow::Cow;
use std::fmt::{self, Write};

use super::{Arena, ObjectKind, Timestamp, Value};
use gavel_golang::{duration, float};

/// Deeper values are cut off; it bounds recursion, and nobody reads so far.
const MAX_DEPTH: usize = 64;

/// Longer texts are cut off, in bytes: `[x, x]` prints x twice, so that a small value may have a long text.
const MAX_LENGTH: usize = 1 << 22;

impl Value<'_> {
    /// The value as messages print it: `value [a, 1] is not optional`, `no such key: 1`. Strings are bare, `null` is 0.
    pub fn in_message(&self) -> impl fmt::Display + '_ {
        InMessage(self)
    }

    /// The Go type of the value, which some messages name: `types.Int`, `*types.baseList`.
    pub fn go_type(&self) -> Cow<'static, str> {
        let name = match self {
            Value::Null => "types.Null",
            Value::Bool(_) => "types.Bool",
            Value::Int(_) => "types.Int",
            Value::Uint(_) => "types.Uint",
            Value::Double(_) => "types.Double",
            Value::String(_) => "types.String",
            Value::Bytes(_) => "types.Bytes",
            Value::Duration(_) => "types.Duration",
            Value::Timestamp(_) => "types.Timestamp",
            Value::ShapedList(_, shape) | Value::ShapedMap(_, shape) => shape.go_type(),
            Value::List(_) | Value::JsonList(_) | Value::OwnedList(_) | Value::Items(_) => {
                "*types.baseList"
            }
            Value::ListView(view) => view.go_type(),
            Value::Map(_) | Value::JsonMap(_) | Value::Fields(_) | Value::MapView(_) => {
                "*types.baseMap"
            }
            Value::Optional(_) => "*types.Optional",
            Value::Type(_) => "*types.Type",
            Value::Object(object) => match object.kind() {
                ObjectKind::Open => "*dynamic.ObjectVal",
                ObjectKind::Record { .. } => "*mutation.JSONPatchVal",
            },
            Value::Opaque(opaque) => return opaque.go_type(),
            Value::Unread(json, shape) => {
                return shape.look(json, |value| match value {
                    Ok(value) => value.go_type(),
                    Err(_) => Cow::Borrowed("*types.Err"),
                });
            }
        };
        Cow::Borrowed(name)
    }
}

struct InMessage<'v, 'a>(&'v Value<'a>);

impl fmt::Display for InMessage<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Printer {
            out: f,
            left: MAX_LENGTH,
        };
        match out.value(self.0, MAX_DEPTH) {
            Err(fmt::Error) if out.left == 0 => f.write_str("..."),
            printed => printed,
        }
    }
}

/// Writes until the text is too long; then nothing is left.
struct Printer<'f, 'b> {
    out: &'f mut fmt::Formatter<'b>,
    left: usize,
}

impl Write for Printer<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.left = self.left.saturating_sub(text.len());
        if self.left == 0 {
            Err(fmt::Error)
        } else {
            self.out.write_str(text)
        }
    }
}

impl Printer<'_, '_> {
    fn value(&mut self, value: &Value<'_>, depth: usize) -> fmt::Result {
        let Some(depth) = depth.checked_sub(1) else {
            return self.write_str("...");
        };
        if let Some(list) = value.as_list() {
            self.write_char('[')?;
            for (n, element) in list.iter().enumerate() {
                self.write_str(if n == 0 { "" } else { ", " })?;
                self.value(&element, depth)?;
            }
            return self.write_char(']');
        }
        if let Some(map) = value.as_map() {
            self.write_char('{')?;
            for (n, (key, value)) in map.iter().flatten().enumerate() {
                self.write_str(if n == 0 { "" } else { ", " })?;
                self.value(&key, depth)?;
                self.write_str(": ")?;
                self.value(&value, depth)?;
            }
            return self.write_char('}');
        }
        if let Value::Optional(Some(value)) = value {
            self.write_str("optional(")?;
            self.value(value, depth)?;
            return self.write_char(')');
        }
        self.simple(value)
    }

    /// Writes a value that holds no other. Not a part of [`Printer::value`], whose frames are many.
    fn simple(&mut self, value: &Value<'_>) -> fmt::Result {
        match *value {
            // Upstream's null is a number.
            Value::Null => self.write_char('0'),
            Value::Bool(value) => write!(self, "{value}"),
            Value::Int(value) => write!(self, "{value}"),
            Value::Uint(value) => write!(self, "{value}"),
            Value::Double(value) => float::write_shortest(self, value),
            Value::String(text) => self.write_str(text),
            Value::Bytes(bytes) => write_bytes(self, bytes),
            Value::Duration(value) => duration::write_go(self, value.0),
            Value::Timestamp(time) => write_time(self, time),
            Value::Optional(None) => self.write_str("optional.none()"),
            Value::Type("list") => self.write_str("list(dyn)"),
            Value::Type("map") => self.write_str("map(dyn, dyn)"),
            Value::Type(name) => self.write_str(name),
            Value::Object(object) => self.write_str(object.type_name()),
            Value::Opaque(opaque) => self.write_str(opaque.to_text(&Arena::new())),
            Value::Unread(json, shape) => shape.look(json, |value| match value {
                Ok(value) => self.simple(&value),
                Err(error) => self.write_str(error.message()),
            }),
            // Written above.
            Value::List(_)
            | Value::JsonList(_)
            | Value::ShapedList(..)
            | Value::ShapedMap(..)
            | Value::OwnedList(_)
            | Value::Items(_)
            | Value::ListView(_)
            | Value::Map(_)
            | Value::JsonMap(_)
            | Value::Fields(_)
            | Value::MapView(_)
            | Value::Optional(Some(_)) => Ok(()),
        }
    }
}

/// `[97 98]`
fn write_bytes(f: &mut impl Write, bytes: &[u8]) -> fmt::Result {
    f.write_char('[')?;
    for (n, byte) in bytes.iter().enumerate() {
        f.write_str(if n == 0 { "" } else { " " })?;
        write!(f, "{byte}")?;
    }
    f.write_char(']')
}

/// `2020-01-01 00:00:00.5 +0100 +0100`, where the offset is also the name of the zone; UTC has one of its own.
fn write_time(f: &mut impl Write, time: Timestamp) -> fmt::Result {
    let mut text = String::new();
    time.write_rfc3339(&mut text)?;
    let (date, clock) = text.split_once('T').unwrap_or_default();
    write!(f, "{date} ")?;
    match clock.split_at_checked(clock.find(['Z', '+', '-']).unwrap_or(0)) {
        Some((clock, "Z")) => write!(f, "{clock} +0000 UTC"),
        Some((clock, offset)) => {
            let offset = offset.replace(':', "");
            write!(f, "{clock} {offset} {offset}")
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Duration, MapBuilder};

    #[test]
    fn prints_as_go_prints() {
        let arena = Arena::new();
        let time = |offset| Timestamp {
            seconds: 1_577_836_800,
            nanos: 500_000_000,
            offset,
        };
        let mut map = MapBuilder::new();
        map.insert(Value::Int(1), Value::Null);
        map.insert(Value::String("b"), Value::Double(1e6));
        let some = arena.some(Value::Int(1));
        for (value, expected) in [
            (Value::Bytes(b"ab"), "[97 98]"),
            (Value::Duration(Duration(5_400_000_000_000)), "1h30m0s"),
            (Value::Timestamp(time(0)), "2020-01-01 00:00:00.5 +0000 UTC"),
            (
                Value::Timestamp(time(-5_400)),
                "2019-12-31 22:30:00.5 -0130 -0130",
            ),
            (Value::Type("list"), "list(dyn)"),
            (map.build(&arena), "{1: 0, b: 1e+06}"),
            (arena.list(&[Value::String("a"), some]), "[a, optional(1)]"),
            (Value::Optional(None), "optional.none()"),
        ] {
            assert_eq!(value.in_message().to_string(), expected);
        }
    }

    #[test]
    fn depth_is_bounded() {
        let arena = Arena::new();
        let deep = (0..1000).fold(Value::Null, |value, _| arena.list(&[value]));
        assert!(deep.in_message().to_string().contains("..."));
    }
}
