//! Evaluates attributes: variables with selections and indices, and conditionals (cel-go `interpreter/attributes.go`).
//!
//! A chain of selections and indices is one attribute. It costs one unit, and one more for each qualifier that is looked up. The
//! attribute's own unit is not charged for the key of an index (`b` in `a[b]`), for a conditional and its branches, and for a presence
//! test.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::frame::Frame;
use super::path::PathSet;
use super::tree::{Attribute, Base, Field, Qualifier, QualifierKey};
use crate::ast::ExprId;
use crate::error::EvalError;
use crate::value::{FieldKey, HeldError, List, Value, ValueKind, number};

mod conditional;
mod plain;

/// The result of evaluating the first steps of a chain.
#[derive(Debug, Clone, Copy)]
enum Reached<'a> {
    /// A value.
    Value(Value<'a>),
    /// A value after an optional step.
    Optional(Value<'a>),
    /// Absent: an optional step found nothing.
    Absent,
}

impl Attribute {
    /// A chain without qualifiers.
    pub(super) fn new(id: ExprId, base: Base) -> Self {
        Attribute {
            id,
            base,
            fields: SmallVec::new(),
            qualifiers: Vec::new(),
            paths: PathSet::default(),
            presence: false,
        }
    }

    /// Like `eval_into`, for chains that need more than lookups in JSON objects.
    #[inline(never)]
    fn eval_any<'a>(
        &'a self,
        place: &mut Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(), EvalError> {
        if let Some(held) = self.eval_optional(place, frame) {
            *place = match held? {
                true => frame.arena.some(*place),
                false => Value::NONE,
            };
            return Ok(());
        }
        if let Base::Conditional(conditional) = &self.base
            && self.is_bare()
        {
            return self.choose(conditional, place, frame);
        }
        let result = self.resolve(frame);
        if let Err(error) = &result
            && error.is_fatal()
        {
            return result.map(|_| ());
        }
        match (&self.base, self.presence) {
            (Base::Conditional(_), false) => {}
            (Base::Conditional(_), true) => frame.refund()?,
            // A presence test refunds the unit of the attribute, so nothing is charged.
            (_, true) => {}
            (_, false) => frame.charge(1)?,
        }
        *place = result?;
        match place.as_optional() {
            Some(held) if self.presence => *place = Value::from(held.is_some()),
            _ => {}
        }
        Ok(())
    }

    /// The value at the end of the chain. The unit of the attribute itself is not charged.
    fn resolve<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Value<'a>, EvalError> {
        let reached = self.reach(frame)?;
        self.settle(reached, frame)
    }

    /// Converts the result of the chain's last step to the chain's value.
    fn settle<'a>(
        &self,
        reached: Reached<'a>,
        frame: &Frame<'_, 'a>,
    ) -> Result<Value<'a>, EvalError> {
        Ok(match reached {
            Reached::Value(value) => value
                .or_held_error(frame.arena)
                .map_err(|error| error.at(self.end()))?,
            Reached::Optional(value) => frame.arena.some(value),
            Reached::Absent => Value::NONE,
        })
    }

    /// Whether the chain is a presence test and consists of fields only, without qualifiers.
    fn tests_field(&self) -> bool {
        self.presence && self.qualifiers.is_empty()
    }

    /// The node at which the chain ends.
    fn end(&self) -> ExprId {
        match (self.qualifiers.last(), self.fields.last()) {
            (Some(qualifier), _) => qualifier.id,
            (None, Some(field)) => field.id,
            (None, None) => self.id,
        }
    }

    /// Whether the chain has no selections and indices.
    fn is_bare(&self) -> bool {
        self.fields.is_empty() && self.qualifiers.is_empty()
    }

    fn reach<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Reached<'a>, EvalError> {
        let base = match &self.base {
            Base::Variable(index) => frame.variable(*index).map_err(|error| error.at(self.id))?,
            Base::Slot(index) => frame.slot(*index).map_err(|error| error.at(self.id))?,
            Base::Operand(operand) => operand.eval(frame)?,
            Base::Conditional(conditional) => {
                let reached = self.branch(conditional, frame)?.reach(frame)?;
                return self.follow(reached, frame);
            }
            Base::Unbound(name) => {
                return Err(EvalError::new(format!("no such attribute(s): {name}")).at(self.id));
            }
        };
        self.follow(Reached::at(base, frame), frame)
    }

    /// Like `reach`. Also tells whether the value comes from a variable that the host bound; a conditional is what its branch is.
    fn reach_raw<'a>(
        &'a self,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<(Reached<'a>, bool), EvalError> {
        let Base::Conditional(conditional) = &self.base else {
            let raw = matches!(self.base, Base::Variable(_));
            return Ok((self.reach(frame)?, raw));
        };
        let (reached, raw) = self.branch(conditional, frame)?.reach_raw(frame)?;
        Ok((self.follow(reached, frame)?, raw))
    }

    fn follow<'a>(
        &'a self,
        mut reached: Reached<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Reached<'a>, EvalError> {
        let (fields, tested) = match self.fields.split_last() {
            Some((tested, before)) if self.tests_field() => (before, Some(tested)),
            _ => (self.fields.as_slice(), None),
        };
        for Field { key, id, .. } in fields {
            match reached {
                Reached::Value(object) => {
                    let found = select(object, key, frame);
                    reached = Reached::Value(found.map_err(|error| error.at(*id))?);
                }
                Reached::Optional(object) => {
                    let found = find_optional_field(object, key, frame);
                    let found = found.map_err(|error| error.at(*id))?;
                    reached = Reached::optionally(found, frame)?;
                }
                Reached::Absent => return Ok(Reached::Absent),
            }
        }
        if let Some(Field { key, id, .. }) = tested {
            return test(reached, key, *id, frame);
        }
        if self.qualifiers.is_empty() {
            return Ok(reached);
        }
        self.look_up(reached, frame)
    }

    fn look_up<'a>(
        &'a self,
        mut reached: Reached<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Reached<'a>, EvalError> {
        let tested = self
            .qualifiers
            .len()
            .checked_sub(1)
            .filter(|_| self.presence);
        for (n, qualifier) in self.qualifiers.iter().enumerate() {
            let (object, optional) = match reached {
                Reached::Value(value) => (value, qualifier.optional),
                Reached::Optional(value) => (value, true),
                Reached::Absent => return Ok(Reached::Absent),
            };
            if optional {
                let found = qualifier.find(object, frame);
                let found = found.map_err(|error| error.at(qualifier.id))?;
                reached = Reached::optionally(found, frame)?;
            } else if tested == Some(n) {
                let found = qualifier.find(object, frame);
                let found = found.map_err(|error| error.at(qualifier.id));
                charge_step(&found, frame)?;
                reached = Reached::Value(Value::from(found?.is_some()));
            } else {
                let found = qualifier.require(object, frame);
                let found = found.map_err(|error| error.at(qualifier.id));
                charge_step(&found, frame)?;
                reached = Reached::Value(found?);
            }
        }
        Ok(reached)
    }
}

