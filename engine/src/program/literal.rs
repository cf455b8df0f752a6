//! List, map and struct literals that are not constant.

use bumpalo::collections::Vec as ArenaVec;

use super::frame::Frame;
use super::tree::{ListLiteral, MapLiteral, StructLiteral};
use super::well_known;
use crate::ast::ExprId;
use crate::cost;
use crate::error::EvalError;
use crate::value::{MapBuilder, Object, Value, ValueKind, check_hashable};

impl ListLiteral {
    /// Evaluates the list and stores it in `place`.
    #[inline(never)]
    pub(super) fn eval_into<'a>(
        &'a self,
        place: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        let list = charged(self.build(frame), cost::LIST, self.id, frame)?;
        *place = Value::from(list);
        Ok(())
    }

    /// Builds the list, without charging for it.
    fn build<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<&'a [Value<'a>], EvalError> {
        let mut values = ArenaVec::with_capacity_in(self.elements.len(), frame.arena.bump());
        for element in &self.elements {
            // The element is evaluated where it is stored in the list.
            values.push(Value::NULL);
            let Some(place) = values.last_mut() else {
                break;
            };
            element.value.eval_into(place, frame)?;
            if !element.optional {
                continue;
            }
            match place.as_optional() {
                Some(Some(held)) => *place = *held,
                Some(None) => {
                    values.pop();
                }
                None => {
                    return Err(EvalError::new(format!(
                        "cannot initialize optional list element from non-optional value {}",
                        place.in_message()
                    )));
                }
            }
        }
        Ok(values.into_bump_slice())
    }
}

impl MapLiteral {
    #[inline(never)]
    pub(super) fn eval<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Value<'a>, EvalError> {
        let map = self.build(frame);
        charged(map, cost::MAP, self.id, frame)
    }

    /// Builds the map, without charging for it.
    pub(super) fn build<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Value<'a>, EvalError> {
        let mut map = MapBuilder::new();
        for (key, element) in &self.entries {
            let key = key.eval(frame)?;
            let value = element.value.eval(frame)?;
            let value = entry_value(&key.in_message(), value, element.optional);
            if self.specified {
                if !matches!(
                    key.kind(),
                    ValueKind::Bool(_)
                        | ValueKind::Int(_)
                        | ValueKind::Uint(_)
                        | ValueKind::String(_)
                ) {
                    return Err(EvalError::new(format!(
                        "unsupported key type: {}",
                        key.type_name()
                    )));
                }
                value?.map(|value| map.insert_new(key, value)).transpose()?;
                continue;
            }
            if let Err(error) = check_hashable(&key) {
                return Err(match value {
                    // If the optional value is absent, upstream deletes the key from the map. For a key that cannot be hashed, Go's error
                    // message for a deletion differs from the one for an insertion.
                    Ok(None) => EvalError::internal(format_args!(
                        "hash of unhashable type: {}",
                        key.go_type()
                    )),
                    _ => error,
                });
            }
            match value? {
                Some(value) => {
                    map.insert(key, value);
                }
                None => map.remove(key),
            }
        }
        Ok(map.build(frame.arena))
    }
}

impl StructLiteral {
    #[inline(never)]
    pub(super) fn eval<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Value<'a>, EvalError> {
        let value = self.build(frame);
        charged(value, cost::STRUCT, self.id, frame)
    }

    fn build<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Value<'a>, EvalError> {
        let mut fields = Vec::with_capacity(self.fields.len());
        for (name, element) in &self.fields {
            let value = element.value.eval(frame)?;
            fields.retain(|(known, _)| *known != name.as_str());
            if let Some(value) = entry_value(name, value, element.optional)? {
                fields.push((name.as_str(), value));
            }
        }
        match self.object {
            Some(kind) => Object::build(&self.type_name, kind, fields, frame.arena),
            None => {
                let work = frame.context().work_counter();
                well_known::build(&self.type_name, &fields, frame.arena, work)
            }
        }
    }
}

/// The value of an entry or field; `None` for an optional without a value.
fn entry_value<'a>(
    key: &dyn std::fmt::Display,
    value: Value<'a>,
    optional: bool,
) -> Result<Option<Value<'a>>, EvalError> {
    match (optional, value.as_optional()) {
        (false, _) => Ok(Some(value)),
        (true, Some(held)) => Ok(held.copied()),
        (true, None) => Err(EvalError::new(format!(
            "cannot initialize optional entry '{key}' from non-optional value {}",
            value.in_message()
        ))),
    }
}

fn charged<'a, T>(
    value: Result<T, EvalError>,
    units: u64,
    id: ExprId,
    frame: &mut Frame<'_, 'a>,
) -> Result<T, EvalError> {
    match value {
        Err(error) if error.is_fatal() => Err(error.at(id)),
        value => {
            frame.charge(units)?;
            value.map_err(|error| error.at(id))
        }
    }
}
