//! What was found of an object or a definition.

use gavel_apimachinery::field::Error;
use gavel_crd::definition::written_field;
use gavel_manifest::{Document, Problem};

use crate::args::FieldValidation;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Checked {
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

impl Checked {
    pub(super) fn is_valid(&self) -> bool {
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
pub(super) fn field_problem(document: &Document, error: &Error) -> Problem {
    let written = written_field(quoted_field(error).unwrap_or(&error.field));
    document.field_problem(error, &written)
}

/// The field at fault where upstream names it in the detail alone, as it does where one of several schemas must hold.
fn quoted_field(error: &Error) -> Option<&str> {
    let (field, _) = error.detail.strip_prefix('"')?.split_once('"')?;
    (error.field == "<nil>").then_some(field)
}
