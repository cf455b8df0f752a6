//! Runs of expressions, as JSON.

use std::cell::Cell;
use std::io::{self, Write};

use gavel_engine::value::{Json, NODE_BYTES};
use gavel_policy::Run;
use gavel_policy::cel::ExpressionKind;
use serde::Serialize;
use serde_json::json;
use serde_json::ser::{Formatter, Serializer};

use crate::line::MAX_BYTES;
use crate::value::TypedValue;

/// The values of an answer take more memory than the answer may have bytes ([`MAX_BYTES`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the values of the recorded expressions must take at most {} MiB of memory", MAX_BYTES >> 20)]
pub struct ValuesTooLarge;

/// Converts the runs of one request to JSON. Their values take at most [`MAX_BYTES`] of memory.
#[derive(Debug)]
pub(crate) struct Runs {
    memory: Cell<Memory>,
}

impl Default for Runs {
    fn default() -> Self {
        let memory = Cell::new(Memory {
            left: Some(MAX_BYTES),
        });
        Runs { memory }
    }
}

impl Runs {
    /// A run, as JSON. Beyond the limit, the run has no value.
    pub(crate) fn entry(&self, run: &Run<'_>) -> Json {
        let kind = match (run.variable, run.kind) {
            (Some(_), _) | (_, ExpressionKind::Variable) => "Variable",
            (_, ExpressionKind::MatchCondition) => "MatchCondition",
            (_, ExpressionKind::Validation) => "ValidationCondition",
            (_, ExpressionKind::Message) => "MessageExpressionCondition",
            (_, ExpressionKind::AuditAnnotation) => "AuditAnnotationCondition",
            (_, ExpressionKind::ApplyConfiguration) => "ApplyConfigurationCondition",
            (_, ExpressionKind::JsonPatch) => "JSONPatchCondition",
        };
        let mut entry = json!({"kind": kind, "expression": run.expression, "cost": run.cost});
        if let Json::Object(entry) = &mut entry {
            if let Some(variable) = run.variable {
                entry.insert("variable".to_owned(), variable.into());
            }
            match run.result {
                Ok(value) => {
                    let value = self.hold(&TypedValue::new(value));
                    entry.insert("value".to_owned(), value.unwrap_or_default());
                }
                Err(error) => {
                    entry.insert("error".to_owned(), error.into());
                }
            }
        }
        entry
    }

    /// A value as JSON; `None` if all values together are too large.
    fn hold(&self, value: &TypedValue<'_>) -> Option<Json> {
        let mut memory = self.memory.get();
        let measured = value.serialize(&mut Serializer::with_formatter(&mut memory, InMemory));
        self.memory.set(memory);
        measured.ok()?;
        serde_json::to_value(value).ok()
    }

    /// Checks that no value was left out.
    ///
    /// # Errors
    ///
    /// All values together are too large.
    pub(crate) fn check(&self) -> Result<(), ValuesTooLarge> {
        let left = self.memory.get().left;
        left.map(drop).ok_or(ValuesTooLarge)
    }
}

/// Counts the bytes that are written to it. `left` is `None` once the limit was exceeded.
#[derive(Debug, Clone, Copy)]
struct Memory {
    left: Option<usize>,
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self.left.and_then(|left| left.checked_sub(bytes.len()));
        match self.left {
            Some(_) => Ok(bytes.len()),
            None => Err(io::ErrorKind::OutOfMemory.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes as many bytes as a value takes in memory.
struct InMemory;

impl Formatter for InMemory {
    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        // Each object of typed JSON has few fields.
        out.write_all(&[0; NODE_BYTES])
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, _: bool) -> io::Result<()> {
        out.write_all(&[0; size_of::<Json>()])
    }
}

#[cfg(test)]
mod tests {
    use gavel_engine::value::{Arena, Value};

    use super::*;

    #[test]
    fn values_are_left_out_when_all_together_are_too_large() {
        let arena = Arena::new();
        let text = "x".repeat(MAX_BYTES / 3);
        let value = TypedValue::new(arena.string(&text));
        let runs = Runs::default();
        assert!(runs.hold(&value).is_some() && runs.hold(&value).is_some());
        assert_eq!(runs.check(), Ok(()));
        assert_eq!(runs.hold(&value), None);
        assert_eq!(runs.check(), Err(ValuesTooLarge));
        assert_eq!(runs.hold(&TypedValue::new(Value::NULL)), None);
    }

    #[test]
    fn a_list_that_holds_one_list_many_times_is_too_large() {
        let arena = Arena::new();
        let mut list = arena.list(&[Value::NULL]);
        for _ in 0..60 {
            list = arena.list(&[list, list]);
        }
        assert_eq!(Runs::default().hold(&TypedValue::new(list)), None);
    }
}
