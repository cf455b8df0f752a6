//! The names of types that every environment declares, and the fields of well-known protocol buffer messages (cel-go
//! `common/types/types.go`, `checkedWellKnowns`, and `common/types/pb`).

use super::{Primitive, Type};

impl Type {
    /// The type with this name in an expression: `int`, `list`, `google.protobuf.Timestamp`, … `None` for other names.
    pub fn named(name: &str) -> Option<Type> {
        Some(match name {
            "bool" => Type::Bool,
            "bytes" => Type::Bytes,
            "double" => Type::Double,
            "int" => Type::Int,
            "uint" => Type::Uint,
            "string" => Type::String,
            "null_type" => Type::Null,
            "type" => Type::Type(None),
            "list" => Type::list(Type::Param("A".into())),
            "map" => Type::map(Type::Param("A".into()), Type::Param("B".into())),
            _ => return Type::of_message(name),
        })
    }

    /// The type of a well-known protocol buffer message; `None` for other names.
    pub fn of_message(name: &str) -> Option<Type> {
        Some(match name.strip_prefix("google.protobuf.")? {
            "BoolValue" => Type::Wrapper(Primitive::Bool),
            "BytesValue" => Type::Wrapper(Primitive::Bytes),
            "DoubleValue" | "FloatValue" => Type::Wrapper(Primitive::Double),
            "Int32Value" | "Int64Value" => Type::Wrapper(Primitive::Int),
            "UInt32Value" | "UInt64Value" => Type::Wrapper(Primitive::Uint),
            "StringValue" => Type::Wrapper(Primitive::String),
            "Any" => Type::Any,
            "Duration" => Type::Duration,
            "Timestamp" => Type::Timestamp,
            "ListValue" => Type::list(Type::Dyn),
            "Struct" => Type::map(Type::String, Type::Dyn),
            "Value" => Type::Dyn,
            "Empty" | "Struct.FieldsEntry" => Type::Struct(name.into()),
            _ => return None,
        })
    }

    /// The type of a field of a well-known protocol buffer message; `None` if there is no such message or field.
    pub fn of_message_field(message: &str, field: &str) -> Option<Type> {
        Some(match (message.strip_prefix("google.protobuf.")?, field) {
            ("Duration" | "Timestamp", "seconds" | "nanos") => Type::Int,
            ("Any", "type_url") => Type::String,
            ("Any", "value") => Type::Bytes,
            ("Struct", "fields") => Type::map(Type::String, Type::Dyn),
            ("Struct.FieldsEntry", "key") => Type::String,
            ("Struct.FieldsEntry", "value") => Type::Dyn,
            ("ListValue", "values") => Type::list(Type::Dyn),
            // The type of the field is an enumeration.
            ("Value", "null_value") => Type::Int,
            ("Value", "number_value") => Type::Double,
            ("Value", "string_value") => Type::String,
            ("Value", "bool_value") => Type::Bool,
            ("Value", "struct_value") => Type::map(Type::String, Type::Dyn),
            ("Value", "list_value") => Type::list(Type::Dyn),
            (_, "value") => match Type::of_message(message)? {
                Type::Wrapper(primitive) => primitive.as_type(),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The name of the well-known message with this type, for struct literals; `None` if no well-known message has this type.
    pub fn message_name(&self) -> Option<&'static str> {
        Some(match self {
            Type::Any => "google.protobuf.Any",
            Type::Duration => "google.protobuf.Duration",
            Type::Timestamp => "google.protobuf.Timestamp",
            Type::Dyn => "google.protobuf.Value",
            Type::Null => "google.protobuf.NullValue",
            Type::Wrapper(primitive) => match primitive {
                Primitive::Bool => "google.protobuf.BoolValue",
                Primitive::Int => "google.protobuf.Int64Value",
                Primitive::Uint => "google.protobuf.UInt64Value",
                Primitive::Double => "google.protobuf.DoubleValue",
                Primitive::String => "google.protobuf.StringValue",
                Primitive::Bytes => "google.protobuf.BytesValue",
            },
            Type::List(element) if **element == Type::Dyn => "google.protobuf.ListValue",
            Type::Map(entry) if **entry == (Type::String, Type::Dyn) => "google.protobuf.Struct",
            _ => return None,
        })
    }
}
