//! The validation of a test's custom resource by its definition.

use gavel_apimachinery::status::Status;
use gavel_engine::value::Json;
use gavel_manifest::{Document, Problem};
use gavel_policy::api::FieldValidation;

use crate::custom::{self, Checked, Key, KnownDefinitions, Taken};

/// The result of validating a custom resource by its definition.
#[derive(Debug, Default)]
pub struct Validated {
    /// The name of the definition.
    pub definition: String,
    /// The problems and warnings, and the outcomes of the rules.
    pub checked: Checked,
    /// The message of an API server for each problem.
    pub messages: Vec<String>,
    /// The status with which an API server rejects the object; `None` if the object is valid.
    pub status: Option<Status>,
    /// The object as an API server stores it, and as validating policies see it; `None` if it cannot be read.
    pub(super) prepared: Option<Json>,
}

impl Validated {
    /// Validates the object that a request writes; `object` is the object after mutation. `None` if nothing is written, or if there is no
    /// definition of the object's kind.
    pub(super) fn of(
        request: &Json,
        object: &Json,
        definitions: &KnownDefinitions,
    ) -> Option<Self> {
        let text = |key: &str| request.get(key).and_then(Json::as_str).unwrap_or_default();
        let (operation, subresource) = (text("operation"), text("subResource"));
        if !matches!(operation, "CREATE" | "UPDATE") || !matches!(subresource, "" | "status") {
            return None;
        }
        let key = Key::of(object).ok()?;
        let definition = definitions.find(&key)?;
        let old = request.get("oldObject").filter(|old| old.is_object());
        let old = old.cloned().map(Document::from);
        let taken = Taken {
            namespace: text("namespace"),
            // Fields that the definition does not have are reported when the test is read.
            strictness: FieldValidation::Ignore,
            is_status: subresource == "status",
            records_rules: true,
        };
        let document = Document::from(object.clone());
        let mut checked = custom::check(&document, old.as_ref(), &key, definition, taken);
        let mut prepared = checked.object.take();
        // Without the fields that an API server sets, such as the generation, which are also unknown in the old object. An update of the
        // status keeps the old metadata.
        let metadata = match (taken.is_status, &old) {
            (true, Some(old)) => old.value().get("metadata"),
            _ => object.get("metadata"),
        };
        if let (Some(Json::Object(fields)), Some(metadata)) = (&mut prepared, metadata) {
            fields.insert("metadata".to_owned(), metadata.clone());
        }
        Some(Validated {
            prepared,
            definition: definition.name.clone(),
            messages: checked.messages(object, &key),
            status: (!checked.is_valid()).then(|| checked.status(object, &key)),
            checked,
        })
    }

    /// The object that validating policies see, or the status with which an API server rejects the object.
    pub(super) fn result(&self) -> Result<Option<Json>, Box<Status>> {
        match &self.status {
            Some(status) => Err(Box::new(status.clone())),
            None => Ok(self.prepared.clone()),
        }
    }

    /// Whether the object is invalid only because rules could not be evaluated.
    pub(super) fn fails(&self) -> bool {
        let failed = self.checked.rules.values().map(|rule| rule.failed);
        let failed = failed.fold(0_usize, usize::saturating_add);
        failed > 0 && failed == self.checked.problems.len()
    }

    /// The warnings for the client.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        self.checked.warnings.iter().map(Problem::text)
    }
}