/// Tests for a field. After an optional step, returns the field itself if it is present.
fn test<'a>(
    reached: Reached<'a>,
    key: &'a FieldKey,
    id: ExprId,
    frame: &mut Frame<'_, 'a>,
) -> Result<Reached<'a>, EvalError> {
    let (Reached::Value(object) | Reached::Optional(object)) = reached else {
        return Ok(Reached::Absent);
    };
    let found = find_optional_field(object, key, frame).map_err(|error| error.at(id));
    if let Reached::Optional(_) = reached {
        return Reached::optionally(found?, frame);
    }
    charge_step(&found, frame)?;
    Ok(Reached::Value(Value::from(found?.is_some())))
}

impl<'a> Reached<'a> {
    /// The result before the first step of a chain whose base has this value.
    fn at(base: Value<'a>, frame: &Frame<'_, 'a>) -> Self {
        match base.as_optional() {
            Some(None) => Reached::Absent,
            Some(Some(value)) => Reached::Optional(taken_out(*value, frame)),
            None => Reached::Value(base),
        }
    }

    /// The result of an optional step, which is charged if it found a value.
    fn optionally(found: Option<Value<'a>>, frame: &mut Frame<'_, 'a>) -> Result<Self, EvalError> {
        match found {
            Some(value) => frame.charge(1).map(|()| Reached::Optional(value)),
            None => Ok(Reached::Absent),
        }
    }
}

