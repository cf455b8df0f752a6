//! Objects that struct literals of a host's types create, such as `Object.spec{replicas: 3}` (apiserver `pkg/cel/mutation`).

use super::key::address;
use super::{Arena, MapBuilder, Reach, Repr, Value};
use crate::error::EvalError;

/// The kind of a host's object type. It says which fields the objects have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// Any field can be set. Selections find a field only if the checker knows the type of the object. Objects in the field's value are
    /// then converted to maps.
    Open,
    /// Only fixed fields can be set. One of them holds a value of any type. All others hold texts; a text that is not set is empty.
    Record {
        /// The names of the fields that hold texts.
        texts: &'static [&'static str],
        /// The name of the field that holds a value of any type.
        value: &'static str,
    },
}

/// An object that a struct literal of a host's type built.
#[derive(Debug, Clone, Copy)]
pub struct Object<'a> {
    type_name: &'a str,
    kind: ObjectKind,
    /// The fields that were set, ordered by name.
    fields: &'a [(&'a str, Value<'a>)],
}

impl<'a> Object<'a> {
    /// An object with these fields, as a value.
    pub(crate) fn build(
        type_name: &'a str,
        kind: ObjectKind,
        mut fields: Vec<(&'a str, Value<'a>)>,
        arena: &'a Arena,
    ) -> Result<Value<'a>, EvalError> {
        if let ObjectKind::Record { texts, value } = kind {
            for (name, field) in fields.iter_mut().filter(|(name, _)| *name != value) {
                *field = record_text(type_name, name, texts, *field)?;
            }
        }
        fields.sort_by_key(|(name, _)| *name);
        let fields = arena.bump().alloc_slice_copy(&fields);
        Ok(Value(Repr::Object(arena.bump().alloc(Object {
            type_name,
            kind,
            fields,
        }))))
    }

    /// The name of the type: `Object.spec`.
    pub fn type_name(&self) -> &'a str {
        self.type_name
    }

    /// The behavior of the object.
    pub fn kind(&self) -> ObjectKind {
        self.kind
    }

    /// The fields that were set, ordered by name.
    pub fn fields(&self) -> &'a [(&'a str, Value<'a>)] {
        self.fields
    }

    /// The value of a field; `None` if the field was not set.
    pub fn field(&self, name: &str) -> Option<Value<'a>> {
        let found = self.fields.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value)
    }

    /// The value of `object.name` if the checker does not know the type of the object.
    pub(crate) fn select(&self, name: &str) -> Result<Option<Value<'a>>, EvalError> {
        match self.kind {
            ObjectKind::Open => Ok(None),
            ObjectKind::Record { texts, .. } if texts.contains(&name) => {
                Ok(Some(self.field(name).unwrap_or(Value(Repr::String("")))))
            }
            ObjectKind::Record { value, .. } if value == name => {
                Ok(Some(self.field(name).unwrap_or(Value(Repr::Null))))
            }
            ObjectKind::Record { .. } => {
                Err(EvalError::new(format!("unsupported indexer: {name}")))
            }
        }
    }

    /// The value of a field in an optional selection or in `has(object.name)`; `None` if the field is absent. Does not apply if the checker
    /// knows that the object is open (see `select_declared`).
    pub(crate) fn select_optional(&self, name: &str) -> Result<Option<Value<'a>>, EvalError> {
        match self.kind {
            ObjectKind::Open => Ok(None),
            ObjectKind::Record { texts, value } if value == name || texts.contains(&name) => {
                let found = self.field(name);
                Ok(
                    found
                        .filter(|found| !matches!(found, Value(Repr::String("")) if value != name)),
                )
            }
            ObjectKind::Record { .. } => Err(EvalError::new(format!("unsupported field: {name}"))),
        }
    }

    /// The value of `object.name` if the checker knows that the object is open. Objects in the value are converted to maps.
    pub(crate) fn select_declared(
        &self,
        name: &str,
        arena: &'a Arena,
    ) -> Result<Option<Value<'a>>, EvalError> {
        let found = self.field(name);
        found
            .map(|value| plain(value, arena, &mut Reach::default()))
            .transpose()
    }

    /// Whether both objects have the same type and equal fields. Fields of open objects are compared as by Go's `reflect.DeepEqual`: their
    /// values must have the same type, and a list only equals itself.
    pub(super) fn equals(
        &self,
        other: &Object<'_>,
        reach: &mut Reach<'_>,
    ) -> Result<bool, EvalError> {
        let is_same = self.type_name == other.type_name && self.fields.len() == other.fields.len();
        if !is_same {
            return Ok(false);
        }
        reach.within(self.fields.len(), |reach| {
            for ((l_name, l), (r_name, r)) in self.fields.iter().zip(other.fields) {
                let equal = match self.kind {
                    _ if l_name != r_name => false,
                    ObjectKind::Open => deeply_equal(l, r, reach)?,
                    ObjectKind::Record { .. } => l.equals_within(r, reach)?,
                };
                if !equal {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }
}

/// The text that a record stores in the field `name`.
fn record_text<'a>(
    type_name: &str,
    name: &str,
    texts: &[&str],
    value: Value<'a>,
) -> Result<Value<'a>, EvalError> {
    if !texts.contains(&name) {
        let message = format!("unexpected {type_name}Type field: {name}");
        return Err(EvalError::new(message));
    }
    value.native_text().map(Value::from).ok_or_else(|| {
        EvalError::new(format!(
            "unexpected type {} for {type_name}Type '{name}' field",
            value.native_go_type()
        ))
    })
}

/// Replaces open objects in a value by maps.
fn plain<'a>(
    value: Value<'a>,
    arena: &'a Arena,
    reach: &mut Reach<'_>,
) -> Result<Value<'a>, EvalError> {
    match value {
        Value(Repr::Object(object)) if object.kind == ObjectKind::Open => {
            reach.within(object.fields.len(), |reach| {
                let mut map = MapBuilder::new();
                for (name, value) in object.fields {
                    map.insert(Value(Repr::String(name)), plain(*value, arena, reach)?);
                }
                Ok(map.build(arena))
            })
        }
        Value(Repr::List(values)) => reach.within(values.len(), |reach| {
            let values = values.iter().map(|value| plain(*value, arena, reach));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            Ok(arena.list(&values))
        }),
        Value(Repr::Map(map)) => reach.within(map.entries().len(), |reach| {
            let mut plain_map = MapBuilder::new();
            for (key, value) in map.entries() {
                plain_map.insert(*key, plain(*value, arena, reach)?);
            }
            Ok(plain_map.build(arena))
        }),
        value => Ok(value.native(arena)),
    }
}

