//! How hosts bring lists and maps of their own, which are read lazily.

use std::fmt;

use gavel_golang::work::Work;

use super::{Arena, Reach, Value};
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

    /// The list with another list appended by `+`, where that is more than the elements of both.
    fn concat<'a>(
        &'a self,
        _other: Value<'a>,
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

    /// The value beside a key that [`key`](MapView::key) gave.
    fn value_of(&self, key: &Value<'_>) -> Result<Value<'_>, EvalError> {
        Ok(self.get(key)?.unwrap_or(Value::NULL))
    }

    /// Whether the map is one of Kubernetes' lazy maps: on the left of `==` it equals itself alone, its entries unread, and
    /// cannot be compared with values other than lazy maps; it has no size, and nothing is `in` it.
    fn is_lazy(&self) -> bool {
        false
    }
}
