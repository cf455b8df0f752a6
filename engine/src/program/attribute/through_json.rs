//! Chains that go through JSON objects alone: the short way that most of them take.

use crate::error::EvalError;
use crate::program::frame::{Epoch, Frame};
use crate::program::tree::{Attribute, Base, Qualifier, QualifierKey};
use crate::value::{JsonObject, Shape, Value, field_named};

impl Attribute {
    /// The chain where it is a variable alone, or goes through JSON objects alone, as most do. None where anything else
    /// comes up, nothing having been charged.
    #[inline]
    pub(super) fn through_json<'a>(
        &'a self,
        frame: &mut Frame<'a>,
    ) -> Option<Result<Value<'a>, EvalError>> {
        let (base, epoch) = match &self.base {
            Base::Variable(index) => (frame.bound_variable(*index)?, 0),
            Base::Slot(index) => frame.held_slot(*index)?,
            _ => return None,
        };
        if self.fields.is_empty() && self.qualifiers.is_empty() {
            let value = *base;
            return is_plain(base).then(|| frame.charge(1).map(|()| value));
        }
        if let Some(map) = base.as_json_map() {
            self.through_objects(map, epoch, frame)
        } else if let Some(fields) = base.as_fields() {
            self.through_objects(fields, epoch, frame)
        } else {
            let (map, shape) = base.as_shaped_map()?;
            self.through_shaped(Shaped::Map(map, shape), epoch, frame)
        }
    }

    #[inline(never)]
    fn through_shaped<'a>(
        &'a self,
        base: Shaped<'a>,
        epoch: Epoch,
        frame: &mut Frame<'a>,
    ) -> Option<Result<Value<'a>, EvalError>> {
        self.through_objects(base, epoch, frame)
    }

    #[inline]
    fn through_objects<'a, O: FieldSource<'a>>(
        &'a self,
        mut object: O,
        epoch: Epoch,
        frame: &mut Frame<'a>,
    ) -> Option<Result<Value<'a>, EvalError>> {
        let mut rest = self.fields.as_slice();
        if frame.keeps_paths() {
            let mut known = rest.iter().enumerate().rev();
            if let Some((n, kept)) =
                known.find_map(|(n, field)| Some((n, frame.kept(field.path, epoch)?)))
            {
                rest = rest.get(n.saturating_add(1)..)?;
                if rest.is_empty() && self.qualifiers.is_empty() {
                    let value = *kept;
                    return Some(self.charge_chain(frame).map(|()| value));
                }
                object = O::of(kept)?;
            }
        }
        let (last, path) = match self.qualifiers.as_slice() {
            [] => {
                let (last, between) = rest.split_last()?;
                rest = between;
                (&last.name, last.path)
            }
            [
                Qualifier {
                    key: QualifierKey::Field(name),
                    ..
                },
            ] if self.presence => (name, self.tested),
            _ => return None,
        };
        for field in rest {
            let value = object.find(&field.name)??;
            frame.keep(field.path, epoch, value);
            object = O::of(&value)?;
        }
        let found = object.find(last)?;
        if let Some(found) = found {
            frame.keep(path, epoch, found);
        }
        let value = match self.presence {
            true => Value::from(found.is_some()),
            false => found?,
        };
        Some(self.charge_chain(frame).map(|()| value))
    }

    /// One unit a field and one for the chain; a presence test gives that one back and adds its own.
    #[inline]
    fn charge_chain(&self, frame: &mut Frame<'_>) -> Result<(), EvalError> {
        let fields = u64::try_from(self.fields.len()).unwrap_or(u64::MAX);
        frame.charge_each(fields.saturating_add(1))
    }
}

/// Whether a variable of this value is the value as it is.
#[inline]
fn is_plain(value: &Value<'_>) -> bool {
    value.as_optional().is_none() && value.as_dyn_opaque().is_none() && value.as_unread().is_none()
}

/// An object in a JSON document.
trait FieldSource<'a>: Copy {
    /// The object that a value is, if it is one.
    fn of(value: &Value<'a>) -> Option<Self>;

    /// A field, if it is there. None where it has to be read first.
    fn find(self, field: &str) -> Option<Option<Value<'a>>>;
}

impl<'a> FieldSource<'a> for &'a JsonObject {
    #[inline]
    fn of(value: &Value<'a>) -> Option<Self> {
        value.as_json_map()
    }

    #[inline]
    fn find(self, field: &str) -> Option<Option<Value<'a>>> {
        Some(self.get(field).map(Value::from))
    }
}

impl<'a> FieldSource<'a> for &'a [(&'a str, Value<'a>)] {
    #[inline]
    fn of(value: &Value<'a>) -> Option<Self> {
        value.as_fields()
    }

    #[inline]
    fn find(self, field: &str) -> Option<Option<Value<'a>>> {
        Some(field_named(self, field))
    }
}

/// An object that a host reads in its own fashion, or one within it that is as it is.
#[derive(Clone, Copy)]
enum Shaped<'a> {
    Map(&'a JsonObject, &'a Shape),
    Plain(&'a JsonObject),
}

impl<'a> FieldSource<'a> for Shaped<'a> {
    fn of(value: &Value<'a>) -> Option<Self> {
        match value.as_shaped_map() {
            Some((map, shape)) => Some(Shaped::Map(map, shape)),
            None => value.as_json_map().map(Shaped::Plain),
        }
    }

    fn find(self, field: &str) -> Option<Option<Value<'a>>> {
        match self {
            Shaped::Map(map, shape) => match shape.find(map, field) {
                Some(value) if value.as_unread().is_some() => None,
                found => Some(found),
            },
            Shaped::Plain(map) => map.find(field),
        }
    }
}
