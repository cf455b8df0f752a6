//! Applies one mutation to an object (apiserver `pkg/admission/plugin/policy/mutating/patch`).

use gavel_apimachinery::json::with_whole_numbers;
use gavel_apimachinery::status::Status;
use gavel_engine::value::{Json, Reach, Value, ValueKind};
use gavel_golang::work::{Interrupted, Work};
use gavel_schema::merge::{self, Plain};

use super::json_patch::{self, Operation, PatchFailure};
use super::plain;
use super::schemas::{ObjectSchemas, kind_of};
use super::version::{MutatedObject, ObjectsOfKind};
use crate::cel::ExpressionKind;
use crate::dispatch::Dispatch;
use crate::fields::text_field;
use crate::go_values::GoValues;
use crate::resource::GroupVersionKind;

/// Why a mutation cannot be applied.
#[derive(Debug)]
pub(super) enum MutationError {
    /// The policy fails, and its failure policy decides.
    Policy(String),
    /// The request is denied with this status, regardless of the failure policy.
    Request(Box<Status>),
}

impl MutationError {
    /// The error message.
    pub(super) fn message(&self) -> &str {
        match self {
            MutationError::Policy(message) => message,
            MutationError::Request(status) => &status.message,
        }
    }
}

impl From<String> for MutationError {
    fn from(message: String) -> Self {
        MutationError::Policy(message)
    }
}

impl From<Interrupted> for MutationError {
    fn from(interrupted: Interrupted) -> Self {
        MutationError::Policy(interrupted.to_string())
    }
}

/// Mutates an object with the result of a mutation's expression, which has read `go_values`. The object stays unchanged if a `test` operation
/// of a JSON patch fails.
pub(super) fn mutate(
    kind: ExpressionKind,
    value: Value<'_>,
    go_values: Option<&GoValues<'_>>,
    objects: &ObjectsOfKind<'_>,
    schemas: &ObjectSchemas,
    dispatch: &Dispatch<'_>,
) -> Result<MutatedObject, MutationError> {
    let (object, nil_lists, work) = (objects.object.value(), &*objects.nil_lists, dispatch.work());
    if size(object) > MAX_SIZE {
        return Err("the object is too large to be mutated".to_owned().into());
    }
    work.ask()?;
    let mutated = match kind {
        ExpressionKind::JsonPatch => {
            let operations = operations(value, go_values, work)?;
            patch(operations, object, nil_lists, schemas, dispatch)?
        }
        _ => apply(value, go_values, objects, schemas, work)?,
    };
    work.ask()?;
    if size((&mutated.object).into()) > MAX_SIZE {
        return Err("the object is too large after the mutation"
            .to_owned()
            .into());
    }
    Ok(mutated)
}

/// The maximum memory of an object as a JSON document, in units of 16 bytes: 128 MiB. An object of 1.5 MiB, the limit of etcd, takes more
/// only if it contains more than 160,000 nested objects.
const MAX_SIZE: usize = 1 << 23;

/// The memory of an object as a document, in units of 16 bytes.
// Recursion is bounded: objects have a maximum depth.
fn size(value: Value<'_>) -> usize {
    /// The overhead of each value, in units of 16 bytes.
    const VALUE: usize = 2;
    const OBJECT: usize = 40;
    let inner = match value.kind() {
        ValueKind::String(text) => text.len() / 16,
        ValueKind::List(list) => list.iter().map(size).fold(0, usize::saturating_add),
        ValueKind::Map(map) => {
            let mut sum = OBJECT;
            for (name, value) in map.iter().flatten() {
                let name = name.as_str().map_or(0, str::len) / 16;
                sum = sum.saturating_add(name).saturating_add(size(value));
            }
            sum
        }
        _ => 0,
    };
    inner.saturating_add(VALUE)
}

fn document(object: Value<'_>) -> Result<Json, String> {
    let document = object.to_json();
    document.ok_or_else(|| "failed to create JSON patch: the object is no JSON".to_owned())
}

/// The object as Go writes it: the lists at `nil_lists` become null, and whole doubles become integers.
pub(super) fn written(mut object: Json, nil_lists: &[String]) -> Json {
    for pointer in nil_lists {
        if let Some(list) = object.pointer_mut(pointer) {
            *list = Json::Null;
        }
    }
    with_whole_numbers(object)
}

