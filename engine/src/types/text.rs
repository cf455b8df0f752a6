//! Parses types that are written as text, such as `list(map(string, T))`.

use std::str::FromStr;

use super::Type;

/// The error for a text that is not a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a type; write for example int, list(string), map(string, dyn) or optional(int)"
)]
pub struct TypeTextError(pub String);

/// The nesting limit of parameters, which bounds the recursion. Real types are nested much less deeply.
const MAX_DEPTH: usize = 32;

impl FromStr for Type {
    type Err = TypeTextError;

    /// Parses a type, such as `int`, `timestamp`, `list(T)`, `map(K, V)`, `optional(T)` or `type(T)`.
    ///
    /// Any other name with a dot, such as `kubernetes.URL`, is a type with fields. A name with a leading capital letter and no dot is a
    /// type parameter. All remaining names are opaque types, and so are names followed by `()` and unknown names with parameters.
    fn from_str(text: &str) -> Result<Type, TypeTextError> {
        let mut rest = text;
        let ty = read(&mut rest, MAX_DEPTH).filter(|_| rest.trim().is_empty());
        ty.ok_or_else(|| TypeTextError(text.to_owned()))
    }
}

/// Parses one type at the beginning of `rest`. `None` if `rest` does not begin with a type, or the type is nested too deeply.
pub(super) fn read(rest: &mut &str, depth: usize) -> Option<Type> {
    let depth = depth.checked_sub(1)?;
    let text = rest.trim_start();
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')))
        .unwrap_or(text.len());
    let (name, after) = text.split_at_checked(end)?;
    *rest = after;
    if name.is_empty() {
        return None;
    }
    let mut parameters = Vec::new();
    if let Some(after) = rest.strip_prefix("()") {
        *rest = after;
        return Some(Type::opaque(name, parameters));
    }
    if let Some(after) = rest.strip_prefix('(') {
        *rest = after;
        loop {
            parameters.push(read(rest, depth)?);
            *rest = rest.trim_start();
            if let Some(after) = rest.strip_prefix(',') {
                *rest = after;
            } else {
                *rest = rest.strip_prefix(')')?;
                break;
            }
        }
    }
    named(name, parameters)
}

fn named(name: &str, parameters: Vec<Type>) -> Option<Type> {
    let simple = match name {
        "dyn" => Type::Dyn,
        "any" => Type::Any,
        "null" | "null_type" => Type::Null,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "duration" => Type::Duration,
        "timestamp" => Type::Timestamp,
        _ => match Type::of_message(name) {
            Some(ty) => ty,
            None => return with_parameters(name, parameters),
        },
    };
    parameters.is_empty().then_some(simple)
}

fn with_parameters(name: &str, parameters: Vec<Type>) -> Option<Type> {
    Some(match (name, <[Type; 1]>::try_from(parameters)) {
        ("list", Ok([element])) => Type::list(element),
        ("optional" | "optional_type", Ok([value])) => Type::optional(value),
        ("type", Ok([ty])) => Type::type_of(ty),
        ("wrapper", Ok([ty])) => Type::Wrapper(super::Primitive::of(&ty)?),
        ("type", Err(none)) if none.is_empty() => Type::Type(None),
        ("list" | "optional" | "optional_type" | "type" | "wrapper", _) => return None,
        ("map", Err(parameters)) => match <[Type; 2]>::try_from(parameters) {
            Ok([key, value]) => Type::map(key, value),
            Err(_) => return None,
        },
        ("map", Ok(_)) => return None,
        (_, Err(none)) if none.is_empty() && is_parameter(name) => Type::Param(name.into()),
        (_, Err(none)) if none.is_empty() && name.contains('.') => Type::Struct(name.into()),
        (_, Ok([parameter])) => Type::opaque(name, vec![parameter]),
        (_, Err(parameters)) => Type::opaque(name, parameters),
    })
}

fn is_parameter(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase()) && !name.contains('.')
}

impl super::Primitive {
    /// Converts a type to a primitive; `None` if the type is not a primitive.
    pub fn of(ty: &Type) -> Option<Self> {
        Some(match ty {
            Type::Bool => Self::Bool,
            Type::Int => Self::Int,
            Type::Uint => Self::Uint,
            Type::Double => Self::Double,
            Type::String => Self::String,
            Type::Bytes => Self::Bytes,
            _ => return None,
        })
    }
}
