//! Answers: one JSON object per line.

use std::fmt::Display;

use serde::Serialize;

use gavel_engine::cost::CostEstimate;
use gavel_engine::types::Type;
use gavel_engine::value::Json;

use crate::authorizer::Attributes;
use crate::request::RequestError;
use crate::value::TypedValue;

/// The answer to an `eval` request. Keys that do not apply are absent.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer<'a> {
    /// The request's `id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<&'a Json>,
    /// Whether there was no error.
    pub ok: bool,
    /// The static type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
    /// The static type as messages print it, if that differs from `type`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_formatted: Option<String>,
    /// The static cost, in cost units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Range>,
    /// The value of the expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<TypedValue<'a>>,
    /// The cost of the evaluation, in cost units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<u64>,
    /// The error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Problem>,
    /// The requests to the authorizers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub authorizer_calls: Vec<Attributes>,
}

/// The minimum and the maximum cost.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Range {
    min: u64,
    max: u64,
}

/// An error, and the phase that found it.
#[derive(Debug, Clone, Serialize)]
pub struct Problem {
    /// The phase: `request`, `parse`, `check`, `program`, `eval` or `cost`.
    pub phase: &'static str,
    /// The text of the error.
    pub message: String,
}

impl<'a> Answer<'a> {
    /// The answer to a request that cannot be understood.
    pub(crate) fn misunderstood(id: &'a Json, error: &RequestError) -> Self {
        Answer {
            id: Some(id),
            ..Answer::invalid(error)
        }
    }

    /// The answer to an invalid request, without an `id`.
    pub fn invalid(error: &impl Display) -> Self {
        Answer {
            error: Some(Problem {
                phase: "request",
                message: error.to_string(),
            }),
            ..Answer::default()
        }
    }

    /// Adds a static type.
    pub(crate) fn with_type(self, ty: &Type) -> Self {
        let (full, short) = (ty.to_string(), ty.in_message().to_string());
        Answer {
            type_formatted: (full != short).then_some(short),
            ty: Some(full),
            ..self
        }
    }
}

impl From<CostEstimate> for Range {
    fn from(cost: CostEstimate) -> Self {
        Range {
            min: cost.min,
            max: cost.max,
        }
    }
}
