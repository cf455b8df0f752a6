//! The CEL type `kubernetes.URL`.

use std::borrow::Cow;

use gavel_engine::error::EvalError;
use gavel_engine::value::{Arena, Opaque, Value};
use gavel_golang::url::Url;

/// The name of the type.
pub const URL: &str = "kubernetes.URL";

/// A URL as a value.
#[derive(Debug, Clone)]
pub struct UrlValue(pub Url);

impl Opaque for UrlValue {
    fn type_name(&self) -> &'static str {
        URL
    }

    fn wrapped_go_type(&self) -> Option<&'static str> {
        Some("*url.URL")
    }

    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        let other = other.as_opaque::<UrlValue>();
        let equal = other.map(|other| self.0.as_str() == other.0.as_str());
        equal.ok_or_else(EvalError::no_such_overload)
    }

    fn twin<'a>(&self, arena: &'a Arena) -> Option<Value<'a>> {
        Some(arena.opaque(self.clone()))
    }

    fn bytes(&self) -> usize {
        self.0.as_str().len()
    }

    fn to_text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0.as_str())
    }
}
