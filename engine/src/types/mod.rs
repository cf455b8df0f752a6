//! Static types, which the checker infers and messages print (cel-go `common/types/types.go`).

use std::sync::Arc;

use smol_str::SmolStr;

mod format;
mod name;
mod signature;
mod text;
mod well_known;

pub use name::TypeName;
pub use signature::Signature;
pub use text::TypeTextError;

/// The name of the opaque type of optional values.
pub const OPTIONAL: &str = "optional_type";

/// A static type. Cloning is cheap.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// Any type, checked at run time.
    Dyn,
    /// `google.protobuf.Any`. It behaves like [`Type::Dyn`].
    Any,
    /// The type of an expression with a reported error. It agrees with every type.
    Error,
    /// The type of `null`.
    Null,
    /// `bool`
    Bool,
    /// `int`, 64 bits
    Int,
    /// `uint`, 64 bits
    Uint,
    /// `double`, IEEE 754
    Double,
    /// `string`
    String,
    /// `bytes`
    Bytes,
    /// `google.protobuf.Duration`
    Duration,
    /// `google.protobuf.Timestamp`
    Timestamp,
    /// A primitive that may be null: `wrapper(int)`.
    Wrapper(Primitive),
    /// `list(T)`
    List(Arc<Type>),
    /// `map(K, V)`
    Map(Arc<(Type, Type)>),
    /// `type(T)`, the type of the type `T`. Without a parameter, it is `type`.
    Type(Option<Arc<Type>>),
    /// A named type of a library, such as `optional_type(T)` or `net.IP`.
    Opaque(Arc<OpaqueType>),
    /// A named type with fields.
    Struct(TypeName),
    /// A type parameter of a declaration, such as `A`.
    Param(TypeName),
    /// A type variable of the checker.
    Var(usize),
}

// The checker copies types all the time. A type of two words, whose variants hold at most one word, is kept in registers.
const _: () = assert!(size_of::<Type>() == 16);

/// The primitives that have a nullable form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum Primitive {
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `uint`
    Uint,
    /// `double`
    Double,
    /// `string`
    String,
    /// `bytes`
    Bytes,
}

/// A named type of a library, with its parameters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OpaqueType {
    /// The name, as `type(x)` prints it.
    pub name: SmolStr,
    /// The parameters.
    pub parameters: Vec<Type>,
}

impl Type {
    /// `list(element)`
    pub fn list(element: Type) -> Type {
        Type::List(Arc::new(element))
    }

    /// `map(key, value)`
    pub fn map(key: Type, value: Type) -> Type {
        Type::Map(Arc::new((key, value)))
    }

    /// `optional_type(value)`
    pub fn optional(value: Type) -> Type {
        Type::opaque(OPTIONAL, vec![value])
    }

    /// A named type of a library.
    pub fn opaque(name: impl Into<SmolStr>, parameters: Vec<Type>) -> Type {
        Type::Opaque(Arc::new(OpaqueType {
            name: name.into(),
            parameters,
        }))
    }

    /// The type of a type: `type_of(int)` is `type(int)`.
    pub fn type_of(value: Type) -> Type {
        Type::Type(Some(Arc::new(value)))
    }

    /// For an optional type, the type of the value in the optional; `None` for other types.
    pub fn as_optional(&self) -> Option<&Type> {
        match self {
            Type::Opaque(opaque) if opaque.name == OPTIONAL => opaque.parameters.first(),
            _ => None,
        }
    }

    /// Whether this is a type variable or a type parameter, or may contain one of them.
    pub(crate) fn can_contain_variables(&self) -> bool {
        matches!(
            self,
            Type::Var(_)
                | Type::Param(_)
                | Type::List(_)
                | Type::Map(_)
                | Type::Type(Some(_))
                | Type::Opaque(_)
        )
    }

    /// Whether this is `dyn`, `any` or the type of a reported error: types that are checked only at run time.
    pub fn is_dyn(&self) -> bool {
        matches!(self, Type::Dyn | Type::Any | Type::Error)
    }
}

impl Primitive {
    /// This primitive as a type whose values cannot be null.
    pub fn as_type(self) -> Type {
        match self {
            Primitive::Bool => Type::Bool,
            Primitive::Int => Type::Int,
            Primitive::Uint => Type::Uint,
            Primitive::Double => Type::Double,
            Primitive::String => Type::String,
            Primitive::Bytes => Type::Bytes,
        }
    }
}
