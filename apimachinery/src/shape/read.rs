//! Reads JSON as Go's decoder does, without keeping the values.

use gavel_golang::base64::{self, Encoding};
use gavel_golang::time::Layout;
use serde_json::{Map, Value as Json};

use super::{Choice, Shape, Struct};
use crate::field::Path;
use crate::json;
use crate::serializer::{DecodeError, type_mismatch};

/// The limit of unknown fields that the decoder reports.
const MAX_UNKNOWN: usize = 100;

/// The limit of nesting: deeper values are not read. No JSON text is nested so deep, but JSON that a host builds may be.
const MAX_DEPTH: usize = 500;

/// What the decoder reports about a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The paths of unknown fields, such as `ownerReferences[0].x`, in the order of keys.
    pub unknown: Vec<String>,
    /// The error of the decoder, if the value is not of the type. The fields behind the error may be missing in `unknown`.
    pub fault: Option<DecodeError>,
}

/// Which numbers are integers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Integers {
    /// Numbers whose value is an integer, such as 1.0: Go has read the value before and writes 1.0 as 1.
    #[default]
    ByValue,
    /// Numbers that are written without fraction and exponent.
    AsWritten,
}

/// Reads a value of a Go type.
///
/// ```
/// use gavel_apimachinery::shape::{Field, Integers, Presence, Shape, Struct, read};
/// use serde_json::json;
///
/// static SCALE: Struct = Struct { name: "Scale", fields: &[Field::new("replicas", Shape::Integer, Presence::NonZero)] };
///
/// let reading = read(&json!({"replica": 1, "replicas": "1"}), Shape::Struct(&SCALE), Integers::AsWritten);
/// assert_eq!(reading.unknown, ["replica"]);
/// let message = "json: cannot unmarshal string into Go struct field Scale.replicas of type int64";
/// assert_eq!(reading.fault.map(|fault| fault.message).as_deref(), Some(message));
/// ```
pub fn read(value: &Json, shape: Shape, integers: Integers) -> Reading {
    let mut reader = Reader {
        integers,
        ..Reader::default()
    };
    let ended = reader.value(value, shape, &Path::root());
    Reading {
        unknown: reader.unknown,
        fault: ended.err().or(reader.fault),
    }
}

/// A reader that records the first value of a wrong type and continues. The error of a type with its own decoder, such as a malformed time,
/// ends the reading, and is reported instead of a recorded error.
#[derive(Default)]
struct Reader {
    integers: Integers,
    unknown: Vec<String>,
    fault: Option<DecodeError>,
    /// The name of the innermost struct that contains the value. Within a [`Choice`], the name of the struct that contains the choice.
    holder: &'static str,
    /// The names of the fields that lead to the value.
    fields: Vec<&'static str>,
    is_within_choice: bool,
    depth: usize,
}

impl Reader {
    /// Reads a value, unless it is nested too deep.
    ///
    /// # Errors
    ///
    /// A type with its own decoder refuses the value, which ends the reading.
    fn value(&mut self, value: &Json, shape: Shape, path: &Path<'_>) -> Result<(), DecodeError> {
        if self.depth >= MAX_DEPTH {
            return Ok(());
        }
        self.depth = self.depth.saturating_add(1);
        let read = self.value_of(value, shape, path);
        self.depth = self.depth.saturating_sub(1);
        read
    }

