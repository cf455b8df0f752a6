//! Lists and maps that hosts provide, which are read lazily.

use std::fmt;

use gavel_golang::work::Work;

use super::{Arena, Reach, Value};
use crate::error::EvalError;

/// A list provided by a host, read element by element. A view is used by one evaluation, or by several on one thread.
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

    /// Whether the list is zero for `optional.ofNonZeroValue`. Upstream's views of documents are never zero.
    fn is_zero(&self) -> bool {
        self.is_empty()
    }

    /// The result of `==` with the list on the left, for hosts with their own comparison; `None` to compare element by element.
    fn equals(
        &self,
        _other: &Value<'_>,
        _reach: &mut Reach<'_>,
    ) -> Option<Result<bool, EvalError>> {
        None
    }

    /// Whether a value is in the list, for hosts with their own comparison; `None` to compare element by element.
    fn contains(&self, _value: &Value<'_>, _work: &Work<'_>) -> Option<Result<bool, EvalError>> {
        None
    }

    /// The result of `+` with this list on the left, for hosts that join lists in their own way; `None` to append the elements of the other
    /// list.
    fn concat<'a>(
        &'a self,
        _other: Value<'a>,
        _arena: &'a Arena,
        _work: &Work<'_>,
    ) -> Option<Result<Value<'a>, EvalError>> {
        None
    }

    /// The value that replaces the list in an optional that was read from a variable or was the result of a conditional; `None` if the list
    /// stays the same. Kubernetes unwraps such a list and converts its content.
    fn native<'a>(&'a self, _arena: &'a Arena) -> Option<Value<'a>> {
        None
    }
}

/// A map or object provided by a host, read key by key. A view is used by one evaluation, or by several on one thread, so it may keep
/// computed values in the arena of these evaluations.
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

    /// Whether the map is zero for `optional.ofNonZeroValue`. Upstream's views of documents are never zero.
    fn is_zero(&self) -> bool {
        self.is_empty()
    }

    /// The value of exactly this key, or `None` if it is absent. Fails if the host cannot compute the value.
    ///
    /// # Errors
    ///
    /// The host cannot compute the value.
    fn get(&self, key: &Value<'_>) -> Result<Option<Value<'_>>, EvalError>;

    /// The key at a position from 0, in an order that the host chooses, or `None` past the end.
    fn key(&self, position: usize) -> Option<Value<'_>>;

    /// The value of a key that [`key`](MapView::key) returned.
    ///
    /// # Errors
    ///
    /// The errors of [`get`](MapView::get); an implementation may also fail for an absent key.
    fn value_of(&self, key: &Value<'_>) -> Result<Value<'_>, EvalError> {
        Ok(self.get(key)?.unwrap_or(Value::NULL))
    }

    /// Whether the map is one of Kubernetes' lazy maps. On the left of `==`, a lazy map equals only itself: its entries are not read, and
    /// comparing it with a value that is not a lazy map fails. A lazy map has no size, and `in` fails.
    fn is_lazy(&self) -> bool {
        false
    }
}
