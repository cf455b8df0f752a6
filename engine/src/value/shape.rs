//! JSON that a host reads in a fashion of its own: a schema, say, by which a text is a timestamp and null is nothing.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use gavel_golang::work::Work;

use super::{Arena, Json, JsonObject, Reach, Value};
use crate::error::EvalError;

/// How JSON is read: what its values, fields and elements are, and what equality and `+` of its lists mean.
///
/// Lists and maps are viewed where they lie, as [`Value::shaped_list`] and [`Value::shaped_map`]. Scalars are values at once;
/// those that need memory, and JSON that cannot be read, are [unread](Value::unread) until they are used.
pub trait JsonShape: Any + fmt::Debug + Send + Sync {
    /// The value of JSON of this shape. `this` is the shape itself, for values that refer to it.
    fn view<'a>(&'a self, json: &'a Json, this: &'a Shape) -> Value<'a>;

    /// The value that an [unread](Value::unread) one stands for, or why there is none.
    fn read<'a>(&self, json: &'a Json, arena: &'a Arena) -> Result<Value<'a>, EvalError>;

    /// An element of a list of this shape.
    fn element<'a>(&'a self, json: &'a Json) -> Value<'a>;

    /// The value under a field or text key of a map of this shape.
    fn find<'a>(&'a self, map: &'a JsonObject, key: &str) -> Option<Value<'a>>;

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
