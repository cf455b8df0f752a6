//! Shapes: a shape determines how a host views JSON. For example, a schema is a shape. A schema can say that a text is a timestamp, or
//! that a null is an absent field.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use gavel_golang::work::Work;

use super::{Arena, Json, JsonObject, Reach, Value};
use crate::error::EvalError;

/// The position of a field in a host's type, as returned by the [`TypeProvider`](crate::decl::TypeProvider). It is a hint that speeds up
/// the lookup of the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldPlace(u32);

impl FieldPlace {
    /// An unknown position.
    pub const UNKNOWN: FieldPlace = FieldPlace(u32::MAX);

    /// The position of the field with this number, counted from 0.
    pub fn new(number: usize) -> Self {
        FieldPlace(u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// The number of the field. For an unknown position, a number that no field has.
    #[inline]
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

/// Determines how JSON is viewed: the values of scalars, fields and elements, and the results of `==`, `in` and `+`.
///
/// Lists and maps are borrowed, as [`Value::shaped_list`] and [`Value::shaped_map`]. Scalars are converted to values at once. JSON whose
/// conversion needs memory or fails stays [unread](Value::unread) until it is used.
pub trait JsonShape: Any + fmt::Debug + Send + Sync {
    /// The kind of JSON that [`Shape::view`] converts without calling `view`. [`Shape::new`] asks for it once.
    fn plain(&self) -> PlainJson {
        PlainJson::Nothing
    }

    /// The value of JSON that is not [plain](Self::plain). `this` is this shape as a [`Shape`], so that values can refer to it.
    fn view<'a>(&'a self, json: &'a Json, this: &'a Shape) -> Value<'a>;

    /// Converts [unread](Value::unread) JSON to a value.
    ///
    /// # Errors
    ///
    /// The JSON does not fit this shape.
    fn read<'a>(&self, json: &'a Json, arena: &'a Arena) -> Result<Value<'a>, EvalError>;

    /// The shape of the elements of a list. Without a shape, the elements are plain JSON.
    fn items(&self) -> Option<&Shape>;

    /// The value of a field or text key of a map; `None` if it is absent.
    fn find<'a>(&'a self, map: &'a JsonObject, key: &str) -> Option<Value<'a>>;

    /// The position of a field, for [`field_at`](Self::field_at).
    fn field_place(&self, _key: &str) -> FieldPlace {
        FieldPlace::UNKNOWN
    }

    /// The name in JSON and the shape of the field at a position, if this is the field for `key`. Such a field with the value null is
    /// treated as absent. `None` means that only [`find`](Self::find) knows the field.
    fn field_at(&self, _key: &str, _place: FieldPlace) -> Option<(&str, &Shape)> {
        None
    }

    /// The key for the entry `name` of an object; `None` if the shape does not know the entry.
    fn key<'a>(&'a self, name: &'a str) -> Option<&'a str>;

    /// Whether `items == other`.
    ///
    /// # Errors
    ///
    /// Elements cannot be compared, or the host interrupts the evaluation.
    fn list_equals(
        &self,
        items: &[Json],
        other: &Value<'_>,
        reach: &mut Reach<'_>,
    ) -> Result<bool, EvalError>;

    /// Whether `map == other`.
    ///
    /// # Errors
    ///
    /// Values cannot be compared, or the host interrupts the evaluation.
    fn map_equals(
        &self,
        map: &JsonObject,
        other: &Value<'_>,
        reach: &mut Reach<'_>,
    ) -> Result<bool, EvalError>;

    /// Whether `value in items`.
    ///
    /// # Errors
    ///
    /// Elements cannot be compared, or the host interrupts the evaluation.
    fn list_contains(
        &self,
        items: &[Json],
        value: &Value<'_>,
        work: &Work<'_>,
    ) -> Result<bool, EvalError>;

    /// The result of `items + other`. `this` is the shape itself.
    ///
    /// # Errors
    ///
    /// The lists cannot be joined, or the host interrupts the evaluation.
    fn concat<'a>(
        &'a self,
        items: &'a [Json],
        other: Value<'a>,
        this: &'a Shape,
        arena: &'a Arena,
        work: &Work<'_>,
    ) -> Result<Value<'a>, EvalError>;

    /// The name of the Go type of lists and maps. Some messages contain it.
    fn go_type(&self) -> &'static str;
}

/// A kind of JSON that is converted to a value without a call of a shape's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlainJson {
    /// Bools.
    Bool,
    /// Numbers that are ints.
    Int,
    /// Texts.
    Text,
    /// Objects, as [`Value::shaped_map`].
    Object,
    /// Lists, as [`Value::shaped_list`].
    List,
    /// No kind of JSON.
    Nothing,
}

