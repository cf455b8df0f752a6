//! The environments of rules.

use std::cell::OnceCell;

use gavel_apimachinery::server::Server;
use gavel_apimachinery::version::KubeVersion;
use gavel_engine::env::Env;
use gavel_engine::types::{Type, TypeTextError};
use gavel_libraries::EnvSet;
use gavel_schema::JsonSchema;
use gavel_schema::cel::{CelSchema, escape};

/// The value that a rule is about.
pub const SELF: &str = "self";
/// The value that was there before.
pub const OLD_SELF: &str = "oldSelf";

/// The first version whose new expressions may name fields by words that CEL reserves.
const RESERVED_WORDS: KubeVersion = KubeVersion::v1(31);

/// What rules may use of an API server.
#[derive(Debug, Clone)]
pub struct RuleEnvs {
    set: EnvSet,
}

/// Whether an expression was there already: then it may use all that any version offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Age {
    /// It is written or changed.
    New,
    /// It was there.
    Stored,
}

impl RuleEnvs {
    /// The environments of an API server, which for a definition is a [`Server::compatible`] one. The error is one of the
    /// tables of functions.
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

/// The CEL type of a node that expressions can see.
#[derive(Debug, Clone)]
pub struct NodeType {
    schema: CelSchema,
    ty: Type,
}

impl NodeType {
    /// Of a schema; none where expressions cannot see the node. `is_resource` says that the node is an object of its own,
    /// which has metadata.
    pub fn of(schema: &JsonSchema, is_resource: bool, server: Server) -> Option<NodeType> {
        NodeType::new(CelSchema::new(schema, is_resource, server))
    }

    fn new(schema: CelSchema) -> Option<NodeType> {
        let ty = schema.declared_type()?;
        Some(NodeType { schema, ty })
    }

    /// Of a property by its name in the document, if expressions can name it.
    pub fn property(&self, name: &str) -> Option<NodeType> {
        escape(name)?;
        NodeType::new(self.schema.property(name)?)
    }

    /// Of the elements of a list or the values of a map.
    pub fn element(&self) -> Option<NodeType> {
        NodeType::new(self.schema.element()?)
    }

    /// The node as CEL sees it.
    pub fn schema(&self) -> &CelSchema {
        &self.schema
    }

    /// The place in memory that tells this node from others while it lives.
    pub(crate) fn place(&self) -> *const () {
        self.schema.place()
    }
}

/// The environments of the rules of one node, each made when it is first used.
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

    /// The environment of an expression. `optional`: whether `oldSelf` is an optional.
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
