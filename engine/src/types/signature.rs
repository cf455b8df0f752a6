//! The parameter types and result type of an overload, written as text in its row: `string.(int) -> string`.

use std::str::FromStr;

use smallvec::SmallVec;

use super::{Type, TypeName, TypeTextError, text};

/// The parameter types and the result type of an overload.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Signature {
    /// Whether calls are in receiver style, `x.f(y)`. The first parameter is then the receiver.
    pub member: bool,
    /// The types of the receiver, if any, and of the arguments.
    pub parameters: Vec<Type>,
    /// The type of the result.
    pub result: Type,
    type_parameters: SmallVec<[TypeName; 2]>,
    /// Whether the type of every parameter is the same type parameter, and the type of the result contains none: `(A, A) -> bool`.
    pub(crate) compares: bool,
}

impl Signature {
    /// Builds a signature. If `member` is true, the first parameter is the receiver.
    pub fn new(member: bool, parameters: Vec<Type>, result: Type) -> Self {
        let mut type_parameters = SmallVec::new();
        // Messages number the type variables in this order. Upstream iterates over a Go map, which yields this order seven times in eight.
        for ty in [&result].into_iter().chain(&parameters) {
            ty.collect_parameters(&mut type_parameters);
        }
        let is_parameter = |ty: &Type| matches!(ty, Type::Param(_));
        Signature {
            compares: !result.can_contain_variables()
                && parameters.first().is_some_and(is_parameter)
                && parameters
                    .windows(2)
                    .all(|pair| pair.first() == pair.last()),
            member,
            parameters,
            result,
            type_parameters,
        }
    }

    /// The names of the type parameters, in the order in which they first occur. The result type comes before the parameter types.
    pub fn type_parameters(&self) -> &[TypeName] {
        &self.type_parameters
    }
}

impl Type {
    /// Adds the names of the type parameters in this type to `names`, unless `names` contains them already.
    fn collect_parameters(&self, names: &mut SmallVec<[TypeName; 2]>) {
        match self {
            Type::Param(name) if !names.contains(name) => names.push(name.clone()),
            Type::List(element) => element.collect_parameters(names),
            Type::Map(entry) => {
                entry.0.collect_parameters(names);
                entry.1.collect_parameters(names);
            }
            Type::Type(Some(ty)) => ty.collect_parameters(names),
            Type::Opaque(opaque) => opaque
                .parameters
                .iter()
                .for_each(|parameter| parameter.collect_parameters(names)),
            _ => {}
        }
    }
}

impl FromStr for Signature {
    type Err = TypeTextError;

    /// Parses a signature: `(string, int) -> string` for a global call, `string.(int) -> string` for receiver style.
    fn from_str(source: &str) -> Result<Self, TypeTextError> {
        read(source).ok_or_else(|| TypeTextError(source.to_owned()))
    }
}

fn read(source: &str) -> Option<Signature> {
    const DEPTH: usize = 8;
    let (left, result) = source.split_once("->")?;
    let result = result.trim().parse().ok()?;
    let mut parameters = Vec::new();
    // The receiver ends at the first `.(`.
    let (receiver, mut rest) = match left.find(".(") {
        Some(dot) if !left.starts_with('(') => (left.get(..dot), left.get(dot.checked_add(1)?..)?),
        _ => (None, left),
    };
    if let Some(receiver) = receiver {
        parameters.push(receiver.parse().ok()?);
    }
    rest = rest.trim().strip_prefix('(')?.strip_suffix(')')?;
    while !rest.trim().is_empty() {
        parameters.push(text::read(&mut rest, DEPTH)?);
        rest = rest.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    Some(Signature::new(receiver.is_some(), parameters, result))
}
