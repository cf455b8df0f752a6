//! Labels and label selectors (apimachinery `pkg/labels`, `pkg/apis/meta/v1`).

mod selector;
mod validate;

pub use selector::{LabelSelector, LabelSelectorRequirement, Selector};
