//! Prints values in messages as Go's `%v` prints cel-go's values, and their Go types as `%T` prints them.

use std::borrow::Cow;
use std::fmt::{self, Write};

use super::{ObjectKind, Repr, Timestamp, Value};
use gavel_golang::{duration, float};

/// The nesting limit of printed values, which bounds the recursion. More deeply nested values are omitted.
const MAX_DEPTH: usize = 64;

/// The length limit of a printed value, in bytes. `[x, x]` prints `x` twice, so a small value can have a long text.
const MAX_LENGTH: usize = 1 << 22;

impl<'a> Value<'a> {
    /// The text of the value in messages such as `value [a, 1] is not optional` and `no such key: 1`. Strings are printed without quotes,
    /// and `null` is printed as 0.
    pub fn in_message(&self) -> impl fmt::Display + '_ {
        ValueInMessage(self)
    }

    /// The Go type of a value that a host bound to a variable. In a variable, null, arrays and objects are plain Go values; for all other
    /// values, the result is the same as that of [`Value::go_type`].
    pub(crate) fn raw_go_type(&self) -> Cow<'static, str> {
        match self.0 {
            Repr::Null => Cow::Borrowed("<nil>"),
            Repr::JsonList(_) | Repr::Items(_) => Cow::Borrowed("[]interface {}"),
            Repr::JsonMap(_) | Repr::Fields(_) => Cow::Borrowed("map[string]interface {}"),
            _ => self.go_type(),
        }
    }

    /// The text that upstream's `Value()` returns, of a string, of a type or of an optional with one of them; `None` for other values.
    pub fn native_text(&self) -> Option<&'a str> {
        match self.out_of_optionals().0 {
            Repr::String(text) | Repr::Type(text) => Some(text),
            _ => None,
        }
    }

    /// The name of the Go type of the value that upstream's `Value()` returns, such as `int64`.
    pub fn native_go_type(&self) -> Cow<'static, str> {
        let value = self.out_of_optionals();
        let name = match value.0 {
            Repr::Bool(_) => "bool",
            Repr::Int(_) => "int64",
            Repr::Uint(_) => "uint64",
            Repr::Double(_) => "float64",
            Repr::String(_) | Repr::Type(_) => "string",
            Repr::Bytes(_) => "[]uint8",
            Repr::Null => "structpb.NullValue",
            Repr::Duration(_) => "time.Duration",
            Repr::Timestamp(_) => "time.Time",
            Repr::Optional(None) => "<nil>",
            Repr::Object(object) if object.kind() == ObjectKind::Open => "map[string]interface {}",
            Repr::Opaque(opaque) => match (opaque.wrapped_go_type(), opaque.native_error()) {
                (Some(go_type), _) => go_type,
                (None, Some(_)) => "*types.Err",
                (None, None) => return opaque.go_type(),
            },
            Repr::List(_) | Repr::OwnedList(_) | Repr::ListView(_) => "[]ref.Val",
            Repr::Map(_) | Repr::MapView(_) => "map[ref.Val]ref.Val",
            _ => return value.raw_go_type(),
        };
        Cow::Borrowed(name)
    }

    /// The name of the value's Go type, such as `types.Int` or `*types.baseList`. Some messages contain it.
    pub fn go_type(&self) -> Cow<'static, str> {
        let name = match self.0 {
            Repr::Null => "types.Null",
            Repr::Bool(_) => "types.Bool",
            Repr::Int(_) => "types.Int",
            Repr::Uint(_) => "types.Uint",
            Repr::Double(_) => "types.Double",
            Repr::String(_) => "types.String",
            Repr::Bytes(_) => "types.Bytes",
            Repr::Duration(_) => "types.Duration",
            Repr::Timestamp(_) => "types.Timestamp",
            Repr::ShapedList(_, shape) | Repr::ShapedMap(_, shape) => shape.go_type(),
            Repr::List(_) | Repr::JsonList(_) | Repr::OwnedList(_) | Repr::Items(_) => {
                "*types.baseList"
            }
            Repr::ListView(view) => view.go_type(),
            Repr::Map(_) | Repr::JsonMap(_) | Repr::Fields(_) | Repr::MapView(_) => {
                "*types.baseMap"
            }
            Repr::Optional(_) => "*types.Optional",
            Repr::Type(_) => "*types.Type",
            Repr::Object(object) => match object.kind() {
                ObjectKind::Open => "*dynamic.ObjectVal",
                ObjectKind::Record { .. } => "*mutation.JSONPatchVal",
            },
            Repr::Opaque(opaque) => return opaque.go_type(),
            Repr::Unread(json, shape) => {
                return shape.look(json, |value| match value {
                    Ok(value) => value.go_type(),
                    Err(_) => Cow::Borrowed("*types.Err"),
                });
            }
        };
        Cow::Borrowed(name)
    }
}

