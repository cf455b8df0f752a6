//! Prints types, with their declared names or with the short names that error messages use.

use std::fmt;

use smol_str::{SmolStr, format_smolstr};

use super::{Primitive, Type};

impl fmt::Display for Type {
    /// Writes the type with its declared name, as in the batch protocol and the documentation: `list(int)`, `google.protobuf.Timestamp`,
    /// `null_type`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_type(f, self, TypeForm::Full)
    }
}

impl Type {
    /// The type with short names, as in the checker's messages: `list(timestamp)`, `null`.
    pub fn in_message(&self) -> impl fmt::Display + '_ {
        TypeInMessage(self)
    }

    /// The name without parameters: `list`, `google.protobuf.Timestamp`, `null_type`.
    pub fn declared_name(&self) -> SmolStr {
        match self {
            Type::List(_) => SmolStr::new_static("list"),
            Type::Map(_) => SmolStr::new_static("map"),
            Type::Type(_) => SmolStr::new_static("type"),
            Type::Opaque(opaque) => opaque.name.clone(),
            Type::Struct(name) | Type::Param(name) => name.as_str().into(),
            simple => format_smolstr!("{simple}"),
        }
    }
}

struct TypeInMessage<'t>(&'t Type);

impl fmt::Display for TypeInMessage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_type(f, self.0, TypeForm::Message)
    }
}

/// The names with which types are printed: declared names, or the short names that error messages use.
#[derive(Clone, Copy, PartialEq)]
enum TypeForm {
    Full,
    Message,
}

fn write_type(f: &mut fmt::Formatter<'_>, ty: &Type, form: TypeForm) -> fmt::Result {
    let either = |full, message| {
        if form == TypeForm::Full {
            full
        } else {
            message
        }
    };
    match ty {
        Type::Dyn => f.write_str("dyn"),
        Type::Any => f.write_str(either("google.protobuf.Any", "any")),
        Type::Error => f.write_str("!error!"),
        Type::Null => f.write_str(either("null_type", "null")),
        Type::Bool => f.write_str("bool"),
        Type::Int => f.write_str("int"),
        Type::Uint => f.write_str("uint"),
        Type::Double => f.write_str("double"),
        Type::String => f.write_str("string"),
        Type::Bytes => f.write_str("bytes"),
        Type::Duration => f.write_str(either("google.protobuf.Duration", "duration")),
        Type::Timestamp => f.write_str(either("google.protobuf.Timestamp", "timestamp")),
        Type::Wrapper(primitive) => write!(f, "wrapper({primitive})"),
        Type::List(element) => write_named(f, "list", [&**element], form),
        Type::Map(entry) => write_named(f, "map", [&entry.0, &entry.1], form),
        Type::Type(parameter) => write_named(f, "type", parameter.as_deref(), form),
        Type::Opaque(opaque) => write_named(f, &opaque.name, &opaque.parameters, form),
        Type::Struct(name) | Type::Param(name) => f.write_str(name),
        Type::Var(number) => write!(f, "_var{number}"),
    }
}

fn write_named<'t>(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    parameters: impl IntoIterator<Item = &'t Type>,
    form: TypeForm,
) -> fmt::Result {
    f.write_str(name)?;
    let mut separator = "(";
    for parameter in parameters {
        f.write_str(separator)?;
        write_type(f, parameter, form)?;
        separator = ", ";
    }
    f.write_str(if separator == "(" { "" } else { ")" })
}

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_type())
    }
}
