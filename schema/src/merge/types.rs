//! Types that declare how values are merged, derived from schemas (kube-openapi `pkg/schemaconv/openapi.go`, structured-merge-diff
//! `schema/elements.go`).

use gavel_apimachinery::server::Server;
use gavel_engine::value::Json;
use smol_str::SmolStr;

use crate::built_in::Kubernetes;
use crate::{JsonSchema, SchemaOrBool};

const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const RAW_EXTENSION: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";
const FIELDS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1";
const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The type of a value for merging. Cheap to copy.
#[derive(Debug, Clone, Copy)]
pub struct MergeType<'s> {
    node: TypeNode<'s>,
    /// The built-in kinds, which contain the schemas that have names.
    kubernetes: &'static Kubernetes,
    /// Whether an enclosing schema preserves unknown fields.
    preserves: bool,
    /// The map type declared next to a reference; it overrides that of the target.
    relationship: Option<Relationship>,
}

#[derive(Debug, Clone, Copy)]
enum TypeNode<'s> {
    Schema(&'s JsonSchema),
    /// A struct of Go without fields.
    EmptyStruct(&'s JsonSchema),
    /// The root of a custom resource.
    Root(&'s JsonSchema),
    /// A schema of the built-in kinds, by its name.
    Named(&'s str),
    /// `apiVersion` or `kind`.
    Text,
    /// Any value; lists and maps are replaced as a whole.
    Untyped,
    /// Any value; lists are replaced as a whole, and maps are merged.
    Deduced,
    /// A quantity.
    Quantity,
}

/// The types that a value can have; empty if no value is valid.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Atom<'s> {
    pub(super) scalar: Option<Scalar>,
    pub(super) list: Option<List<'s>>,
    pub(super) map: Option<Map<'s>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    Numeric,
    String,
    Boolean,
    Untyped,
}

/// Whether a list or map is merged by its entries or replaced as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relationship {
    /// The elements of a list are identified by key fields or by their values, and are merged.
    Associative,
    Atomic,
    Separable,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct List<'s> {
    pub(super) relationship: Relationship,
    /// The fields whose values identify an element. Without key fields, an element is identified by its own value.
    pub(super) keys: &'s [SmolStr],
    pub(super) element: MergeType<'s>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Map<'s> {
    pub(super) relationship: Relationship,
    /// The type of undeclared fields; `None` if they are not allowed.
    pub(super) element: Option<MergeType<'s>>,
    /// The schema that declares fields.
    schema: Option<&'s JsonSchema>,
    is_resource: bool,
    /// Whether decoders know no fields, although merging allows any.
    is_empty_struct: bool,
    preserves: bool,
    kubernetes: &'static Kubernetes,
}

impl<'s> MergeType<'s> {
    /// The type of custom resources with this schema. Their metadata has the type that this API server gives to metadata.
    pub fn custom_resource(schema: &'s JsonSchema, server: Server) -> Self {
        MergeType::of(TypeNode::Root(schema), Kubernetes::of(server))
    }

    /// The type that this API server gives to objects of a built-in kind, by `apiVersion` and kind.
    pub fn built_in(api_version: &str, kind: &str, server: Server) -> Option<MergeType<'static>> {
        let kubernetes = Kubernetes::of(server);
        MergeType::named(kubernetes.name_of(api_version, kind)?, kubernetes)
    }

    /// Like [`MergeType::built_in`], also for kinds whose objects the API server decodes but cannot merge: those of subresources, such as
    /// `Scale`.
    pub fn decoded(api_version: &str, kind: &str, server: Server) -> Option<MergeType<'static>> {
        let kubernetes = Kubernetes::of(server);
        MergeType::named(kubernetes.decoded_name_of(api_version, kind)?, kubernetes)
    }

    pub(super) fn named(name: &str, kubernetes: &'static Kubernetes) -> Option<MergeType<'static>> {
        let node = match name {
            QUANTITY => TypeNode::Quantity,
            RAW_EXTENSION => TypeNode::Untyped,
            name => {
                let schema = kubernetes.schema(name)?;
                let is_map =
                    !schema.properties.is_empty() || schema.additional_properties.is_some();
                match schema.kind == "object" && !is_map && name != FIELDS {
                    true => TypeNode::EmptyStruct(schema),
                    false => TypeNode::Schema(schema),
                }
            }
        };
        Some(MergeType::of(node, kubernetes))
    }

    fn of(node: TypeNode<'s>, kubernetes: &'static Kubernetes) -> Self {
        MergeType {
            node,
            kubernetes,
            preserves: false,
            relationship: None,
        }
    }

    /// The type for `schema`, which is within another schema.
    fn part(schema: &'s JsonSchema, preserves: bool, kubernetes: &'static Kubernetes) -> Self {
        let Some(name) = &schema.unsupported.reference else {
            return MergeType {
                preserves,
                ..MergeType::of(TypeNode::Schema(schema), kubernetes)
            };
        };
        MergeType {
            relationship: map_relationship(schema),
            ..MergeType::of(TypeNode::Named(name), kubernetes)
        }
    }

    /// The types that a value can have.
    pub(super) fn atom(&self) -> Atom<'s> {
        let kubernetes = self.kubernetes;
        let of = |node| MergeType::of(node, kubernetes);
        let mut atom = match self.node {
            TypeNode::Schema(schema) => self.schema_atom(schema, schema.embedded_resource),
            TypeNode::EmptyStruct(schema) => {
                let mut atom = self.schema_atom(schema, false);
                if let Some(map) = &mut atom.map {
                    map.is_empty_struct = true;
                }
                atom
            }
            TypeNode::Root(schema) => self.schema_atom(schema, true),
            TypeNode::Named(name) => {
                let named = MergeType::named(name, kubernetes);
                named.unwrap_or(of(TypeNode::Deduced)).atom()
            }
            TypeNode::Text => scalar(Scalar::String),
            TypeNode::Quantity => scalar(Scalar::Untyped),
            TypeNode::Untyped => any(Relationship::Atomic, of(TypeNode::Untyped)),
            TypeNode::Deduced => any(Relationship::Separable, of(TypeNode::Deduced)),
        };
        if let (Some(relationship), Some(map)) = (self.relationship, &mut atom.map) {
            map.relationship = relationship;
        }
        atom
    }

    fn schema_atom(&self, schema: &'s JsonSchema, is_resource: bool) -> Atom<'s> {
        let preserves = self.preserves || schema.preserves_unknown_fields();
        let kubernetes = self.kubernetes;
        let of = |node| MergeType::of(node, kubernetes);
        let part = |schema| MergeType::part(schema, preserves, kubernetes);
        let list = || List {
            relationship: list_relationship(schema),
            keys: &schema.topology.list_map_keys,
            element: match schema.item() {
                Some(item) => part(item),
                None => of(TypeNode::Untyped),
            },
        };
        let has_fields = is_resource || !schema.properties.is_empty();
        let map = || Map {
            relationship: map_relationship(schema).unwrap_or(Relationship::Separable),
            element: match &schema.additional_properties {
                None if preserves || !has_fields => Some(of(TypeNode::Deduced)),
                None | Some(SchemaOrBool::Allows(false)) => None,
                Some(SchemaOrBool::Allows(true)) => Some(of(TypeNode::Deduced)),
                Some(SchemaOrBool::Schema(schema)) => Some(part(schema)),
            },
            schema: Some(schema),
            is_resource,
            is_empty_struct: false,
            preserves,
            kubernetes,
        };
        match schema.kind.as_str() {
            "object" => Atom {
                map: Some(map()),
                ..Atom::default()
            },
            "array" => Atom {
                list: Some(list()),
                ..Atom::default()
            },
            "integer" | "number" => scalar(Scalar::Numeric),
            "boolean" => scalar(Scalar::Boolean),
            "string" if matches!(schema.format.as_str(), "" | "byte") => scalar(Scalar::String),
            "string" => scalar(Scalar::Untyped),
            "" => Atom {
                scalar: Some(Scalar::Untyped),
                list: Some(list()),
                map: Some(map()),
            },
            _ => scalar(Scalar::Untyped),
        }
    }
}

impl<'s> List<'s> {
    /// The default of a key field in the schema of the elements.
    pub(super) fn default(&self, name: &str) -> Option<&'s Json> {
        self.element.atom().map?.default(name)
    }
}

