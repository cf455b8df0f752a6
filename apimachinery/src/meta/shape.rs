//! The Go types that metadata is read into, as tables (apimachinery `pkg/apis/meta/v1/types.go`).

/// A Go type, reduced to the properties that determine its JSON.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// A text, with the name of its Go type.
    Text(&'static str),
    /// `int64`
    Integer,
    /// `bool`
    Boolean,
    /// `map[string]string`
    Texts,
    /// A slice, with the name of its Go type.
    List(&'static str, &'static Shape),
    /// A struct.
    Struct(&'static Struct),
    /// `v1.Time`
    Time,
    /// Any JSON. It is not changed.
    Raw,
}

/// A Go struct.
#[derive(Debug)]
pub(super) struct Struct {
    /// The name without its package.
    pub(super) name: &'static str,
    pub(super) fields: &'static [Field],
}

/// A field of a Go struct.
#[derive(Debug)]
pub(super) struct Field {
    /// The name in JSON.
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) presence: Presence,
}

/// The condition under which a field is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// The field is always written.
    Always,
    /// The field is written if it is neither empty nor zero.
    NonZero,
    /// The field is written if it was present and not null.
    Pointer,
}

const fn field(name: &'static str, shape: Shape, presence: Presence) -> Field {
    Field {
        name,
        shape,
        presence,
    }
}

impl Struct {
    pub(super) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Shape {
    /// The name of the type in Go's messages.
    pub(super) fn type_name(self) -> String {
        match self {
            Shape::Text(name) | Shape::List(name, _) => name.to_owned(),
            Shape::Integer => "int64".to_owned(),
            Shape::Boolean => "bool".to_owned(),
            Shape::Texts => "map[string]string".to_owned(),
            Shape::Struct(Struct { name, .. }) => format!("v1.{name}"),
            // Go reads times from strings.
            Shape::Time | Shape::Raw => "string".to_owned(),
        }
    }
}

const STRING: Shape = Shape::Text("string");
const UID: Shape = Shape::Text("types.UID");

/// `metav1.ObjectMeta`
#[rustfmt::skip] // One field per line.
pub(super) static OBJECT_META: Shape = Shape::Struct(&Struct {
    name: "ObjectMeta",
    fields: &[
        field("name", STRING, Presence::NonZero),
        field("generateName", STRING, Presence::NonZero),
        field("namespace", STRING, Presence::NonZero),
        field("selfLink", STRING, Presence::NonZero),
        field("uid", UID, Presence::NonZero),
        field("resourceVersion", STRING, Presence::NonZero),
        field("generation", Shape::Integer, Presence::NonZero),
        field("creationTimestamp", Shape::Time, Presence::NonZero),
        field("deletionTimestamp", Shape::Time, Presence::Pointer),
        field("deletionGracePeriodSeconds", Shape::Integer, Presence::Pointer),
        field("labels", Shape::Texts, Presence::NonZero),
        field("annotations", Shape::Texts, Presence::NonZero),
        field("ownerReferences", Shape::List("[]v1.OwnerReference", &OWNER_REFERENCE), Presence::NonZero),
        field("finalizers", Shape::List("[]string", &STRING), Presence::NonZero),
        field("managedFields", Shape::List("[]v1.ManagedFieldsEntry", &MANAGED_FIELDS_ENTRY), Presence::NonZero),
    ],
});

static OWNER_REFERENCE: Shape = Shape::Struct(&Struct {
    name: "OwnerReference",
    fields: &[
        field("apiVersion", STRING, Presence::Always),
        field("kind", STRING, Presence::Always),
        field("name", STRING, Presence::Always),
        field("uid", UID, Presence::Always),
        field("controller", Shape::Boolean, Presence::Pointer),
        field("blockOwnerDeletion", Shape::Boolean, Presence::Pointer),
    ],
});

#[rustfmt::skip] // One field per line.
static MANAGED_FIELDS_ENTRY: Shape = Shape::Struct(&Struct {
    name: "ManagedFieldsEntry",
    fields: &[
        field("manager", STRING, Presence::NonZero),
        field("operation", Shape::Text("v1.ManagedFieldsOperationType"), Presence::NonZero),
        field("apiVersion", STRING, Presence::NonZero),
        field("time", Shape::Time, Presence::Pointer),
        field("fieldsType", STRING, Presence::NonZero),
        field("fieldsV1", Shape::Raw, Presence::Pointer),
        field("subresource", STRING, Presence::NonZero),
    ],
});
