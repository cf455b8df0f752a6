//! The conditions within expressions, and their outcomes.

use crate::parts::{Part, parts};

/// A condition within an expression, such as an operand of `&&` or the body of `all`, and its outcomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The path of the expression's field in the policy or definition.
    pub field: String,
    /// The position of the condition among the parts of the expression.
    pub position: usize,
    /// The text of the condition.
    pub text: String,
    /// Whether an evaluation reached the condition and it was true; in the body of a macro, for any element.
    pub was_true: bool,
    /// Like `was_true`, for false.
    pub was_false: bool,
}

impl Condition {
    /// The conditions within the expression of a field, without outcomes, each with the two expressions that tell its
    /// [outcomes](Part::outcomes). The whole expression, constants and names are left out.
    pub(crate) fn within<'e>(
        field: &'e str,
        expression: &str,
    ) -> impl Iterator<Item = (Condition, [String; 2])> + use<'e> {
        // The first part is the whole expression.
        let parts = parts(expression).into_iter().enumerate().skip(1);
        parts.filter_map(move |(position, part)| {
            let Part { text, outcomes, .. } = part;
            let outcomes = outcomes.filter(|_| part.is_informative)?;
            let condition = Condition {
                field: field.to_owned(),
                position,
                text,
                was_true: false,
                was_false: false,
            };
            Some((condition, outcomes))
        })
    }
}