fn patch(
    operations: Vec<Operation<'_>>,
    object: Value<'_>,
    nil_lists: &[String],
    schemas: &ObjectSchemas,
    dispatch: &Dispatch<'_>,
) -> Result<MutatedObject, MutationError> {
    let (request, work) = (dispatch.request(), dispatch.work());
    let before = || Ok::<_, String>(written(document(object)?, nil_lists));
    let patched = before()?;
    let was = kind_of(&patched);
    work.ask()?;
    let mut patched = match json_patch::apply(patched, operations, work) {
        Ok(patched) => patched,
        Err(PatchFailure::Test) => {
            return Ok(MutatedObject {
                object: document(object)?,
                nil_lists: nil_lists.to_vec(),
            });
        }
        Err(PatchFailure::Error(error)) => return Err(format!("JSON Patch: {error}").into()),
        Err(PatchFailure::Interrupted(interrupted)) => return Err(interrupted.into()),
    };
    work.ask()?;
    schemas
        .decode(&mut patched, &was, request, || before().unwrap_or_default())
        .map_err(|error| MutationError::Request(Box::new(Status::internal(&error))))?;
    schemas.check_scale(&patched, request)?;
    Ok(MutatedObject {
        object: patched,
        nil_lists: Vec::new(),
    })
}

fn operations<'v>(
    value: Value<'v>,
    go_values: Option<&GoValues<'_>>,
    work: &Work<'_>,
) -> Result<Vec<Operation<'v>>, String> {
    let list = value
        .as_list()
        .ok_or("type mismatch: JSONPatchType.expression should evaluate to array")?;
    let mut reach = Reach::new(work);
    list.iter()
        .map(|value| operation(value, go_values, &mut reach))
        .collect()
}

fn operation<'v>(
    value: Value<'v>,
    go_values: Option<&GoValues<'_>>,
    reach: &mut Reach<'_>,
) -> Result<Operation<'v>, String> {
    let ValueKind::Object(object) = value.kind() else {
        return Err(format!(
            "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch, got element of {}",
            value.go_type()
        ));
    };
    let text = |name: &str| {
        let found = object.field(name).and_then(|value| value.as_str());
        found.unwrap_or_default()
    };
    let value = match object.field("value") {
        None => None,
        Some(value) => {
            if let ValueKind::Object(object) = value.kind() {
                plain::check_type_names(object)?;
            }
            Some(plain::json(value, go_values, reach)?)
        }
    };
    Ok(Operation {
        op: text("op"),
        path: text("path"),
        from: text("from"),
        value,
    })
}

fn apply(
    value: Value<'_>,
    go_values: Option<&GoValues<'_>>,
    objects: &ObjectsOfKind<'_>,
    schemas: &ObjectSchemas,
    work: &Work<'_>,
) -> Result<MutatedObject, MutationError> {
    let object = objects.object.value();
    let ValueKind::Object(configuration) = value.kind() else {
        let message = format!(
            "unsupported return type from ApplyConfiguration expression: {}",
            value.type_name()
        );
        return Err(message.into());
    };
    plain::check_type_names(configuration)?;
    let fields = plain::configuration(configuration, go_values)?;
    let mut fields = fields.ok_or_else(|| "invalid return type: *dynamic.ObjectVal".to_owned())?;
    let [version, kind] = ["apiVersion", "kind"].map(|key| {
        let text = text_field(object, key);
        fields.insert(key.to_owned(), Plain::String(text.to_owned()));
        text
    });
    let kind = GroupVersionKind::new(version, kind);
    // An API server looks in the OpenAPI document of the matched version.
    let is_in_document = kind.api_version() == objects.kind.api_version();
    let ty = schemas.merge_type(&kind).filter(|_| is_in_document);
    let Some(ty) = ty else {
        let message = format!(
            "error applying patch: failed to convert patch object to typed object: no corresponding type for {kind}"
        );
        return Err(message.into());
    };
    let mut live = plain::object(object)?;
    for pointer in &objects.nil_lists {
        if let Some(list) = live.pointer_mut(pointer) {
            *list = Plain::NilList;
        }
    }
    work.ask()?;
    let merged = merge::apply(live, Plain::Map(fields), ty, schemas.is_typed(&kind));
    work.ask()?;
    let merged = merged.map_err(|error| format!("error applying patch: {error}"))?;
    let mut mutated = MutatedObject::default();
    mutated.object = merged.into_json(&mut mutated.nil_lists);
    Ok(mutated)
}
