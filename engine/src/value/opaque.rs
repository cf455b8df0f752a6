//! How libraries bring types of their own.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::Value;
use crate::error::EvalError;

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

    /// The error that replaces the value in an optional once the optional was read from a variable or came from a conditional:
    /// Kubernetes unwraps the value there and cannot convert it back. `None` if it can.
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
    fn to_text(&self) -> Cow<'_, str>;
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

    fn to_text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.message())
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
