//! What was found of an object or a definition.

use gavel_apimachinery::field::Error;
use gavel_crd::definition::field_at_fault;
use gavel_manifest::{Document, Problem};
use gavel_policy::api::FieldValidation;

/// What was found.
#[derive(Debug, Default)]
pub struct Checked {
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// What is told, and nothing comes of it.
    pub warnings: Vec<Problem>,
}

impl Checked {
    /// Whether nothing is wrong.
    pub fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    /// Puts problems that only strict readers mind where they belong.
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

/// What is wrong with a field of an object or a definition.
pub(crate) fn field_problem(document: &Document, error: &Error) -> Problem {
    document.field_problem(error, &field_at_fault(error))
}
