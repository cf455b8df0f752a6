//! How hosts and libraries bring values of their own: lists and maps that are read lazily, and opaque types.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use gavel_golang::work::Work;
use smallvec::SmallVec;

use super::{Arena, List, Reach, Value};
use crate::error::EvalError;

/// A list of a host, read element by element. A view lives within one evaluation, or several of one thread.
pub trait ListView: fmt::Debug {
    /// The number of elements.
    fn len(&self) -> usize;

    /// Whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The Go type of the value, which some messages name.
    fn go_type(&self) -> &'static str {
        "*types.baseList"
    }

    /// The element at `index`, or `None` past the end.
    fn get(&self, index: usize) -> Option<Value<'_>>;

    /// Whether `optional.ofNonZeroValue` takes the list for nothing. Upstream's views of documents never are.
    fn is_zero(&self) -> bool {
        self.is_empty()
    }

    /// Whether the list on the right of an `==` is the same, where that is not for the elements alone to say.
    fn equals(
        &self,
        _other: &Value<'_>,
        _reach: &mut Reach<'_>,
    ) -> Option<Result<bool, EvalError>> {
        None
    }

    /// Whether a value is an element, where that is not for the value to say.
    fn contains(&self, _value: &Value<'_>, _work: &Work<'_>) -> Option<Result<bool, EvalError>> {
        None
    }

    /// The list with another one appended by `+`, where that is more than the elements of both.
    fn concat<'a>(
        &'a self,
        _other: List<'a>,
        _arena: &'a Arena,
        _work: &Work<'_>,
    ) -> Option<Result<Value<'a>, EvalError>> {
        None
    }

    /// What an optional holds in place of the list after a variable or a conditional that is the optional was read:
    /// Kubernetes takes the list out and makes another one of what is inside. None where that is the same.
    fn native<'a>(&'a self, _arena: &'a Arena) -> Option<Value<'a>> {
        None
    }
}

/// A map or object of a host, read key by key. A view lives within one evaluation, or several of one thread, so that what it
/// computes may be kept in their arena.
pub trait MapView: fmt::Debug {
    /// The name that `type(x)` gives.
    fn type_name(&self) -> &str {
        "map"
    }

    /// The number of entries.
    fn len(&self) -> usize;

    /// Whether there are no entries.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether `optional.ofNonZeroValue` takes the map for nothing. Upstream's views of documents never are.
    fn is_zero(&self) -> bool {
        self.is_empty()
    }

    /// The value under exactly this key, or `None` where there is none. A host that computes values may fail.
    fn get(&self, key: &Value<'_>) -> Result<Option<Value<'_>>, EvalError>;

    /// The key at a position from 0, in an order of the host's, or `None` past the end.
    fn key(&self, position: usize) -> Option<Value<'_>>;

    /// Whether the map on the left of `==` equals itself alone, its entries unread, and cannot be compared with values
    /// other than maps of hosts.
    fn equals_only_itself(&self) -> bool {
        false
    }
}

/// A value of a library's own type.
pub trait Opaque: Share + Any + fmt::Debug + Send + Sync {
    /// The name that `type(x)` gives, such as `kubernetes.Quantity`.
    fn type_name(&self) -> &'static str;

    /// The Go type of the value, which some messages name.
    fn go_type(&self) -> Cow<'static, str> {
        let name = self.type_name();
        let last = name.rsplit_once('.').map_or(name, |(_, last)| last);
        Cow::Owned(format!("cel.{last}"))
    }

    /// How the value is told from others as a key of a map.
    fn key(&self) -> OpaqueKey {
        OpaqueKey::Place
    }

    /// Whether `other` is the same value. An error where upstream gives one.
    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError>;

    /// What a field or key leads to, if anything. Most types have no fields.
    fn find(&self, _key: &Value<'_>) -> Result<Option<Value<'_>>, EvalError> {
        Ok(None)
    }

    /// Whether `optional.ofNonZeroValue` takes the value for nothing.
    fn is_zero(&self) -> bool {
        false
    }

    /// What an optional holds in place of the value after a variable or a conditional that is the optional was read:
    /// Kubernetes takes the value out and cannot make it again of what is inside. None where it can.
    fn native_error(&self) -> Option<EvalError> {
        None
    }

    /// The failure that the value stands for (see [`HeldError`]).
    fn held_error(&self) -> Option<&EvalError> {
        None
    }

    /// The size by which calls with this value are charged, where the type has one.
    fn size(&self) -> Option<u64> {
        None
    }

    /// The value as text, where messages print it.
    fn to_text<'a>(&self, arena: &'a Arena) -> &'a str;
}

/// How a library's value is told from others of its type as a key of a map.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum OpaqueKey {
    /// By its place in memory: no other value is the same key.
    Place,
    /// By what it holds.
    Value(SmallVec<[u8; 24]>),
    /// Not at all: it cannot be a key.
    Unhashable,
}

/// A failure that an optional, list or map holds as if it were a value. Whoever reads it fails.
#[derive(Debug, Clone)]
pub struct HeldError(pub EvalError);

impl Opaque for HeldError {
    fn type_name(&self) -> &'static str {
        "error"
    }

    fn go_type(&self) -> Cow<'static, str> {
        Cow::Borrowed("*types.Err")
    }

    fn equals(&self, _: &Value<'_>) -> Result<bool, EvalError> {
        Err(self.0.clone())
    }

    fn native_error(&self) -> Option<EvalError> {
        Some(EvalError::unsupported_conversion(
            "*errors.errorString",
            self.0.message(),
        ))
    }

    fn held_error(&self) -> Option<&EvalError> {
        Some(&self.0)
    }

    fn to_text<'a>(&self, arena: &'a Arena) -> &'a str {
        arena.bump().alloc_str(self.0.message())
    }
}

/// What each [`Opaque`] that can be cloned is: kept beyond an evaluation.
pub trait Share {
    /// A copy that borrows from nothing.
    fn share(&self) -> Arc<dyn Opaque>;
}

impl<T: Opaque + Clone> Share for T {
    fn share(&self) -> Arc<dyn Opaque> {
        Arc::new(self.clone())
    }
}

impl dyn Opaque {
    /// The value as the library's own Rust type.
    pub fn downcast_ref<T: Opaque>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}
