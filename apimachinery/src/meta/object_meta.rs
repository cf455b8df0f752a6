//! The type of metadata (apimachinery `pkg/apis/meta/v1/types.go`).

use crate::shape::{Field, Presence, Shape, Struct};

const UID: Shape = Shape::Text("types.UID");
const TEXTS: Shape = Shape::Map("map[string]string", &Shape::STRING);

/// `metav1.ObjectMeta`
#[rustfmt::skip] // One field per line.
pub static OBJECT_META: Shape = Shape::Struct(&Struct {
    name: "ObjectMeta",
    fields: &[
        Field::new("name", Shape::STRING, Presence::NonZero),
        Field::new("generateName", Shape::STRING, Presence::NonZero),
        Field::new("namespace", Shape::STRING, Presence::NonZero),
        Field::new("selfLink", Shape::STRING, Presence::NonZero),
        Field::new("uid", UID, Presence::NonZero),
        Field::new("resourceVersion", Shape::STRING, Presence::NonZero),
        Field::new("generation", Shape::Integer, Presence::NonZero),
        Field::new("creationTimestamp", Shape::Time, Presence::NonZero),
        Field::new("deletionTimestamp", Shape::Time, Presence::Pointer),
        Field::new("deletionGracePeriodSeconds", Shape::Integer, Presence::Pointer),
        Field::new("labels", TEXTS, Presence::NonZero),
        Field::new("annotations", TEXTS, Presence::NonZero),
        Field::new("ownerReferences", Shape::List("[]v1.OwnerReference", &OWNER_REFERENCE), Presence::NonZero),
        Field::new("finalizers", Shape::STRINGS, Presence::NonZero),
        Field::new("managedFields", Shape::List("[]v1.ManagedFieldsEntry", &MANAGED_FIELDS_ENTRY), Presence::NonZero),
    ],
});

static OWNER_REFERENCE: Shape = Shape::Struct(&Struct {
    name: "OwnerReference",
    fields: &[
        Field::new("apiVersion", Shape::STRING, Presence::Always),
        Field::new("kind", Shape::STRING, Presence::Always),
        Field::new("name", Shape::STRING, Presence::Always),
        Field::new("uid", UID, Presence::Always),
        Field::new("controller", Shape::Boolean, Presence::Pointer),
        Field::new("blockOwnerDeletion", Shape::Boolean, Presence::Pointer),
    ],
});

#[rustfmt::skip] // One field per line.
static MANAGED_FIELDS_ENTRY: Shape = Shape::Struct(&Struct {
    name: "ManagedFieldsEntry",
    fields: &[
        Field::new("manager", Shape::STRING, Presence::NonZero),
        Field::new("operation", Shape::Text("v1.ManagedFieldsOperationType"), Presence::NonZero),
        Field::new("apiVersion", Shape::STRING, Presence::NonZero),
        Field::new("time", Shape::Time, Presence::Pointer),
        Field::new("fieldsType", Shape::STRING, Presence::NonZero),
        Field::new("fieldsV1", Shape::Raw, Presence::Pointer),
        Field::new("subresource", Shape::STRING, Presence::NonZero),
    ],
});
