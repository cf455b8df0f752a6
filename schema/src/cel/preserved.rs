//! Values without a known type.

use std::borrow::Cow;
use std::sync::Arc;

use gavel_apimachinery::json::go_text;
use gavel_engine::error::EvalError;
use gavel_engine::value::{Json, Opaque, Value, ValueKind};

use crate::equal::{Numeric, deep_equal};

/// A value without a known type, which expressions can only compare.
#[derive(Debug, Clone)]
pub(super) struct Preserved {
    pub(super) json: Arc<Json>,
    /// The memory of the JSON, in bytes.
    pub(super) bytes: usize,
}

impl Opaque for Preserved {
    fn type_name(&self) -> &'static str {
        "unknown"
    }

    fn go_type(&self) -> Cow<'static, str> {
        Cow::Borrowed("*common.unknownPreserved")
    }

    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        if let Some((other, _)) = other.as_json_object() {
            let Json::Object(fields) = &*self.json else {
                return Ok(false);
            };
            return Ok(fields.len() == other.len()
                && fields.iter().all(|(name, field)| {
                    other
                        .get(name)
                        .is_some_and(|other| deep_equal(field, other))
                }));
        }
        if let Some((other, _)) = other.as_json_array() {
            return Ok(self.equals_list(other));
        }
        Ok(match other.kind() {
            ValueKind::Opaque(other) => other
                .downcast_ref::<Preserved>()
                .is_some_and(|other| deep_equal(&self.json, &other.json)),
            ValueKind::Bool(other) => *self.json == Json::Bool(other),
            ValueKind::String(other) => self.json.as_str() == Some(other),
            ValueKind::Int(other) => self.numeric() == Some(Numeric::Int(other)),
            ValueKind::Double(other) => self.numeric() == Some(Numeric::Double(other)),
            _ => false,
        })
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn to_text(&self) -> Cow<'_, str> {
        Cow::Owned(go_text(&self.json))
    }
}

impl Preserved {
    fn numeric(&self) -> Option<Numeric> {
        match &*self.json {
            Json::Number(number) => Some(Numeric::from(number)),
            _ => None,
        }
    }

    fn equals_list(&self, other: &[Json]) -> bool {
        let Json::Array(items) = &*self.json else {
            return false;
        };
        items.len() == other.len()
            && items
                .iter()
                .zip(other)
                .all(|(item, other)| deep_equal(item, other))
    }
}
