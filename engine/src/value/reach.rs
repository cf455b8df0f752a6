//! How far walks over values go.
//!
//! `[x, x]` holds the same list twice without a copy, so that a short expression makes a value that is larger than any
//! memory when it is walked. Upstream walks on for ever; here a walk ends.

use gavel_golang::work::Work;

use super::{MAX_DEPTH, Repr, Value};
use crate::error::EvalError;

/// The most elements and entries that a walk meets: more than the largest document that a cluster stores has.
const MAX_ELEMENTS: usize = 1 << 22;

/// So many bytes of text count as an element.
const BYTES_PER_ELEMENT: usize = 16;

/// The units of work of looking at an element.
const WORK_PER_ELEMENT: usize = 64;

impl Value<'_> {
    /// The units of work of looking at the value once, without what it holds: more for long texts.
    #[inline]
    pub fn work(&self) -> usize {
        let bytes = match self.0 {
            Repr::String(text) => text.len(),
            Repr::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        WORK_PER_ELEMENT.saturating_add(bytes / 8)
    }
}

/// What is left to a walk.
#[derive(Debug)]
pub struct Reach<'w> {
    depth: usize,
    elements: usize,
    work: Option<&'w Work<'w>>,
}

impl Default for Reach<'_> {
    /// A walk that nothing interrupts.
    fn default() -> Self {
        Reach {
            depth: MAX_DEPTH,
            elements: MAX_ELEMENTS,
            work: None,
        }
    }
}

impl<'w> Reach<'w> {
    /// A walk that counts as work.
    pub fn new(work: &'w Work<'_>) -> Self {
        Reach {
            work: Some(work),
            ..Reach::default()
        }
    }

    /// Comes to the next element; fails where the walk is interrupted.
    #[inline]
    pub fn step(&self, element: &Value<'_>) -> Result<(), EvalError> {
        match self.work {
            Some(work) => Ok(work.spend(element.work())?),
            None => Ok(()),
        }
    }

    /// Walks inside a value with so many elements; fails where it is too deep or they are too many.
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

    /// Meets so many elements at any depth; fails where they are too many.
    #[inline]
    pub fn meet(&mut self, elements: usize) -> Result<(), EvalError> {
        let too_many = || EvalError::internal("values are too large");
        self.elements = self.elements.checked_sub(elements).ok_or_else(too_many)?;
        Ok(())
    }

    /// Walks over all of a value, but for its keys; texts count by their length.
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
