//! The environments of rules.

use std::cell::OnceCell;

use gavel_apimachinery::server::Server;
use gavel_apimachinery::version::KubeVersion;
use gavel_engine::env::Env;
use gavel_engine::types::{Type, TypeTextError};
use gavel_libraries::EnvSet;
use gavel_schema::JsonSchema;
use gavel_schema::cel::{CelSchema, escape};

/// The variable for the validated value.
pub const SELF: &str = "self";
/// The variable for the value before an update.
pub const OLD_SELF: &str = "oldSelf";

/// The first version whose new expressions can use reserved words of CEL as field names.
const RESERVED_WORDS: KubeVersion = KubeVersion::v1(31);

/// The environments that an API server offers to rules.
#[derive(Debug, Clone)]
pub struct RuleEnvs {
    set: EnvSet,
}

/// Whether an expression is new or stored already. Stored expressions can use the functions of every version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Age {
    /// The expression is new or was changed.
    New,
    /// The expression is stored.
    Stored,
}

impl RuleEnvs {
    /// The environments of an API server. To validate definitions, pass [`Server::compatible`].
    ///
    /// # Errors
    ///
    /// A table of functions is malformed.
    pub fn new(server: Server) -> Result<RuleEnvs, TypeTextError> {
        let set = EnvSet::new(server)?;
        Ok(RuleEnvs { set })
    }

    /// The server.
    pub fn server(&self) -> Server {
        self.set.server()
    }

    fn base(&self, age: Age) -> &Env {
        match age {
            Age::New => self.set.new_expressions(),
            Age::Stored => self.set.stored_expressions(),
        }
    }
}

/// The CEL type of a schema node.
#[derive(Debug, Clone)]
pub struct NodeType {
    schema: CelSchema,
    ty: Type,
}

impl NodeType {
    /// The type of a schema; `None` if expressions cannot read the node. `is_resource` marks an object with its own metadata.
    pub fn of(schema: &JsonSchema, is_resource: bool, server: Server) -> Option<NodeType> {
        NodeType::new(CelSchema::for_server(schema, is_resource, server))
    }

    fn new(schema: CelSchema) -> Option<NodeType> {
        let ty = schema.declared_type()?;
        Some(NodeType { schema, ty })
    }

    /// The type of a property by its name in the document; `None` if expressions cannot name the property.
    pub fn property(&self, name: &str) -> Option<NodeType> {
        escape(name)?;
        NodeType::new(self.schema.property(name)?)
    }

    /// The type of the elements of a list or the values of a map.
    pub fn element(&self) -> Option<NodeType> {
        NodeType::new(self.schema.element()?)
    }

    /// The CEL schema of the node.
    pub fn schema(&self) -> &CelSchema {
        &self.schema
    }

    /// The address of the schema, which identifies the node while the node exists.
    pub(crate) fn place(&self) -> *const () {
        self.schema.place()
    }
}

/// The environments of the rules of one node, created when they are first used.
#[derive(Debug)]
pub(super) struct NodeEnvs<'e> {
    envs: &'e RuleEnvs,
    node: &'e NodeType,
    made: [OnceCell<Result<Env, TypeTextError>>; 4],
}

impl<'e> NodeEnvs<'e> {
    pub(super) fn new(envs: &'e RuleEnvs, node: &'e NodeType) -> Self {
        NodeEnvs {
            envs,
            node,
            made: Default::default(),
        }
    }

    /// The environment of an expression. With `optional`, `oldSelf` is an optional.
    pub(super) fn get(&self, age: Age, optional: bool) -> Result<&Env, TypeTextError> {
        let [new, stored, new_optional, stored_optional] = &self.made;
        let made = match (age, optional) {
            (Age::New, false) => new,
            (Age::Stored, false) => stored,
            (Age::New, true) => new_optional,
            (Age::Stored, true) => stored_optional,
        };
        let env = made.get_or_init(|| self.make(age, optional));
        env.as_ref().map_err(Clone::clone)
    }

    fn make(&self, age: Age, optional: bool) -> Result<Env, TypeTextError> {
        let NodeType { schema, ty } = self.node;
        let old = match optional {
            true => Type::optional(ty.clone()),
            false => ty.clone(),
        };
        let reserved_words = age == Age::Stored || self.envs.server().language() >= RESERVED_WORDS;
        let env = self.envs.base(age).extend();
        let env = env.variable(SELF, ty.clone()).variable(OLD_SELF, old);
        env.provider(schema.provider(reserved_words)).build()
    }
}
