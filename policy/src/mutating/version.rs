//! The objects of a request, converted to the kinds that policies match.

use std::rc::Rc;

use gavel_engine::value::{Json, Value};

use super::schemas::ObjectSchemas;
use crate::dispatch::{Dispatch, Objects};
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
    /// Whether a match condition has read the objects. From then on, API servers read objects of built-in kinds as Go structs.
    had_conditions: bool,
    /// Whether the API server reads the object and the old object as Go structs; `None` until an expression reads them.
    are_structs: [Option<bool>; 2],
}

/// An object after a mutation.
#[derive(Debug, Default)]
pub(super) struct MutatedObject {
    /// The object.
    pub(super) object: Json,
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
        [object, old_object]: Objects<'a>,
        kind: &'a GroupVersionKind,
        nil_lists: &[String],
    ) -> Self {
        ObjectsOfKind {
            kind,
            object: Current::Sent(object),
            old_object,
            nil_lists: nil_lists.to_vec(),
            had_conditions: false,
            are_structs: [None; 2],
        }
    }

    /// Records that an expression reads the objects. An API server keeps its CEL values of the objects until a mutation replaces the object.
    pub(super) fn read(&mut self, is_condition: bool) {
        self.had_conditions |= is_condition;
        for each in &mut self.are_structs {
            each.get_or_insert(self.had_conditions);
        }
    }

    /// Whether API servers read the object and the old object as Go structs if their kind is built in.
    pub(super) fn are_structs(&self) -> [bool; 2] {
        self.are_structs.map(|known| known == Some(true))
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
        let [of_object, _] = &mut self.are_structs;
        *of_object = None;
        Ok(())
    }

    /// The mutated object, converted to the kind of the object that was sent; `None` if no mutation was applied.
    pub(super) fn into_mutated(
        self,
        dispatch: &Dispatch<'_>,
        schemas: &ObjectSchemas,
    ) -> Result<Option<MutatedObject>, String> {
        let Current::Mutated(object) = self.object else {
            return Ok(None);
        };
        let mut object = Rc::unwrap_or_clone(object);
        let request = dispatch.request();
        if *self.kind != request.kind
            && let Some(object) = dispatch.convert((&object).into(), &request.kind)?
        {
            return Ok(Some(MutatedObject {
                object,
                nil_lists: Vec::new(),
            }));
        }
        let [version, kind] = ["apiVersion", "kind"].map(|key| text_field(request.object, key));
        schemas.convert_back(&mut object, &GroupVersionKind::new(version, kind))?;
        Ok(Some(MutatedObject {
            object,
            nil_lists: self.nil_lists,
        }))
    }
}
