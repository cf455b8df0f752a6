//! Types that libraries define.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;

use super::{Arena, Repr, Value};
use crate::error::EvalError;

/// A value of a library's own type.
pub trait Opaque: Share + Any + fmt::Debug + Send + Sync {
    /// The name of the type, as `type(x)` returns it, such as `kubernetes.Quantity`.
    fn type_name(&self) -> &'static str;

    /// The name of the value's Go type. Some messages contain it.
    fn go_type(&self) -> Cow<'static, str> {
        let name = self.type_name();
        let last = name.rsplit_once('.').map_or(name, |(_, last)| last);
        Cow::Owned(format!("cel.{last}"))
    }

    /// The identity of the value as a map key.
    fn key(&self) -> OpaqueKey {
        OpaqueKey::Place
    }

    /// Whether `self == other`.
    ///
    /// # Errors
    ///
    /// The values cannot be compared. Upstream's comparison then fails too.
    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError>;

    /// The value of a field or key; `None` if it is absent. Most types have no fields.
    ///
    /// # Errors
    ///
    /// The field or key cannot be read.
    fn find(&self, _key: &Value<'_>) -> Result<Option<Value<'_>>, EvalError> {
        Ok(None)
    }

    /// A copy of the value, for types whose values an expression can distinguish from their copies: by identity as a map key, or because a
    /// function changes them. `None` for all other types. A call that reuses a parsed value returns such a copy.
    fn twin<'a>(&self, _arena: &'a Arena) -> Option<Value<'a>> {
        None
    }

    /// Whether a call with the value as an operand may change the call's first operand. It matters for calls that otherwise only read their
    /// operands ([`Reads::Later`](crate::decl::Reads::Later)).
    fn may_change_operands(&self) -> bool {
        true
    }

    /// Whether the value is zero for `optional.ofNonZeroValue`.
    fn is_zero(&self) -> bool {
        false
    }

    /// The Go type of the value that this value wraps, such as `*url.URL`. Upstream converts a wrapped value to a text. `None` if the value
    /// wraps none.
    fn wrapped_go_type(&self) -> Option<&'static str> {
        None
    }

    /// The error of converting the value to a Go value and back; `None` if the conversion succeeds. Kubernetes converts the value in an
    /// optional that comes from a variable or a conditional. If the conversion fails, the error replaces the value in the optional.
    fn native_error(&self) -> Option<EvalError> {
        let go_type = self.wrapped_go_type()?;
        let text = self.to_text();
        Some(EvalError::unsupported_conversion(go_type, &text))
    }

    /// The name of the type in the errors of conversions: by default, the name of the Go type without its package.
    fn conversion_name(&self) -> Cow<'static, str> {
        let go_type = self.go_type();
        let last = go_type.rsplit('.').next().unwrap_or_default();
        Cow::Owned(last.to_owned())
    }

    /// The error that the value represents (see [`HeldError`]); `None` if it does not represent an error.
    fn held_error(&self) -> Option<&EvalError> {
        None
    }

    /// The size of the value, from which the costs of calls are computed; `None` if the type has no size.
    fn size(&self) -> Option<u64> {
        None
    }

    /// The memory that the value holds on the heap, in bytes. The arena's limit includes this memory. A comparison of the value counts as
    /// work for each of these bytes; other functions that read all of them announce their work themselves.
    fn bytes(&self) -> usize {
        0
    }

    /// The text of the value in messages.
    fn to_text(&self) -> Cow<'_, str>;
}

/// The identity of a library's value as a map key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum OpaqueKey {
    /// The address of the value: a value only equals itself.
    Place,
    /// The content of the value: values with the same content are equal.
    Value(SmallVec<[u8; 24]>),
    /// The value cannot be a key.
    Unhashable,
}

/// An error that an optional, list or map contains in place of a value. Reading the value returns the error.
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

    fn find(&self, _: &Value<'_>) -> Result<Option<Value<'_>>, EvalError> {
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

/// Copies an opaque value so that the copy outlives the evaluation. Every [`Opaque`] that is `Clone` implements this trait.
pub trait Share {
    /// A copy that borrows nothing.
    fn share(&self) -> Arc<dyn Opaque>;
}

impl<T: Opaque + Clone> Share for T {
    fn share(&self) -> Arc<dyn Opaque> {
        Arc::new(self.clone())
    }
}

impl dyn Opaque {
    /// The value as the library's own Rust type; `None` if it has another type.
    pub fn downcast_ref<T: Opaque>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

impl Arena {
    /// A value of a library's own type.
    pub fn opaque<T: Opaque>(&self, value: T) -> Value<'_> {
        Value(Repr::Opaque(self.hold(value, T::bytes)))
    }
}
