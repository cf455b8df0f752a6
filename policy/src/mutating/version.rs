//! The objects of a request, converted to the kinds that policies match.

use std::rc::Rc;

use gavel_engine::value::{Arena, Json, Value};

use super::patch::MutatedObject;
use super::schemas::ObjectSchemas;
use crate::dispatch::as_kind;
use crate::fields::text_field;
use crate::request::AdmissionRequest;
use crate::resource::GroupVersionKind;

/// The object and the old object of a request, converted to one kind.
pub(super) struct ObjectsOfKind<'a> {
    pub(super) kind: &'a GroupVersionKind,
    pub(super) object: Current<'a>,
    pub(super) old_object: Value<'a>,
    /// The JSON pointers of empty lists that Go writes as null.
    pub(super) nil_lists: Vec<String>,
    /// Whether a mutation was applied, even if it changed nothing.
    pub(super) is_mutated: bool,
}

/// The object that the next mutation reads: the object of the request, or the result of the earlier mutations.
#[derive(Debug, Clone)]
pub(super) enum Current<'a> {
    Sent(Value<'a>),
    Mutated(Rc<Json>),
}

impl Current<'_> {
    pub(super) fn value(&self) -> Value<'_> {
        match self {
            Current::Sent(value) => *value,
            Current::Mutated(object) => Value::from(&**object),
        }
    }
}

impl<'a> ObjectsOfKind<'a> {
    /// The objects of the request, converted to `kind`. `nil_lists` are JSON pointers to the empty lists that Go writes as null.
    pub(super) fn sent(
        request: &AdmissionRequest<'a>,
        kind: &'a GroupVersionKind,
        nil_lists: &[String],
        arena: &'a Arena,
    ) -> Self {
        ObjectsOfKind {
            kind,
            object: Current::Sent(as_kind(request.object, kind, arena)),
            old_object: as_kind(request.old_object, kind, arena),
            nil_lists: nil_lists.to_vec(),
            is_mutated: false,
        }
    }

    /// Converts the object that a mutation of the request returned to the Go type of its kind, sets its defaults and stores it. With `None`,
    /// the object stays unchanged, but counts as mutated.
    pub(super) fn set(
        &mut self,
        mutated: Option<MutatedObject>,
        request: &AdmissionRequest<'_>,
        schemas: &ObjectSchemas,
    ) -> Result<(), String> {
        if let Some(mut mutated) = mutated {
            schemas.convert(&mut mutated.object, request)?;
            let filled = schemas.fill_defaults(&mut mutated.object);
            filled.map_err(|error| error.to_string())?;
            self.nil_lists = mutated.nil_lists;
            self.object = Current::Mutated(Rc::new(mutated.object));
        }
        self.is_mutated = true;
        Ok(())
    }

    /// The mutated object, converted to the kind of the object that was sent; `None` if no mutation was applied.
    pub(super) fn into_mutated(
        self,
        sent: Value<'_>,
        schemas: &ObjectSchemas,
    ) -> Result<Option<MutatedObject>, String> {
        if !self.is_mutated || self.object.value().is_null() {
            return Ok(None);
        }
        let object = match self.object {
            Current::Sent(value) => value.to_json(),
            Current::Mutated(object) => Some(Rc::unwrap_or_clone(object)),
        };
        let Some(mut object) = object else {
            return Ok(None);
        };
        let [version, kind] = ["apiVersion", "kind"].map(|key| text_field(sent, key));
        schemas.convert_back(&mut object, &GroupVersionKind::new(version, kind))?;
        Ok(Some(MutatedObject {
            object,
            nil_lists: self.nil_lists,
        }))
    }
}