/// How the elements of a list are viewed. An evaluation requests it once per list, not once per element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ItemShape<'s> {
    /// Without a shape, the elements are plain JSON.
    shape: Option<&'s Shape>,
    /// Whether the shape types the elements as ints.
    is_int: bool,
}

impl<'s> ItemShape<'s> {
    /// How the elements of lists with this shape are viewed.
    #[inline]
    pub(crate) fn of(list: &'s Shape) -> Self {
        let shape = list.items();
        ItemShape {
            shape,
            is_int: shape.is_some_and(|shape| shape.plain == PlainJson::Int),
        }
    }

    /// The value of an element.
    #[inline]
    pub(crate) fn value(self, json: &'s Json) -> Value<'s> {
        match self.shape {
            Some(shape) => shape.view(json),
            None => Value::from(json),
        }
    }

    /// Stores the value of an element in `place`.
    #[inline]
    pub(crate) fn store(self, json: &'s Json, place: &mut Value<'s>) {
        match self.shape {
            Some(shape) => shape.view_into(json, place),
            None => *place = Value::from(json),
        }
    }

    /// The value of an element that is an int; `None` for other elements.
    #[inline]
    pub(crate) fn int(self, json: &'s Json) -> Option<i64> {
        match json {
            Json::Number(number) if self.is_int => {
                number.as_i64().or_else(|| self.value(json).as_int())
            }
            _ => self.value(json).as_int(),
        }
    }
}

/// A shared [`JsonShape`]. Values refer to it by a single pointer.
#[derive(Debug, Clone)]
pub struct Shape {
    shared: Arc<dyn JsonShape>,
    plain: PlainJson,
}

impl Shape {
    /// Creates a shape from a host's implementation.
    pub fn new(shape: impl JsonShape) -> Self {
        Shape {
            plain: shape.plain(),
            shared: Arc::new(shape),
        }
    }

    /// The value of JSON viewed through this shape.
    #[inline]
    pub fn view<'a>(&'a self, json: &'a Json) -> Value<'a> {
        let mut value = Value::NULL;
        self.view_into(json, &mut value);
        value
    }

    /// Stores the value of JSON viewed through this shape in `place`.
    #[inline]
    pub(crate) fn view_into<'a>(&'a self, json: &'a Json, place: &mut Value<'a>) {
        *place = match (self.plain, json) {
            (PlainJson::Int, Json::Number(number)) if let Some(int) = number.as_i64() => {
                Value::from(int)
            }
            (PlainJson::Text, Json::String(text)) => Value::from(text),
            (PlainJson::Object, Json::Object(map)) => Value::shaped_map(map, self),
            (PlainJson::List, Json::Array(items)) => Value::shaped_list(items, self),
            (PlainJson::Bool, Json::Bool(value)) => Value::from(*value),
            _ => return self.shared.view(json, self).store_in(place),
        };
    }

    /// Converts JSON to a value in a temporary arena, and passes the value to `look`.
    #[cold]
    pub fn look<T>(&self, json: &Json, look: impl FnOnce(Result<Value<'_>, EvalError>) -> T) -> T {
        let arena = Arena::new();
        look(self.shared.read(json, &arena))
    }

    /// The address of the shape, which all clones of the shape share.
    pub fn place(&self) -> *const () {
        Arc::as_ptr(&self.shared).cast()
    }

    /// Whether both are clones of the same shape.
    pub fn is(&self, other: &Shape) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl Deref for Shape {
    type Target = dyn JsonShape;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &*self.shared
    }
}

impl dyn JsonShape {
    /// The shape as the host's own Rust type; `None` if it has another type.
    pub fn downcast_ref<T: JsonShape>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}
