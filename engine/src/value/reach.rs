//! The limits of walks over values.
//!
//! `[x, x]` refers to the same list twice without a copy, so a short expression can build a value whose walk would practically never end.
//! Upstream has no limit. In Gavel, a walk fails when it reaches its limit.

use std::fmt;

use gavel_golang::work::Work;

use super::{Json, MAX_DEPTH, Repr, Value};
use crate::error::EvalError;

/// The limit of elements and entries that a walk can visit. The largest document in a cluster has fewer.
const MAX_ELEMENTS: usize = 1 << 22;

/// The number of bytes of text that count as one element.
const BYTES_PER_ELEMENT: usize = 16;

/// The units of work for visiting an element.
pub(super) const WORK_PER_ELEMENT: usize = 64;

/// The number of fields in a node of an object, if every node is about half full.
const FIELDS_PER_NODE: usize = 6;

/// The memory of a node of a JSON object, in bytes. An object with a field has at least one node.
pub const NODE_BYTES: usize = 640;

impl Value<'_> {
    /// The units of work for reading the value without its elements. Long texts and bytes count more.
    #[inline]
    pub fn work(&self) -> usize {
        let bytes = match self.0 {
            Repr::Opaque(opaque) => opaque.bytes(),
            Repr::Unread(json, _) => held_bytes(json),
            _ => self.text_bytes(),
        };
        WORK_PER_ELEMENT.saturating_add(bytes / 8)
    }

    /// The bytes of a text or of bytes; 0 for other values.
    #[inline(always)]
    pub(crate) fn text_bytes(&self) -> usize {
        match self.0 {
            Repr::String(text) => text.len(),
            Repr::Bytes(bytes) => bytes.len(),
            _ => 0,
        }
    }
}

/// The approximate memory of a copy of JSON, in bytes.
pub fn held_bytes(json: &Json) -> usize {
    let (mut next, mut pending) = (Some(json), Vec::new());
    let mut bytes = 0_usize;
    while let Some(json) = next {
        let held = match json {
            Json::String(text) => text.len(),
            Json::Array(items) => {
                pending.extend(items);
                0
            }
            Json::Object(fields) => {
                pending.extend(fields.values());
                let nodes = fields.len().div_ceil(FIELDS_PER_NODE);
                let names = fields.keys().map(String::len);
                names.fold(nodes.saturating_mul(NODE_BYTES), usize::saturating_add)
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => 0,
        };
        bytes = bytes.saturating_add(held).saturating_add(size_of::<Json>());
        next = pending.pop();
    }
    bytes
}

/// The types that a host gives to lists and maps of JSON documents, such as Go's structs. They determine how the values are compared.
pub trait HostTypes: fmt::Debug {
    /// The name of the Go type of a list or map; `None` if it is plain JSON. All keys of a map with a type are texts, all indexes of such a
    /// list are ints, and neither is ever zero.
    fn go_type(&self, value: &Value<'_>) -> Option<&'static str>;

    /// The result of `left == right`, if the list or map `left` has a type of the host; `None` compares the values as JSON.
    fn equals(
        &self,
        left: &Value<'_>,
        right: &Value<'_>,
        reach: &mut Reach<'_>,
    ) -> Option<Result<bool, EvalError>>;
}

/// The remaining budget of a walk.
#[derive(Debug)]
pub struct Reach<'w> {
    depth: usize,
    elements: usize,
    work: Option<&'w Work<'w>>,
    types: Option<&'w dyn HostTypes>,
}

impl Default for Reach<'_> {
    /// The budget of a walk that the host cannot interrupt.
    fn default() -> Self {
        Reach {
            depth: MAX_DEPTH,
            elements: MAX_ELEMENTS,
            work: None,
            types: None,
        }
    }
}

impl<'w> Reach<'w> {
    /// The budget of a walk that announces its work, so that the host can interrupt it.
    pub fn new(work: &'w Work<'_>) -> Self {
        Reach {
            work: Some(work),
            ..Reach::default()
        }
    }

    /// The budget of a walk that announces its work, and compares the values of the host by their types.
    pub(super) fn typed(work: &'w Work<'_>, types: Option<&'w dyn HostTypes>) -> Self {
        Reach {
            types,
            ..Reach::new(work)
        }
    }

    /// The result of `left == right`, if the list or map `left` has a type of the host.
    #[inline]
    pub(super) fn equals_by_type(
        &mut self,
        left: &Value<'_>,
        right: &Value<'_>,
    ) -> Option<Result<bool, EvalError>> {
        self.types?.equals(left, right, self)
    }

    /// Announces the work of visiting the next element.
    ///
    /// # Errors
    ///
    /// The walk is interrupted.
    #[inline]
    pub fn step(&self, element: &Value<'_>) -> Result<(), EvalError> {
        match self.work {
            Some(work) => Ok(work.spend(element.work())?),
            None => Ok(()),
        }
    }

    /// Calls `walk` one level deeper, for a value with `elements` elements.
    ///
    /// # Errors
    ///
    /// The value is nested too deeply, or too many elements were visited.
    #[inline]
    pub fn within<T>(
        &mut self,
        elements: usize,
        walk: impl FnOnce(&mut Self) -> Result<T, EvalError>,
    ) -> Result<T, EvalError> {
        let depth = self.depth;
        let too_deep = || EvalError::internal("values are nested too deeply");
        self.depth = depth.checked_sub(1).ok_or_else(too_deep)?;
        self.meet(elements)?;
        let outcome = walk(self);
        self.depth = depth;
        outcome
    }

    /// Counts `elements` elements as visited.
    ///
    /// # Errors
    ///
    /// Too many elements were visited.
    #[inline]
    pub fn meet(&mut self, elements: usize) -> Result<(), EvalError> {
        let too_many = || EvalError::internal("values are too large");
        self.elements = self.elements.checked_sub(elements).ok_or_else(too_many)?;
        Ok(())
    }

    /// Walks over a whole value, except for the keys of maps. A text or bytes value counts as one element for each 16 bytes.
    ///
    /// # Errors
    ///
    /// The value is nested too deeply or has too many elements, or the walk is interrupted.
    pub fn walk(&mut self, value: &Value<'_>) -> Result<(), EvalError> {
        match value.0 {
            Repr::String(text) => self.meet(text.len() / BYTES_PER_ELEMENT),
            Repr::Bytes(bytes) => self.meet(bytes.len() / BYTES_PER_ELEMENT),
            Repr::Optional(Some(value)) => self.within(1, |reach| reach.walk(value)),
            _ => match (value.as_list(), value.as_map()) {
                (Some(list), _) => self.within(list.len(), |reach| {
                    list.iter().try_for_each(|element| {
                        reach.step(&element)?;
                        reach.walk(&element)
                    })
                }),
                (_, Some(map)) => self.within(map.len(), |reach| {
                    map.iter()
                        .flatten()
                        .try_for_each(|(_, value)| reach.walk(&value))
                }),
                _ => Ok(()),
            },
        }
    }
}
