//! The metadata that selectors and messages read (apimachinery `pkg/apis/meta/v1/unstructured`).

use std::cell::OnceCell;

use gavel_engine::value::{Map, Value};

use super::AdmissionRequest;
use crate::fields::{field, text_field};

/// The labels of a request's objects, which are read once for all policies.
#[derive(Debug, Default)]
pub(crate) struct RequestLabels<'a> {
    object: OnceCell<CheckedLabels<'a>>,
    old_object: OnceCell<CheckedLabels<'a>>,
}

/// The labels of an object. If the value of any label is not a string, all labels are ignored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CheckedLabels<'a>(Option<Map<'a>>);

impl<'a> RequestLabels<'a> {
    /// The labels of the request's object.
    pub(crate) fn of_object(&self, request: &AdmissionRequest<'a>) -> CheckedLabels<'a> {
        *self
            .object
            .get_or_init(|| CheckedLabels::of(request.object))
    }

    /// The labels of the request's old object.
    pub(crate) fn of_old_object(&self, request: &AdmissionRequest<'a>) -> CheckedLabels<'a> {
        *self
            .old_object
            .get_or_init(|| CheckedLabels::of(request.old_object))
    }
}

impl<'a> CheckedLabels<'a> {
    fn of(object: Value<'a>) -> Self {
        let labels = metadata(object).and_then(|metadata| field(metadata, "labels")?.as_map());
        CheckedLabels(labels.filter(|labels| {
            let mut labels = labels.iter();
            labels.all(|label| label.is_ok_and(|(_, value)| value.as_str().is_some()))
        }))
    }

    /// The value of a label, if present.
    pub(crate) fn get(self, key: &str) -> Option<&'a str> {
        self.0?.get_str(key).ok()??.as_str()
    }
}

/// A string field of an object's metadata; empty if the field is absent or not a string.
pub(crate) fn text_of<'a>(object: Value<'a>, name: &str) -> &'a str {
    metadata(object).map_or("", |metadata| text_field(metadata, name))
}

/// The object's name for messages: `name`, else `generateName`, else `Unknown`.
pub(crate) fn object_name(object: Value<'_>) -> &str {
    let names = [text_of(object, "name"), text_of(object, "generateName")];
    let name = names.into_iter().find(|name| !name.is_empty());
    name.unwrap_or("Unknown")
}

fn metadata(object: Value<'_>) -> Option<Value<'_>> {
    field(object, "metadata")
}
