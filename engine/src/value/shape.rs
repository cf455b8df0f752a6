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
    /// The value of this JSON. `this` is this shape as a [`Shape`], so that values can refer to it.
    fn view<'a>(&'a self, json: &'a Json, this: &'a Shape) -> Value<'a>;

    /// Converts [unread](Value::unread) JSON to a value.
    ///
    /// # Errors
    ///
    /// The JSON does not fit this shape.
    fn read<'a>(&self, json: &'a Json, arena: &'a Arena) -> Result<Value<'a>, EvalError>;

    /// How the elements of a list are viewed.
    fn items(&self) -> ItemShape<'_>;

    /// The value of a field or text key of a map; `None` if it is absent.
    fn find<'a>(&'a self, map: &'a JsonObject, key: &str) -> Option<Value<'a>>;

    /// The position of a field, for [`find_at`](Self::find_at).
    fn field_place(&self, _key: &str) -> FieldPlace {
        FieldPlace::UNKNOWN
    }

    /// Like [`find`](Self::find), with the probable position of the field as a hint.
    fn find_at<'a>(&'a self, map: &'a JsonObject, key: &str, _: FieldPlace) -> Option<Value<'a>> {
        self.find(map, key)
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

/// How the elements of a list are viewed. An evaluation requests it once per list, not once per element.
#[derive(Debug, Clone, Copy)]
pub struct ItemShape<'s> {
    /// The shape of the elements. Without a shape, the elements are plain JSON.
    pub shape: Option<&'s Shape>,
    /// The kind of JSON that is converted without the shape. All other elements are converted through the shape.
    pub plain: PlainJson,
}

/// A kind of JSON that can be converted to a value without a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlainJson {
    /// Numbers that are ints.
    Int,
    /// Texts.
    Text,
    /// No kind of JSON: all elements are converted through the shape.
    Nothing,
}

impl<'s> ItemShape<'s> {
    /// The value of an element.
    #[inline]
    pub fn value(self, json: &'s Json) -> Value<'s> {
        match (self.plain, json) {
            (PlainJson::Int, Json::Number(number)) => match number.as_i64() {
                Some(int) => Value::from(int),
                None => self.read(json),
            },
            (PlainJson::Text, Json::String(text)) => Value::from(text),
            _ => self.read(json),
        }
    }

    /// The value of an element that is an int; `None` for other elements.
    #[inline]
    pub(crate) fn int(self, json: &'s Json) -> Option<i64> {
        match (self.plain, json) {
            (PlainJson::Int, Json::Number(number)) => match number.as_i64() {
                Some(int) => Some(int),
                None => self.read(json).as_int(),
            },
            _ => self.value(json).as_int(),
        }
    }

    /// Stores the value of an element in `place`.
    #[inline]
    pub(crate) fn store(self, json: &'s Json, place: &mut Value<'s>) {
        match (self.plain, json) {
            (PlainJson::Int, Json::Number(number)) => match number.as_i64() {
                Some(int) => *place = Value::from(int),
                None => *place = self.read(json),
            },
            (PlainJson::Text, Json::String(text)) => *place = Value::from(text),
            _ => self.read(json).store_in(place),
        }
    }

    fn read(self, json: &'s Json) -> Value<'s> {
        match self.shape {
            Some(shape) => shape.view(json),
            None => Value::from(json),
        }
    }
}

/// A shared [`JsonShape`]. Values refer to it by a single pointer.
#[derive(Debug, Clone)]
pub struct Shape(Arc<dyn JsonShape>);

impl Shape {
    /// Creates a shape from a host's implementation.
    pub fn new(shape: impl JsonShape) -> Self {
        Shape(Arc::new(shape))
    }

    /// The value of JSON viewed through this shape.
    #[inline]
    pub fn view<'a>(&'a self, json: &'a Json) -> Value<'a> {
        self.0.view(json, self)
    }

    /// Converts JSON to a value in a temporary arena, and passes the value to `look`.
    #[cold]
    pub fn look<T>(&self, json: &Json, look: impl FnOnce(Result<Value<'_>, EvalError>) -> T) -> T {
        let arena = Arena::new();
        look(self.0.read(json, &arena))
    }

    /// The address of the shape, which all clones of the shape share.
    pub fn place(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }

    /// Whether both are clones of the same shape.
    pub fn is(&self, other: &Shape) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Deref for Shape {
    type Target = dyn JsonShape;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl dyn JsonShape {
    /// The shape as the host's own Rust type; `None` if it has another type.
    pub fn downcast_ref<T: JsonShape>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}
