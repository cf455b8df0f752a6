//! The results of validating an object or a CustomResourceDefinition.

use std::collections::BTreeMap;

use gavel_apimachinery::field::Error;
use gavel_crd::definition::field_at_fault;
use gavel_engine::value::Json;
use gavel_manifest::{Document, Problem};
use gavel_policy::api::FieldValidation;

use super::rules::Outcomes;

/// The problems and warnings found when an object or a CustomResourceDefinition is validated.
#[derive(Debug, Default)]
pub struct Checked {
    /// The problems.
    pub problems: Vec<Problem>,
    /// Messages that do not make the object invalid.
    pub warnings: Vec<Problem>,
    /// The outcomes of the definition's rules, by the path of the rule's expression in the definition; empty unless they were
    /// [recorded](super::Taken::records_rules).
    pub rules: BTreeMap<String, Outcomes>,
    /// The object as it was validated: pruned, with defaults, and without changes of fields that the request cannot change, such as the
    /// status; `None` for a definition, and for an object that cannot be read.
    pub object: Option<Json>,
}

impl Checked {
    /// Whether there are no problems.
    pub fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    /// Adds the problems of strict decoding (unknown and duplicate fields): as errors, as warnings, or not at all, as `strictness` says.
    pub(super) fn add_strict(
        &mut self,
        strict: impl IntoIterator<Item = Problem>,
        strictness: FieldValidation,
    ) {
        let strict = strict.into_iter();
        match strictness {
            FieldValidation::Strict => self.problems.extend(strict),
            FieldValidation::Warn => self.warnings.extend(strict.map(Problem::as_warning)),
            FieldValidation::Ignore => {}
        }
    }
}

/// The problem of a field in an object or a definition.
pub(crate) fn field_problem(document: &Document, error: &Error) -> Problem {
    document.field_problem(error, &field_at_fault(error))
}
