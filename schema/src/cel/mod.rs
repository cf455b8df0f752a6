//! Schemas in CEL: their types, the sizes of their values, and access to JSON through a schema (apiserver `pkg/cel/common`,
//! `pkg/cel/types.go`).

use std::fmt;
use std::sync::Arc;

use gavel_apimachinery::server::Server;
use gavel_engine::cost::SizeEstimate;
use gavel_engine::decl::TypeProvider;
use gavel_engine::env::EnvBuilder;
use gavel_engine::estimate::SizeSource;
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Json, Shape, Value};
use smol_str::SmolStr;

use crate::JsonSchema;

mod added;
mod build;
mod elements;
mod equality;
mod escape;
mod joined;
mod native;
mod node;
mod preserved;
mod types;
mod valued;
mod view;

pub use build::MAX_REQUEST_SIZE;
pub use escape::{escape, is_reserved, unescape};
pub use types::{SchemaTypes, scalar_field, scalar_type};

use node::{Joined, Kind, ListType, Node};

/// A schema in CEL: its type, the sizes of its values, and access to JSON through the schema. Cloning is cheap.
///
/// ```
/// use gavel_apimachinery::server::Server;
/// use gavel_engine::types::Type;
/// use gavel_engine::value::Value;
/// use gavel_schema::JsonSchema;
/// use gavel_schema::cel::CelSchema;
/// use serde_json::json;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let schema: JsonSchema = serde_json::from_value(json!({
///     "type": "object",
///     "properties": {"start": {"type": "string", "format": "date-time"}},
/// }))?;
/// let schema = CelSchema::new(&schema, false);
/// assert_eq!(schema.declared_type(), Some(Type::Struct("selfType1".into())));
/// let start = schema.property("start").and_then(|start| start.declared_type());
/// assert_eq!(start, Some(Type::Timestamp));
///
/// let object = json!({"start": "2026-01-31T12:00:00Z"});
/// let object = schema.view(&object).as_map().expect("an object");
/// assert!(object.get_str("start")?.expect("a field").as_timestamp().is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct CelSchema {
    shape: Shape,
    name: SmolStr,
    /// Whether the schema is that of a set to which expressions can add members.
    is_set: bool,
}

impl CelSchema {
    /// The type name of a whole schema. The names of types within the schema begin with this name.
    pub const ROOT: &str = "selfType1";

    /// Converts a schema for CEL as API servers of the newest supported version do. `is_resource` marks the schema of a resource, which has
    /// `kind`, `apiVersion`, `metadata.name` and `metadata.generateName` even if the schema does not declare them.
    pub fn new(schema: &JsonSchema, is_resource: bool) -> Self {
        Self::for_server(schema, is_resource, Server::default())
    }

    /// Like [`CelSchema::new`], for the given API server.
    pub fn for_server(schema: &JsonSchema, is_resource: bool, server: Server) -> Self {
        CelSchema::of(
            build::build(schema, is_resource, server),
            SmolStr::new_static(Self::ROOT),
        )
    }

    fn of(shape: Shape, name: SmolStr) -> Self {
        let kind = Node::of(&shape).map(|node| &node.kind);
        CelSchema {
            is_set: matches!(kind, Some(Kind::List(_, ListType::Set, Joined::OfSchema))),
            shape,
            name,
        }
    }

    /// The same schema, with `name` instead of [`CelSchema::ROOT`] as the name of its type.
    #[must_use]
    pub fn named(self, name: impl Into<SmolStr>) -> Self {
        CelSchema {
            name: name.into(),
            ..self
        }
    }

    /// The type of values; `None` if expressions cannot read them, because their type or the type of their elements is unknown.
    pub fn declared_type(&self) -> Option<Type> {
        types::type_of(&self.shape, &self.name)
    }

    /// The types of this schema and of all schemas below it. With `reserved_words`, fields whose name is a reserved word of CEL may be
    /// selected without an escape. New expressions can do this since Kubernetes 1.31, stored expressions in all versions.
    pub fn provider(&self, reserved_words: bool) -> Arc<SchemaTypes> {
        Arc::new(SchemaTypes::new(self.clone(), reserved_words))
    }

    /// Declares a variable of this schema in an environment, with the types of its fields. Its type is `dyn` if expressions cannot read
    /// values of the schema. Bind the variable to the values that [`view`](Self::view) returns.
    ///
    /// Variables with equal schemas have the same type. If a different schema has the name of this one, the type is named after the
    /// variable.
    pub fn declare(&self, variable: &str, env: EnvBuilder) -> EnvBuilder {
        let types = self.provider(true);
        let known = env.fingerprint(&self.name);
        if known.is_some() && known != types.fingerprint(&self.name) {
            let schema = self.clone().named(format!("{}_{variable}", self.name));
            return schema.declare(variable, env);
        }
        let ty = self.declared_type().unwrap_or(Type::Dyn);
        env.variable(variable, ty).provider(types)
    }

    /// JSON as a value, without conversion. Fields and elements are read when they are used.
    #[inline]
    pub fn view<'a>(&'a self, json: &'a Json) -> Value<'a> {
        self.shape.view(json)
    }

    /// JSON as the value of a variable that several expressions read. As in upstream, a set remembers the members that earlier expressions
    /// added to it.
    pub fn bind<'a>(&'a self, json: &'a Json, arena: &'a Arena) -> Value<'a> {
        if self.is_set
            && let Json::Array(items) = json
            && let Some(Kind::List(item, ..)) = self.node().map(|node| &node.kind)
        {
            return joined::bound_set(&self.shape, item, items, arena);
        }
        self.view(json)
    }

    /// The minimum number of JSON bytes for a value.
    pub fn min_serialized_size(&self) -> u64 {
        self.node().map_or(0, |node| node.min_serialized_size)
    }

    /// The maximum number of elements, entries, code points or bytes of a value, as estimates use it; 0 for values without a size.
    pub fn max_elements(&self) -> u64 {
        self.node().map_or(0, |node| node.max_elements)
    }

    /// The schema of a property, by its name in the document. Paths and sizes of the returned schema begin at the property.
    pub fn property(&self, name: &str) -> Option<CelSchema> {
        let node = self.node()?;
        let property = node.property(name)?;
        matches!(node.kind, Kind::Object(_)).then(|| root(&property.node))
    }

    /// The schema of the elements of a list or the values of a map. Paths and sizes of the returned schema begin at the element or value.
    pub fn element(&self) -> Option<CelSchema> {
        self.node()?.inner().map(root)
    }

    /// The size of the value at the end of a path that begins at this schema. A step is the name of a field, `@items`, `@values` or
    /// `@keys`.
    pub fn size_at(&self, steps: &[&str]) -> Option<SizeEstimate> {
        types::size_at(&self.shape, steps)
    }

    /// The address of the schema, ignoring its name: equal parts of a schema have the same address.
    pub fn place(&self) -> *const () {
        self.shape.place()
    }

    fn node(&self) -> Option<&Node> {
        Node::of(&self.shape)
    }
}

fn root(shape: &Shape) -> CelSchema {
    CelSchema::of(shape.clone(), SmolStr::new_static(CelSchema::ROOT))
}

/// The sizes for a single variable: every path begins at this schema, whatever the variable's name is. Upstream does the same, so even the
/// name of a type in an expression has the size of `self`.
impl SizeSource for CelSchema {
    fn size(&self, path: &[&str], _: &Type) -> Option<SizeEstimate> {
        self.size_at(path.get(1..)?)
    }
}

impl fmt::Debug for CelSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CelSchema")
            .field("name", &self.name)
            .field("type", &self.declared_type())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
