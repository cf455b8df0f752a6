//! Dispatch at run time: finds the overload whose types fit the arguments.

use std::sync::Arc;

use crate::decl::{Function, OverloadDecl};
use crate::types::Type;
use crate::value::{HeldError, Tag, Value};

/// The implementations of several overloads of a function, in the order of their declaration.
#[derive(Debug)]
pub(super) struct Overloads(Box<[Candidate]>);

/// An overload that a call may have.
#[derive(Debug)]
struct Candidate {
    /// The tag of every value that the first parameter accepts; `None` if it accepts values with several tags.
    first: Option<Tag>,
    function: Function,
    overload: Arc<OverloadDecl>,
}

impl Overloads {
    pub(super) fn new(all: impl Iterator<Item = (Function, Arc<OverloadDecl>)>) -> Self {
        let candidates = all.map(|(function, overload)| Candidate {
            first: overload.signature.parameters.first().and_then(only_tag),
            function,
            overload,
        });
        Overloads(candidates.collect())
    }

    /// The implementation of the first overload whose types fit the arguments.
    #[inline]
    pub(super) fn function_for(&self, values: &[Value<'_>]) -> Option<Function> {
        let tag = values.first().map_or(Tag::Other, Value::tag);
        let mut candidates = self.0.iter();
        let found = candidates.find(|candidate| {
            // Only `accepts` can tell the type of a value whose tag is `Other`.
            let may_fit = tag == Tag::Other || candidate.first.is_none_or(|first| first == tag);
            may_fit && accepts(&candidate.overload, values)
        });
        found.map(|candidate| candidate.function)
    }

    /// The overloads.
    pub(super) fn iter(&self) -> impl Iterator<Item = &OverloadDecl> + Clone {
        self.0.iter().map(|candidate| &*candidate.overload)
    }
}

/// The tag of all values of a type; `None` if they have several tags.
fn only_tag(ty: &Type) -> Option<Tag> {
    Some(match ty {
        Type::Bool => Tag::Bool,
        Type::Int => Tag::Int,
        Type::Uint => Tag::Uint,
        Type::Double => Tag::Double,
        Type::String => Tag::String,
        Type::Bytes => Tag::Bytes,
        Type::Duration => Tag::Duration,
        Type::Timestamp => Tag::Timestamp,
        Type::List(_) => Tag::List,
        Type::Map(_) => Tag::Map,
        _ => return None,
    })
}

/// Whether the overload takes these arguments.
pub(super) fn accepts(overload: &OverloadDecl, values: &[Value<'_>]) -> bool {
    let parameters = &overload.signature.parameters;
    parameters.len() == values.len()
        && parameters
            .iter()
            .zip(values)
            .all(|(ty, value)| is_of(value, ty))
}

/// Whether a value has a type. Simple types, which most overloads have, are checked without a call.
#[inline(always)]
fn is_of(value: &Value<'_>, ty: &Type) -> bool {
    match ty {
        _ if value.as_unread().is_some() => is_of_any(value, ty),
        Type::Bool => value.as_bool().is_some(),
        Type::Int => value.as_int().is_some(),
        Type::Uint => value.as_uint().is_some(),
        Type::Double => value.as_double().is_some(),
        Type::String => value.as_str().is_some(),
        _ => is_of_any(value, ty),
    }
}

/// Whether a value has a type. Like upstream, checks only the first element of a list and the first entry of a map.
fn is_of_any(value: &Value<'_>, ty: &Type) -> bool {
    if let Some((json, shape)) = value.as_unread() {
        return shape.look(json, |value| match value {
            Ok(value) => is_of(&value, ty),
            Err(error) => is_of(&Value::opaque(&HeldError(error)), ty),
        });
    }
    match ty {
        Type::Dyn | Type::Any | Type::Error | Type::Param(_) | Type::Var(_) => true,
        Type::Null => value.is_null(),
        Type::Bool | Type::Int | Type::Uint | Type::Double | Type::String => is_of(value, ty),
        Type::Bytes => value.as_bytes().is_some(),
        Type::Duration => value.as_duration().is_some(),
        Type::Timestamp => value.as_timestamp().is_some(),
        Type::Wrapper(primitive) => value.is_null() || is_of(value, &primitive.as_type()),
        Type::Type(_) => value.as_type().is_some(),
        Type::List(element) => match value.as_list() {
            Some(_) if matches!(**element, Type::Dyn) => true,
            Some(list) => list.get(0).is_none_or(|first| is_of(&first, element)),
            None => false,
        },
        Type::Map(entry) => match value.as_map().map(|map| map.iter().next()) {
            Some(Some(Ok((key, value)))) => is_of(&key, &entry.0) && is_of(&value, &entry.1),
            Some(_) => true,
            None => false,
        },
        Type::Opaque(opaque) => value.type_name() == opaque.name,
        Type::Struct(name) => value.type_name() == name.as_str(),
    }
}
