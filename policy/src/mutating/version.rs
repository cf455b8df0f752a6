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
        }
    }

    /// Converts the object that a mutation of the request returned to the Go type of its kind, sets its defaults and stores it.
    pub(super) fn set(
        &mut self,
        mut mutated: MutatedObject,
        request: &AdmissionRequest<'_>,
        schemas: &ObjectSchemas,
    ) -> Result<(), String> {
        schemas.convert(&mut mutated.object, request)?;
        let filled = schemas.fill_defaults(&mut mutated.object);
        filled.map_err(|error| error.to_string())?;
        self.nil_lists = mutated.nil_lists;
        self.object = Current::Mutated(Rc::new(mutated.object));
        Ok(())
    }

    /// The mutated object, converted to the kind of the object that was sent; `None` if no mutation was applied.
    pub(super) fn into_mutated(
        self,
        sent: Value<'_>,
        schemas: &ObjectSchemas,
    ) -> Result<Option<MutatedObject>, String> {
        let Current::Mutated(object) = self.object else {
            return Ok(None);
        };
        let mut object = Rc::unwrap_or_clone(object);
        let [version, kind] = ["apiVersion", "kind"].map(|key| text_field(sent, key));
        schemas.convert_back(&mut object, &GroupVersionKind::new(version, kind))?;
        Ok(Some(MutatedObject {
            object,
            nil_lists: self.nil_lists,
        }))
    }
}
