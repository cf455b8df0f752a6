//! Selectors as text (apimachinery `pkg/fields` and `pkg/labels`), with upstream's messages.

mod field;
mod label;
mod lexer;

pub use field::{FieldRequirement, parse_field_selector};
pub use label::{LabelOperator, LabelRequirement, parse_label_selector};

/// Why a text is not a selector, in Kubernetes' words.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{0}")]
pub struct SelectorError(pub String);
