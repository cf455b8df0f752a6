//! Lists and maps that hosts provide. Their elements and values are computed when they are read.

use std::fmt;

use gavel_golang::work::Work;

use super::{Arena, Host, Reach, Value};
use crate::error::EvalError;

/// A list provided by a host, read element by element. A view is used by one evaluation, or by several on one thread.
pub trait ListView: fmt::Debug {
    /// The number of elements.
    fn len(&self) -> usize;

    /// Whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of the list's Go type. Some messages contain it.
    fn go_type(&self) -> &'static str {
        "*types.baseList"
    }

    /// The element at `index`, or `None` past the end.
    fn get(&self, index: usize) -> Option<Value<'_>>;

    /// Whether indices must be ints. All other lists also accept uints, and doubles without a fraction.
    fn takes_only_ints(&self) -> bool {
        false
    }

    /// Whether `optional.ofNonZeroValue` treats the list as zero. Views of documents return false, as upstream's do.
    fn is_zero(&self) -> bool {
        self.is_empty()
    }

    /// The result of `list == other`, for hosts with their own comparison. `None` compares element by element.
    fn equals(
        &self,
        _other: &Value<'_>,
        _reach: &mut Reach<'_>,
    ) -> Option<Result<bool, EvalError>> {
        None
    }

    /// The result of `value in list`, for hosts with their own comparison. `None` compares element by element.
    fn contains(&self, _value: &Value<'_>, _host: &Host<'_>) -> Option<Result<bool, EvalError>> {
        None
    }

    /// The result of `list + other`, for hosts with their own concatenation. `None` appends the elements of the other list.
    fn concat<'a>(
        &'a self,
        _other: Value<'a>,
        _arena: &'a Arena,
        _work: &Work<'_>,
    ) -> Option<Result<Value<'a>, EvalError>> {
        None
    }

    /// The value that replaces the list when the list is taken out of an optional; `None` if the list stays the same. Kubernetes converts
    /// the value in an optional if the optional is the value of a variable or a conditional.
    fn native<'a>(&'a self, _arena: &'a Arena) -> Option<Value<'a>> {
        None
    }
}

/// A map or object provided by a host, read key by key. A view is used by one evaluation, or by several evaluations on one thread. It may
/// therefore cache computed values in the arena of these evaluations.
pub trait MapView: fmt::Debug {
    /// The name of the type, as `type(x)` returns it.
    fn type_name(&self) -> &str {
        "map"
    }

    /// The number of entries.
    fn len(&self) -> usize;

    /// Whether there are no entries.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether `optional.ofNonZeroValue` treats the map as zero. Views of documents return false, as upstream's do.
    fn is_zero(&self) -> bool {
        self.is_empty()
    }

    /// The value of a key; `None` if the key is absent.
    ///
    /// # Errors
    ///
    /// The host cannot compute the value.
    fn get(&self, key: &Value<'_>) -> Result<Option<Value<'_>>, EvalError>;

    /// The key at a position; `None` past the end. Positions count from 0, in an order that the host chooses.
    fn key(&self, position: usize) -> Option<Value<'_>>;

    /// The value of a key that [`key`](MapView::key) returned.
    ///
    /// # Errors
    ///
    /// The errors of [`get`](MapView::get); an implementation may also fail for an absent key.
    fn value_of(&self, key: &Value<'_>) -> Result<Value<'_>, EvalError> {
        Ok(self.get(key)?.unwrap_or(Value::NULL))
    }

    /// Whether the map is one of Kubernetes' lazy maps. On the left of `==`, a lazy map only equals itself; its entries are not read.
    /// Comparing it with a value that is not a lazy map fails. `size` and `in` also fail for a lazy map.
    fn is_lazy(&self) -> bool {
        false
    }
}