struct ValueInMessage<'v, 'a>(&'v Value<'a>);

impl fmt::Display for ValueInMessage<'_, '_> {
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

/// Writes text up to the length limit. Fails once the limit is reached.
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
        if let Value(Repr::Optional(Some(value))) = value {
            self.write_str("optional(")?;
            self.value(value, depth)?;
            return self.write_char(')');
        }
        self.simple(value)
    }

    /// Writes a value that contains no other values. Separate from [`Printer::value`], so that the stack frames of that recursive function
    /// stay small.
    fn simple(&mut self, value: &Value<'_>) -> fmt::Result {
        match value.0 {
            // In upstream, null is a number.
            Repr::Null => self.write_char('0'),
            Repr::Bool(value) => write!(self, "{value:?}"),
            Repr::Int(value) => write!(self, "{value}"),
            Repr::Uint(value) => write!(self, "{value}"),
            Repr::Double(value) => float::write_shortest(self, value),
            Repr::String(text) => self.write_str(text),
            Repr::Bytes(bytes) => write_bytes(self, bytes),
            Repr::Duration(value) => duration::write_go(self, value.0),
            Repr::Timestamp(time) => write_time(self, time),
            Repr::Optional(None) => self.write_str("optional.none()"),
            Repr::Type("list") => self.write_str("list(dyn)"),
            Repr::Type("map") => self.write_str("map(dyn, dyn)"),
            Repr::Type(name) => self.write_str(name),
            Repr::Object(object) => self.write_str(object.type_name()),
            Repr::Opaque(opaque) => self.write_str(&opaque.to_text()),
            Repr::Unread(json, shape) => shape.look(json, |value| match value {
                Ok(value) => self.simple(&value),
                Err(error) => self.write_str(error.message()),
            }),
            // `Printer::value` writes lists, maps and optionals that contain a value.
            Repr::List(_)
            | Repr::JsonList(_)
            | Repr::ShapedList(..)
            | Repr::ShapedMap(..)
            | Repr::OwnedList(_)
            | Repr::Items(_)
            | Repr::ListView(_)
            | Repr::Map(_)
            | Repr::JsonMap(_)
            | Repr::Fields(_)
            | Repr::MapView(_)
            | Repr::Optional(Some(_)) => Ok(()),
        }
    }
}

/// Writes bytes as numbers: `[97 98]`.
fn write_bytes(f: &mut impl Write, bytes: &[u8]) -> fmt::Result {
    f.write_char('[')?;
    for (n, byte) in bytes.iter().enumerate() {
        f.write_str(if n == 0 { "" } else { " " })?;
        write!(f, "{byte}")?;
    }
    f.write_char(']')
}

/// Writes a time: `2020-01-01 00:00:00.5 +0100 +0100`. The last part is the name of the zone: `UTC`, or the offset for all other zones.
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
    use crate::value::{Arena, Duration, MapBuilder};

    #[test]
    fn prints_as_go_prints() {
        let arena = Arena::new();
        let time = |offset| Timestamp {
            seconds: 1_577_836_800,
            nanos: 500_000_000,
            offset,
        };
        let mut map = MapBuilder::new();
        map.insert(Value::from(1), Value::NULL);
        map.insert(Value::from("b"), Value::from(1e6));
        let some = arena.some(Value::from(1));
        for (value, expected) in [
            (Value::from(b"ab"), "[97 98]"),
            (Value::from(Duration(5_400_000_000_000)), "1h30m0s"),
            (Value::from(time(0)), "2020-01-01 00:00:00.5 +0000 UTC"),
            (
                Value::from(time(-5_400)),
                "2019-12-31 22:30:00.5 -0130 -0130",
            ),
            (Value::type_named("list"), "list(dyn)"),
            (map.build(&arena), "{1: 0, b: 1e+06}"),
            (arena.list(&[Value::from("a"), some]), "[a, optional(1)]"),
            (Value::NONE, "optional.none()"),
        ] {
            assert_eq!(value.in_message().to_string(), expected);
        }
    }

    #[test]
    fn depth_is_bounded() {
        let arena = Arena::new();
        let deep = (0..1000).fold(Value::NULL, |value, _| arena.list(&[value]));
        assert!(deep.in_message().to_string().contains("..."));
    }
}
