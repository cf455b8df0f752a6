//! What is wrong with an object.

use gavel_apimachinery::field::Error;
use gavel_crd::definition::written_field;
use gavel_manifest::{Document, Place, Problem};

use crate::args::FieldValidation;

/// One thing that is wrong.
#[derive(Debug)]
pub(super) enum Fault {
    /// With a field.
    Field(Error),
    /// A field that the definition does not know.
    Unknown(String),
    /// A key that comes twice.
    Twice(Problem),
    /// With the object as a whole.
    Object(String),
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Checked {
    pub(super) faults: Vec<Fault>,
    pub(super) warnings: Vec<Fault>,
}

impl Checked {
    pub(super) fn is_valid(&self) -> bool {
        self.faults.is_empty()
    }

    /// Adds what only strict readers mind.
    pub(super) fn add_strict(
        &mut self,
        faults: impl IntoIterator<Item = Fault>,
        validation: FieldValidation,
    ) {
        match validation {
            FieldValidation::Strict => self.faults.extend(faults),
            FieldValidation::Warn => self.warnings.extend(faults),
            FieldValidation::Ignore => {}
        }
    }
}

impl Fault {
    /// Where it is.
    pub(super) fn place(&self, document: &Document) -> Place {
        match self {
            Fault::Field(error) => {
                let field = written_field(quoted_field(error).unwrap_or(&error.field));
                // An object may be told of expressions that are in its definition.
                match error.detail.starts_with("compilation failed") {
                    true => document.place_of_problem(&field, &error.detail),
                    false => document.place_of(&field),
                }
            }
            Fault::Unknown(field) => document.place_of(field),
            Fault::Twice(problem) => problem.place(),
            Fault::Object(_) => document.place(),
        }
    }

    /// What is wrong, in one line.
    pub(super) fn line(&self) -> String {
        let text = match self {
            Fault::Field(error) => error.to_string(),
            Fault::Unknown(field) => format!("unknown field \"{field}\""),
            Fault::Twice(problem) => problem.message().to_owned(),
            Fault::Object(message) => message.clone(),
        };
        text.trim_end().replace('\n', "\n    ")
    }
}

/// The field at fault where upstream names it in the detail alone, as it does where one of several schemas must hold.
fn quoted_field(error: &Error) -> Option<&str> {
    let (field, _) = error.detail.strip_prefix('"')?.split_once('"')?;
    (error.field == "<nil>").then_some(field)
}
