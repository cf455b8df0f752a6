//! The Go types that JSON is read into, as tables, and what Go's decoder reports about a value of such a type (`sigs.k8s.io/json`).

mod read;

pub(crate) use read::integer;
pub use read::{Integers, Reading, read};

/// A Go type, reduced to the properties that determine its JSON.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// A text, with the name of its Go type.
    Text(&'static str),
    /// `int64`
    Integer,
    /// `int32`
    Integer32,
    /// `float64`
    Number,
    /// `bool`
    Boolean,
    /// `byte`
    Byte,
    /// `[]byte`, written as base64 or as a list of bytes.
    Bytes,
    /// A map from texts to values, with the name of its Go type.
    Map(&'static str, &'static Shape),
    /// A slice, with the name of its Go type.
    List(&'static str, &'static Shape),
    /// A struct.
    Struct(&'static Struct),
    /// `v1.Time`
    Time,
    /// Any JSON. It is not changed.
    Raw,
    /// A type whose own decoder chooses between other types.
    Choice(&'static Choice),
}

/// A Go struct of a package `v1`.
#[derive(Debug)]
pub struct Struct {
    /// The name without its package.
    pub name: &'static str,
    /// The fields.
    pub fields: &'static [Field],
}

/// A field of a Go struct.
#[derive(Debug)]
pub struct Field {
    /// The name in JSON.
    pub name: &'static str,
    /// The type.
    pub shape: Shape,
    /// The condition under which the field is written.
    pub presence: Presence,
}

/// The condition under which a field is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The field is always written.
    Always,
    /// The field is written if it is neither empty nor zero.
    NonZero,
    /// The field is written if it was present and not null.
    Pointer,
}

/// A type that is read from objects and booleans, and perhaps from lists. Its decoder does not report unknown fields.
#[derive(Debug)]
pub struct Choice {
    /// The type of objects.
    pub object: &'static Shape,
    /// The type of lists, if there is one.
    pub list: Option<Shape>,
    /// The error for values of other JSON types; `None` if they are ignored.
    pub refusal: Option<&'static str>,
}

impl Field {
    /// A field.
    pub const fn new(name: &'static str, shape: Shape, presence: Presence) -> Field {
        Field {
            name,
            shape,
            presence,
        }
    }
}

impl Struct {
    /// The field with a name.
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Shape {
    /// `string`
    pub const STRING: Shape = Shape::Text("string");
    /// `[]string`
    pub const STRINGS: Shape = Shape::List("[]string", &Shape::STRING);

    /// The name of the type in Go's messages.
    fn type_name(self) -> String {
        match self {
            Shape::Text(name) | Shape::Map(name, _) | Shape::List(name, _) => name.to_owned(),
            Shape::Integer => "int64".to_owned(),
            Shape::Integer32 => "int32".to_owned(),
            Shape::Number => "float64".to_owned(),
            Shape::Boolean => "bool".to_owned(),
            Shape::Byte => "uint8".to_owned(),
            Shape::Bytes => "[]uint8".to_owned(),
            Shape::Struct(Struct { name, .. }) => format!("v1.{name}"),
            // Go reads times from strings.
            Shape::Time | Shape::Raw | Shape::Choice(_) => "string".to_owned(),
        }
    }
}