    fn value_of(&mut self, value: &Json, shape: Shape, path: &Path<'_>) -> Result<(), DecodeError> {
        match (shape, value) {
            (_, Json::Null)
            | (Shape::Raw, _)
            | (Shape::Text(_), Json::String(_))
            | (Shape::Number, Json::Number(_))
            | (Shape::Boolean, Json::Bool(_)) => {}
            (Shape::Integer | Shape::Integer32 | Shape::Byte, Json::Number(number)) => {
                let integer = match self.integers {
                    Integers::AsWritten => number.as_i64(),
                    Integers::ByValue => integer(value),
                };
                let fits = |integer: i64| match shape {
                    Shape::Byte => u8::try_from(integer).is_ok(),
                    Shape::Integer32 => i32::try_from(integer).is_ok(),
                    _ => true,
                };
                if !integer.is_some_and(fits) {
                    let found = match self.integers {
                        Integers::AsWritten => number.to_string(),
                        Integers::ByValue => json::to_string(value),
                    };
                    self.note_mismatch(&format!("number {found}"), shape, path);
                }
            }
            (Shape::Bytes, Json::String(text)) => {
                if let Err(error) = base64::decode(text, Encoding::Standard) {
                    self.note(error.to_string(), path);
                }
            }
            (Shape::Bytes, Json::Array(_)) => {
                self.value(value, Shape::List("[]uint8", &Shape::Byte), path)?;
            }
            (Shape::Map(_, each), Json::Object(entries)) => {
                for (key, value) in entries {
                    self.value(value, *each, &path.child(key))?;
                }
            }
            (Shape::List(_, item), Json::Array(items)) => {
                for (n, value) in items.iter().enumerate() {
                    self.value(value, *item, &path.index(n))?;
                }
            }
            (Shape::Struct(shape), Json::Object(fields)) => self.struct_of(fields, shape, path)?,
            (Shape::Time, Json::String(text)) => {
                let read = Layout::Rfc3339.parse(text);
                read.map_err(|error| fault(error.to_string(), path))?;
            }
            (Shape::Time, _) => {
                return Err(fault(self.mismatch(json::kind(value), shape), path));
            }
            (Shape::Choice(choice), _) => self.choice(value, choice, path)?,
            _ => self.note_mismatch(json::kind(value), shape, path),
        }
        Ok(())
    }

    fn struct_of(
        &mut self,
        fields: &Map<String, Json>,
        shape: &'static Struct,
        path: &Path<'_>,
    ) -> Result<(), DecodeError> {
        let holder = self.holder;
        for (name, value) in fields {
            let path = path.child(name);
            let Some(field) = shape.field(name) else {
                self.note_unknown(&path);
                continue;
            };
            if !self.is_within_choice {
                self.holder = shape.name;
            }
            self.fields.push(field.name);
            self.value(value, field.shape, &path)?;
            self.fields.pop();
        }
        self.holder = holder;
        Ok(())
    }

    /// Reads a value of a type that has its own decoder. The first error within the value ends the reading.
    fn choice(
        &mut self,
        value: &Json,
        choice: &Choice,
        path: &Path<'_>,
    ) -> Result<(), DecodeError> {
        let shape = match (value, choice.list) {
            (Json::Object(_), _) => *choice.object,
            (Json::Array(_), Some(list)) => list,
            (Json::Bool(_), _) => return Ok(()),
            _ => {
                let refusal = choice
                    .refusal
                    .map(|message| fault(message.to_owned(), path));
                return refusal.map_or(Ok(()), Err);
            }
        };
        let earlier = self.fault.take();
        let is_within_choice = std::mem::replace(&mut self.is_within_choice, true);
        self.value(value, shape, path)?;
        self.is_within_choice = is_within_choice;
        match std::mem::replace(&mut self.fault, earlier) {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }

    /// Records an unknown field, unless it was recorded before: names with dots can make two paths equal.
    fn note_unknown(&mut self, path: &Path<'_>) {
        if self.is_within_choice || self.unknown.len() >= MAX_UNKNOWN {
            return;
        }
        let path = path.strict().to_string();
        if !self.unknown.contains(&path) {
            self.unknown.push(path);
        }
    }

    fn note_mismatch(&mut self, found: &str, shape: Shape, path: &Path<'_>) {
        if self.fault.is_none() {
            self.note(self.mismatch(found, shape), path);
        }
    }

    fn note(&mut self, message: String, path: &Path<'_>) {
        self.fault.get_or_insert_with(|| fault(message, path));
    }

    /// Go's message for a value that does not have the type of its field.
    fn mismatch(&self, found: &str, shape: Shape) -> String {
        type_mismatch(
            found,
            self.holder,
            &self.fields.join("."),
            &shape.type_name(),
        )
    }
}

fn fault(message: String, path: &Path<'_>) -> DecodeError {
    DecodeError::new(path.strict().to_string(), message)
}

/// The number as an integer. Go writes 1.0 as 1, so 1.0 is an integer too.
pub(crate) fn integer(value: &Json) -> Option<i64> {
    value
        .as_i64()
        .or_else(|| json::to_string(value).parse().ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::shape::{Field, Presence};

    static NODE: Struct = Struct {
        name: "Node",
        fields: &[Field::new("node", Shape::Struct(&NODE), Presence::Pointer)],
    };

    #[test]
    fn values_are_read_down_to_a_limit() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!({"node": inner}));
        let fault = |levels| read(&nested(levels), Shape::Struct(&NODE), Integers::ByValue).fault;
        assert!(fault(MAX_DEPTH - 1).is_some());
        assert_eq!(fault(MAX_DEPTH), None);
    }
}