/// Whether two values are equal for Go's `reflect.DeepEqual`. A list of cel-go contains Go functions, which are never equal, so a list only
/// equals itself.
fn deeply_equal(
    left: &Value<'_>,
    right: &Value<'_>,
    reach: &mut Reach<'_>,
) -> Result<bool, EvalError> {
    match (left, right) {
        (Value(Repr::Map(l)), Value(Repr::Map(r))) => {
            let (l, r) = (l.entries(), r.entries());
            reach.within(l.len(), |reach| {
                for ((l_key, l), (r_key, r)) in l.iter().zip(r) {
                    if !deeply_equal(l_key, r_key, reach)? || !deeply_equal(l, r, reach)? {
                        return Ok(false);
                    }
                }
                Ok(l.len() == r.len())
            })
        }
        _ if left.as_list().is_some() => Ok(address(left) == address(right)
            && left.as_list().map(|list| list.len()) == right.as_list().map(|list| list.len())),
        _ if left.go_type() == right.go_type() => left.equals_within(right, reach),
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object<'a>(arena: &'a Arena, name: &'a str, fields: &[(&'a str, Value<'a>)]) -> Value<'a> {
        Object::build(name, ObjectKind::Open, fields.to_vec(), arena).unwrap()
    }

    #[test]
    fn objects_are_equal_by_type_and_deeply_by_fields() {
        let arena = Arena::new();
        let check = |left: Value<'_>, right: Value<'_>, expected: bool| {
            assert_eq!(left.equals(&right).unwrap(), expected, "{left:?} {right:?}");
        };
        let one = object(&arena, "Object", &[("a", Value::from(1))]);
        check(
            one,
            object(&arena, "Object", &[("a", Value::from(1))]),
            true,
        );
        check(
            one,
            object(&arena, "Object", &[("a", Value::from(1_u64))]),
            false,
        );
        check(
            one,
            object(&arena, "Object.a", &[("a", Value::from(1))]),
            false,
        );
        check(
            one,
            object(&arena, "Object", &[("b", Value::from(1))]),
            false,
        );
        let list = arena.list(&[Value::from(1)]);
        let with_list = object(&arena, "Object", &[("a", list)]);
        check(with_list, with_list, true);
        let other = object(&arena, "Object", &[("a", arena.list(&[Value::from(1)]))]);
        check(with_list, other, false);
    }

    #[test]
    fn fields_of_open_objects_are_plain_data_where_their_type_is_known() {
        let arena = Arena::new();
        let inner = object(&arena, "Object.a", &[("b", Value::from(2))]);
        let Value(Repr::Object(outer)) = object(&arena, "Object", &[("a", inner)]) else {
            panic!("an object");
        };
        let found = outer.select_declared("a", &arena).unwrap().unwrap();
        assert_eq!(found.as_map().unwrap().len(), 1);
        assert!(outer.select("a").unwrap().is_none());
        assert!(outer.select_declared("b", &arena).unwrap().is_none());
    }
}