/// Converts a value that was taken out of an optional to a Go value and back, as Kubernetes does. Returns the value unchanged if the
/// environment keeps such values.
fn taken_out<'a>(value: Value<'a>, frame: &Frame<'_, 'a>) -> Value<'a> {
    match frame.keeps_held_values() {
        true => value,
        false => value.native(frame.arena),
    }
}

/// A field of a value. Fails if the field is absent.
#[inline]
fn select<'a>(
    object: Value<'a>,
    key: &'a FieldKey,
    frame: &mut Frame<'_, 'a>,
) -> Result<Value<'a>, EvalError> {
    let found = find_field(object, key, frame);
    charge_step(&found, frame)?;
    found?.ok_or_else(|| missing(object, Value::from(key.name())))
}

/// Charges a step, even if it failed.
#[inline]
fn charge_step<T>(
    found: &Result<T, EvalError>,
    frame: &mut Frame<'_, '_>,
) -> Result<(), EvalError> {
    match found {
        Err(error) if error.is_fatal() => Err(error.clone()),
        _ => frame.charge(1),
    }
}

impl Qualifier {
    /// Looks up the key in a value; `None` if the key is absent.
    fn find<'a>(
        &'a self,
        object: Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Option<Value<'a>>, EvalError> {
        match &self.key {
            QualifierKey::Field(key) => find_optional_field(object, key, frame),
            QualifierKey::Declared(name) => find_declared(object, name, frame),
            key => {
                let key = key.resolve(frame)?;
                match find(object, key, frame)? {
                    None => check_absence(object, key, frame).map(|()| None),
                    found => Ok(found),
                }
            }
        }
    }

    /// Looks up the key in a value. Fails if the key is absent.
    #[inline]
    fn require<'a>(
        &'a self,
        object: Value<'a>,
        frame: &mut Frame<'_, 'a>,
    ) -> Result<Value<'a>, EvalError> {
        let key = match &self.key {
            QualifierKey::Field(key) => match find_field(object, key, frame)? {
                Some(value) => return Ok(value),
                None => return Err(missing(object, Value::from(key.name()))),
            },
            QualifierKey::Declared(name) => {
                return Ok(find_declared(object, name, frame)?.unwrap_or(Value::NULL));
            }
            key => key.resolve(frame)?,
        };
        find(object, key, frame)?.ok_or_else(|| missing(object, key))
    }
}

impl QualifierKey {
    fn resolve<'a>(&'a self, frame: &mut Frame<'_, 'a>) -> Result<Value<'a>, EvalError> {
        let (key, raw) = match self {
            QualifierKey::Field(key) => return Ok(Value::from(key.name())),
            QualifierKey::Declared(name) => return Ok(Value::from(&**name)),
            QualifierKey::Constant(value) => return Ok(value.as_value()),
            QualifierKey::Attribute(attribute) => {
                let (reached, raw) = attribute.reach_raw(frame)?;
                (attribute.settle(reached, frame)?, raw)
            }
            QualifierKey::Computed(node) => (node.eval(frame)?, false),
        };
        if is_key(&key) {
            Ok(key)
        } else {
            Err(EvalError::new(format!(
                "invalid qualifier type: {}",
                go_type(&key, raw)
            )))
        }
    }
}

/// Whether a value of this type can be a key.
pub(super) fn is_key(value: &Value<'_>) -> bool {
    matches!(
        value.kind(),
        ValueKind::Bool(_)
            | ValueKind::Int(_)
            | ValueKind::Uint(_)
            | ValueKind::Double(_)
            | ValueKind::String(_)
    )
}

#[inline]
fn find_field<'a>(
    object: Value<'a>,
    key: &'a FieldKey,
    frame: &Frame<'_, 'a>,
) -> Result<Option<Value<'a>>, EvalError> {
    match object.plain_field(key) {
        Some(found) => Ok(found),
        None => find(object, Value::from(key.name()), frame),
    }
}

