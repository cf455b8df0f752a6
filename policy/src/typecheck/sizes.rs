//! The maximum sizes of the inputs of a policy's expressions.

use std::collections::BTreeSet;

use gavel_engine::cost::SizeEstimate;
use gavel_engine::estimate::{KnownValue, SizeSource};
use gavel_engine::types::Type;
use gavel_schema::cel::CelSchema;
use smol_str::SmolStr;

use crate::cel::{
    NAMESPACE_OBJECT, OBJECT, OLD_OBJECT, ObjectTypes, PARAMS, REQUEST_VARIABLE, VARIABLES_VARIABLE,
};

/// The maximum number of steps in the path that is recorded for a variable's value.
const MAX_STEPS: usize = 500;

/// The maximum length of a timestamp or duration as a string, in code points. A schema may set a lower limit.
const TIME: u64 = 64;

/// The sizes of inputs, as far as schemas and the maximum size of an object limit them. The sizes of `request.userInfo`, of
/// `request.options`, and of the results of functions with arguments of unknown size are unknown.
#[derive(Debug)]
pub(super) struct Sizes<'t> {
    types: &'t ObjectTypes,
    /// The size limit of an object, in bytes.
    max_object: u64,
    /// The variables in the order of their declaration, with the known properties of their values. The path of a value begins at an input,
    /// never at another variable.
    variables: Vec<(SmolStr, KnownValue)>,
}

impl<'t> Sizes<'t> {
    /// The sizes for objects with these types and at most `max_object` bytes. No variables are declared yet; see `declare`.
    pub(super) fn new(types: &'t ObjectTypes, max_object: u64) -> Self {
        Sizes {
            types,
            max_object,
            variables: Vec::new(),
        }
    }

    /// Declares the next variable. If its value is part of another variable's value, its path is extended to begin at the input.
    pub(super) fn declare(&mut self, name: &str, value: KnownValue) {
        let value = match value.path() {
            [variables, from, rest @ ..] if variables == VARIABLES_VARIABLE => {
                match (self.variable(from), rest) {
                    (Some(known), []) => known.clone(),
                    (Some(known), rest) => {
                        let longer = known.path().iter().chain(rest).cloned().collect();
                        let is_known = !known.path().is_empty();
                        value.at(if is_known { longer } else { Vec::new() })
                    }
                    (None, _) => value.at(Vec::new()),
                }
            }
            _ => value,
        };
        // No schema is deep enough for a longer path.
        let value = match value.path().len() > MAX_STEPS {
            true => value.at(Vec::new()),
            false => value,
        };
        self.variables.push((name.into(), value));
    }

    fn variable(&self, name: &str) -> Option<&KnownValue> {
        let (_, value) = self.variables.get(self.position(name)?)?;
        Some(value)
    }

    /// The position of the variable with this name. If several variables have the name, it is the position of the last one.
    fn position(&self, name: &str) -> Option<usize> {
        self.variables.iter().rposition(|(known, _)| known == name)
    }

    /// The positions of the variables with these names. If `names` is `None`, the positions of all variables.
    pub(super) fn positions(&self, names: Option<Vec<&str>>) -> BTreeSet<usize> {
        match names {
            Some(names) => names
                .into_iter()
                .filter_map(|name| self.position(name))
                .collect(),
            None => (0..self.variables.len()).collect(),
        }
    }
}

impl SizeSource for Sizes<'_> {
    fn size(&self, path: &[&str], ty: &Type) -> Option<SizeEstimate> {
        match path {
            [VARIABLES_VARIABLE, name, rest @ ..] => {
                let value = self.variable(name)?;
                let longer = || {
                    let steps = value.path().iter().map(SmolStr::as_str);
                    let steps: Vec<_> = steps.chain(rest.iter().copied()).collect();
                    self.size(&steps, ty)
                };
                let is_known = !value.path().is_empty();
                value.size(rest).or_else(|| is_known.then(longer)?)
            }
            [OBJECT | OLD_OBJECT, steps @ ..] => {
                Some(self.in_object(Some(&self.types.object), steps, ty))
            }
            [PARAMS, steps @ ..] => Some(self.in_object(self.types.params.as_ref(), steps, ty)),
            [REQUEST_VARIABLE, "userInfo" | "options", ..] => None,
            [REQUEST_VARIABLE | NAMESPACE_OBJECT, ..] => Some(up_to(in_bytes(self.max_object, ty))),
            _ => None,
        }
    }
}

impl Sizes<'_> {
    /// The size of a value inside an object. Schemas give no size for objects with declared fields, and no reliable size for the keys of
    /// maps. Both are bounded only by the maximum size of the object.
    fn in_object(&self, schema: Option<&CelSchema>, steps: &[&str], ty: &Type) -> SizeEstimate {
        let has_size = !matches!(ty, Type::Struct(_)) && steps.last() != Some(&"@keys");
        let size = schema.filter(|_| has_size);
        let size = size.and_then(|schema| schema.size_at(steps));
        let most = in_bytes(self.max_object, ty);
        up_to(size.map_or(most, |size| size.max.min(most)))
    }
}

/// The maximum size of a value of a type, inside an object of `bytes` bytes.
fn in_bytes(bytes: u64, ty: &Type) -> u64 {
    /// The minimum size of a list element with its comma, in bytes. `ENTRY` is the minimum for a map entry.
    const ELEMENT: u64 = 2;
    const ENTRY: u64 = 5;
    match ty {
        Type::Bool | Type::Int | Type::Uint | Type::Double | Type::Null => 1,
        Type::Duration | Type::Timestamp => TIME,
        Type::List(_) => bytes / ELEMENT,
        Type::Map(_) | Type::Struct(_) => bytes / ENTRY,
        _ => match ty.as_optional() {
            Some(held) => in_bytes(bytes, held),
            None => bytes,
        },
    }
}

/// A size between 0 and `most`. The maximum is at least 1.
fn up_to(most: u64) -> SizeEstimate {
    SizeEstimate {
        min: 0,
        max: most.max(1),
    }
}