impl<'s> Map<'s> {
    /// The type of a declared field.
    pub(super) fn field(&self, name: &str) -> Option<MergeType<'s>> {
        match name {
            "apiVersion" | "kind" if self.is_resource => {
                Some(MergeType::of(TypeNode::Text, self.kubernetes))
            }
            "metadata" if self.is_resource => {
                let node = TypeNode::Named(OBJECT_META);
                Some(MergeType::of(node, self.kubernetes))
            }
            name => {
                let schema = self.schema?.properties.get(name)?;
                Some(MergeType::part(schema, self.preserves, self.kubernetes))
            }
        }
    }

    /// The names of the declared fields.
    pub(super) fn declared(&self) -> impl Iterator<Item = &'s str> + use<'s> {
        let of_resource: &[&str] = match self.is_resource {
            true => &["apiVersion", "kind", "metadata"],
            false => &[],
        };
        let properties = self.schema.into_iter();
        let properties = properties.flat_map(|schema| schema.properties.keys());
        of_resource
            .iter()
            .copied()
            .chain(properties.map(SmolStr::as_str))
    }

    /// The type of a field, declared or not.
    pub(super) fn any_field(&self, name: &str) -> Option<MergeType<'s>> {
        self.field(name).or(self.element)
    }

    /// The type of a field that decoders know.
    pub(super) fn decoded_field(&self, name: &str) -> Option<MergeType<'s>> {
        self.any_field(name).filter(|_| !self.is_empty_struct)
    }

    /// The default of a declared field.
    pub(super) fn default(&self, name: &str) -> Option<&'s Json> {
        self.schema?.properties.get(name)?.default_value()
    }
}

fn scalar<'s>(scalar: Scalar) -> Atom<'s> {
    Atom {
        scalar: Some(scalar),
        ..Atom::default()
    }
}

/// The types of arbitrary values. Lists are replaced as a whole; `relationship` determines whether maps are merged or replaced, and the
/// values of maps have the type `element`.
fn any(relationship: Relationship, element: MergeType<'_>) -> Atom<'_> {
    Atom {
        scalar: Some(Scalar::Untyped),
        list: Some(List {
            relationship: Relationship::Atomic,
            keys: &[],
            element: MergeType::of(TypeNode::Untyped, element.kubernetes),
        }),
        map: Some(Map {
            relationship,
            element: Some(element),
            schema: None,
            is_resource: false,
            is_empty_struct: false,
            preserves: false,
            kubernetes: element.kubernetes,
        }),
    }
}

fn list_relationship(schema: &JsonSchema) -> Relationship {
    match schema.topology.list_type.as_deref() {
        Some("set" | "map") => Relationship::Associative,
        _ => Relationship::Atomic,
    }
}

fn map_relationship(schema: &JsonSchema) -> Option<Relationship> {
    match schema.topology.map_type.as_deref()? {
        "atomic" => Some(Relationship::Atomic),
        _ => Some(Relationship::Separable),
    }
}
