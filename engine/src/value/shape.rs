//! JSON that a host reads in a fashion of its own: a schema, say, by which a text is a timestamp and null is nothing.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use gavel_golang::work::Work;

use super::{Arena, Json, JsonObject, Reach, Value};
use crate::error::EvalError;

/// Where a host's type has a field, as its [`TypeProvider`](crate::decl::TypeProvider) has told: a hint, by which it is found at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldPlace(u32);

impl FieldPlace {
    /// Nowhere in particular.
    pub const UNKNOWN: FieldPlace = FieldPlace(u32::MAX);

    /// The field of this number, from 0.
    pub fn new(number: usize) -> Self {
        FieldPlace(u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// The number of the field, beyond all fields where it is not known.
    #[inline]
    pub fn number(self) -> usize {
        self.0 as usize
    }
}

/// How JSON is read: what its values, fields and elements are, and what equality and `+` of its lists mean.
///
/// Lists and maps are viewed where they lie, as [`Value::shaped_list`] and [`Value::shaped_map`]. Scalars are values at once;
/// those that need memory, and JSON that cannot be read, are [unread](Value::unread) until they are used.
pub trait JsonShape: Any + fmt::Debug + Send + Sync {
    /// The value of JSON of this shape. `this` is the shape itself, for values that refer to it.
    fn view<'a>(&'a self, json: &'a Json, this: &'a Shape) -> Value<'a>;

    /// The value that an [unread](Value::unread) one stands for, or why there is none.
    fn read<'a>(&self, json: &'a Json, arena: &'a Arena) -> Result<Value<'a>, EvalError>;

    /// How the elements of a list of this shape are read.
    fn items(&self) -> ItemShape<'_>;

    /// The value under a field or text key of a map of this shape.
    fn find<'a>(&'a self, map: &'a JsonObject, key: &str) -> Option<Value<'a>>;

    /// The same, where the field is probably the one at a place that the shape knows.
    fn find_at<'a>(&'a self, map: &'a JsonObject, key: &str, _: FieldPlace) -> Option<Value<'a>> {
        self.find(map, key)
    }

    /// The key under which an entry of the document is found, or `None` where the shape knows no such entry.
    fn key<'a>(&'a self, name: &'a str) -> Option<&'a str>;

    /// Whether a list of this shape equals the value on the right.
    fn list_equals(
        &self,
        items: &[Json],
        other: &Value<'_>,
        reach: &mut Reach<'_>,
    ) -> Result<bool, EvalError>;

    /// Whether a map of this shape equals the value on the right.
    fn map_equals(
        &self,
        map: &JsonObject,
        other: &Value<'_>,
        reach: &mut Reach<'_>,
    ) -> Result<bool, EvalError>;

    /// Whether a value is an element of a list of this shape.
    fn list_contains(
        &self,
        items: &[Json],
        value: &Value<'_>,
        work: &Work<'_>,
    ) -> Result<bool, EvalError>;

    /// A list of this shape with another list appended by `+`. `this` is the shape itself.
    fn concat<'a>(
        &'a self,
        items: &'a [Json],
        other: Value<'a>,
        this: &'a Shape,
        arena: &'a Arena,
        work: &Work<'_>,
    ) -> Result<Value<'a>, EvalError>;

    /// The Go type of lists and maps of this shape, which some messages name.
    fn go_type(&self) -> &'static str;
}

/// How the elements of a list are read: asked once a list.
#[derive(Debug, Clone, Copy)]
pub struct ItemShape<'s> {
    /// The shape of an element. Without one, elements are as JSON has them.
    pub shape: Option<&'s Shape>,
    /// The JSON that an element of that shape is as it is. Whatever else there is, the shape reads.
    pub plain: PlainJson,
}

/// JSON that is a value as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainJson {
    /// Numbers that are ints.
    Int,
    /// Texts.
    Text,
    /// None for certain.
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

    fn read(self, json: &'s Json) -> Value<'s> {
        match self.shape {
            Some(shape) => shape.view(json),
            None => Value::from(json),
        }
    }
}

/// A [`JsonShape`], shared: what values refer to by one pointer.
#[derive(Debug, Clone)]
pub struct Shape(Arc<dyn JsonShape>);

impl Shape {
    /// A shape of a host's.
    pub fn new(shape: impl JsonShape) -> Self {
        Shape(Arc::new(shape))
    }

    /// The value of JSON of this shape.
    #[inline]
    pub fn view<'a>(&'a self, json: &'a Json) -> Value<'a> {
        self.0.view(json, self)
    }

    /// Reads JSON for a look at its value, which is then gone.
    #[cold]
    pub fn look<T>(&self, json: &Json, look: impl FnOnce(Result<Value<'_>, EvalError>) -> T) -> T {
        let arena = Arena::new();
        look(self.0.read(json, &arena))
    }

    /// The place in memory.
    pub fn place(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }

    /// Whether both are the same in memory.
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
    /// The shape as the host's own Rust type.
    pub fn downcast_ref<T: JsonShape>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}
