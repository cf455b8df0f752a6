//! Types as text.

use std::fmt;

use super::{Primitive, Type};

impl fmt::Display for Type {
    /// The protocol's and documentation's form: `list(int)`, `google.protobuf.Timestamp`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_type(
            f,
            self,
            "google.protobuf.Duration",
            "google.protobuf.Timestamp",
        )
    }
}

impl Type {
    /// The form of checker messages, where timestamps and durations go by their short names.
    pub fn in_message(&self) -> impl fmt::Display + '_ {
        InMessage(self)
    }
}

struct InMessage<'t>(&'t Type);

impl fmt::Display for InMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_type(f, self.0, "duration", "timestamp")
    }
}

fn write_type(
    f: &mut fmt::Formatter<'_>,
    ty: &Type,
    duration: &str,
    timestamp: &str,
) -> fmt::Result {
    let parameters = |f: &mut fmt::Formatter<'_>, name: &str, list: &[&Type]| {
        f.write_str(name)?;
        for (n, parameter) in list.iter().enumerate() {
            f.write_str(if n == 0 { "(" } else { ", " })?;
            write_type(f, parameter, duration, timestamp)?;
        }
        f.write_str(if list.is_empty() { "" } else { ")" })
    };
    match ty {
        Type::Dyn => f.write_str("dyn"),
        Type::Any => f.write_str("any"),
        Type::Error => f.write_str("!error!"),
        Type::Null => f.write_str("null"),
        Type::Bool => f.write_str("bool"),
        Type::Int => f.write_str("int"),
        Type::Uint => f.write_str("uint"),
        Type::Double => f.write_str("double"),
        Type::String => f.write_str("string"),
        Type::Bytes => f.write_str("bytes"),
        Type::Duration => f.write_str(duration),
        Type::Timestamp => f.write_str(timestamp),
        Type::Wrapper(primitive) => write!(f, "wrapper({primitive})"),
        Type::List(element) => parameters(f, "list", &[element]),
        Type::Map(entry) => parameters(f, "map", &[&entry.0, &entry.1]),
        Type::Type(None) => f.write_str("type"),
        Type::Type(Some(ty)) => parameters(f, "type", &[ty]),
        Type::Opaque(opaque) => parameters(
            f,
            &opaque.name,
            &opaque.parameters.iter().collect::<Vec<_>>(),
        ),
        Type::Struct(name) | Type::Param(name) => f.write_str(name),
        // A variable that nothing has bound stands for anything.
        Type::Var(_) => f.write_str("dyn"),
    }
}

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_type())
    }
}
