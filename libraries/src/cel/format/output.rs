//! The output of `format`, within the memory limit of the arena.

use std::collections::BTreeMap;
use std::fmt;

use bumpalo::collections::String;
use gavel_engine::decl::CallContext;
use gavel_engine::error::EvalError;
use gavel_engine::value::Map;

use super::problem::Problem;
use crate::cel::limit::push_str;

/// A text that grows in the arena. After a failure nothing more is written.
pub(super) struct Output<'c, 'a> {
    pub(super) call: &'c CallContext<'a>,
    text: String<'a>,
    failure: Option<EvalError>,
}

impl<'c, 'a> Output<'c, 'a> {
    /// An empty text with an expected size.
    ///
    /// # Errors
    ///
    /// The arena has no room for the text.
    pub(super) fn new(call: &'c CallContext<'a>, expected: usize) -> Result<Self, EvalError> {
        call.arena.reserve(expected)?;
        Ok(Output {
            call,
            text: String::with_capacity_in(expected, call.arena.bump()),
            failure: None,
        })
    }

    pub(super) fn push_str(&mut self, part: &str) {
        if self.failure.is_none()
            && let Err(error) = push_str(self.call, &mut self.text, part)
        {
            self.failure = Some(error);
        }
    }

    pub(super) fn push(&mut self, c: char) {
        self.push_str(c.encode_utf8(&mut [0; 4]));
    }

    /// Fails if an earlier write failed.
    #[inline]
    pub(super) fn check(&self) -> Result<(), Problem> {
        match &self.failure {
            Some(error) => Err(Problem::Ended(error.clone())),
            None => Ok(()),
        }
    }

    /// Returns the text.
    pub(super) fn finish(self) -> Result<&'a str, EvalError> {
        match self.failure {
            Some(error) => Err(error),
            None => Ok(self.text.into_bump_str()),
        }
    }
}

/// The entries of a map, sorted by the texts of their keys. Entries whose keys have equal texts stay in the order of their insertion.
pub(super) struct Entries<T, V>(BTreeMap<(T, usize), V>);

impl<T: Ord, V> Entries<T, V> {
    /// Creates an empty collection, and reserves memory for the entries of `map`.
    pub(super) fn of(map: Map<'_>, out: &Output<'_, '_>) -> Result<Self, Problem> {
        /// The approximate size of an entry with the text of its key, in bytes.
        const BYTES_PER_ENTRY: usize = 128;
        let bytes = map.len().saturating_mul(BYTES_PER_ENTRY);
        out.call.arena.reserve(bytes).map_err(Problem::Ended)?;
        Ok(Entries(BTreeMap::new()))
    }

    pub(super) fn add(&mut self, key: T, value: V, out: &Output<'_, '_>) -> Result<(), Problem> {
        /// The units of work for an entry.
        const WORK_PER_ENTRY: usize = 256;
        out.call.work(WORK_PER_ENTRY).map_err(Problem::Ended)?;
        self.0.insert((key, self.0.len()), value);
        Ok(())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&T, &V)> {
        self.0.iter().map(|((key, _), value)| (key, value))
    }
}

impl fmt::Write for Output<'_, '_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.push_str(part);
        match self.failure {
            Some(_) => Err(fmt::Error),
            None => Ok(()),
        }
    }
}