/// A field of an object whose static type accepts any field; `None` if it is absent.
fn find_declared<'a>(
    object: Value<'a>,
    name: &str,
    frame: &Frame<'_, 'a>,
) -> Result<Option<Value<'a>>, EvalError> {
    match object.as_object() {
        Some(object) => object.select_declared(name, frame.arena),
        _ => find(object, Value::from(name), frame),
    }
}

/// Finds a field; `None` if it is absent.
#[inline]
fn find_optional_field<'a>(
    object: Value<'a>,
    key: &'a FieldKey,
    frame: &Frame<'_, 'a>,
) -> Result<Option<Value<'a>>, EvalError> {
    if let Some(found) = object.plain_field(key) {
        return Ok(found);
    }
    if let Some(object) = object.as_object() {
        return object.select_optional(key.name());
    }
    let key = Value::from(key.name());
    match find(object, key, frame)? {
        None => check_absence(object, key, frame).map(|()| None),
        found => Ok(found),
    }
}

fn find<'a>(
    object: Value<'a>,
    key: Value<'_>,
    frame: &Frame<'_, 'a>,
) -> Result<Option<Value<'a>>, EvalError> {
    let host = frame.context().host();
    let found = if let Some(map) = object.as_map() {
        host.check_key(&object, &key)?;
        map.get(&key)?
    } else if let Some(list) = object.as_list() {
        // An element that cannot be converted from JSON is returned unconverted; using it fails.
        let found = find_index(list, key)?;
        if found.is_some() {
            host.check_key(&object, &key)?;
            if key.as_int().is_none() && list.takes_only_ints() {
                // The error is the element, so that `[?…]` returns it in an optional.
                let error = EvalError::new(format!("unsupported index: {}", key.in_message()));
                return Ok(Some(frame.arena.opaque(HeldError(error))));
            }
        }
        return match found.map(|value| (frame.read(value), value)) {
            Some((Err(error), _)) if error.is_fatal() => Err(error),
            found => Ok(found.map(|(read, value)| read.unwrap_or(value))),
        };
    } else if object.as_unread().is_some() {
        return frame.read(object).map(|_| None);
    } else if let (Some(object), Some(name)) = (object.as_object(), key.as_str()) {
        object.select(name)?
    } else if let Some(opaque) = object.as_dyn_opaque() {
        opaque.find(&key)?
    } else {
        None
    };
    found.map(|value| frame.read(value)).transpose()
}

fn find_index<'a>(list: List<'a>, key: Value<'_>) -> Result<Option<Value<'a>>, EvalError> {
    let index = match key.kind() {
        ValueKind::Int(int) => Some(int),
        ValueKind::Uint(uint) => i64::try_from(uint).ok(),
        ValueKind::Double(double) => number::exact_int(double),
        _ => {
            return Err(EvalError::new(format!(
                "unsupported index type '{}' in list",
                key.type_name()
            )));
        }
    };
    match index {
        Some(index) => Ok(usize::try_from(index)
            .ok()
            .and_then(|index| list.get(index))),
        None => Err(EvalError::new(format!(
            "unsupported index value {} in list",
            key.in_message()
        ))),
    }
}

/// Checks whether a missing key is allowed. A key may always be missing in a map, a list or an optional. In any other value, a missing key
/// is an error under the rules of CEL's specification, and allowed under Kubernetes' rules.
fn check_absence(
    object: Value<'_>,
    key: Value<'_>,
    frame: &Frame<'_, '_>,
) -> Result<(), EvalError> {
    let has_fields =
        object.as_optional().is_some() || object.as_map().is_some() || object.as_list().is_some();
    if has_fields || !frame.follows_specification() {
        Ok(())
    } else {
        Err(missing(object, key))
    }
}

#[cold]
fn missing(object: Value<'_>, key: Value<'_>) -> EvalError {
    if object.as_list().is_some() {
        EvalError::new(format!("index out of bounds: {}", key.in_message()))
    } else {
        EvalError::no_such_key(key.in_message())
    }
}

/// The Go type of a value. `raw` is true for a value that the host bound to a variable.
fn go_type(value: &Value<'_>, raw: bool) -> Cow<'static, str> {
    match raw {
        true => value.raw_go_type(),
        false => value.go_type(),
    }
}
