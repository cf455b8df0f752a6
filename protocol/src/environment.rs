//! The environments of requests and commands, each built once.

use std::collections::{BTreeMap, HashMap};

use gavel_engine::decl::OverloadDecl;
use gavel_engine::env::{Env, EnvBuilder};
use gavel_engine::syntax::Macros;
use gavel_engine::types::{Signature, Type, TypeTextError};
use gavel_libraries::{EnvSet, KubeVersion, Server, cel_env};
use gavel_policy::cel::{NAMESPACE, REQUEST, declared_type, provider};

use crate::types::SchemaSpec;

/// The maximum number of cached environments. If it is exceeded, all are dropped, so that a long stream cannot exhaust the memory.
const MAX_KEPT: usize = 500;

/// The environment of an expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EnvironmentSpec {
    /// The functions and options.
    pub language: Language,
    /// The types of the variables.
    pub variables: BTreeMap<String, Type>,
    /// The schemas that the types of variables are made of.
    pub schemas: Vec<SchemaSpec>,
}

/// The functions and options of an environment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Language {
    /// The environment of an API server.
    Kubernetes {
        /// The API server.
        server: Server,
        /// Whether the expression is already stored; otherwise it is new.
        stored: bool,
    },
    /// The language of the CEL specification, with all its extension libraries.
    Cel {
        /// The prefix against which names are resolved.
        container: String,
        /// Whether macros are expanded.
        macros: bool,
        /// Functions that are declared without an implementation.
        functions: Vec<FunctionSpec>,
    },
}

/// An overload that is declared without an implementation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FunctionSpec {
    /// The name of the function.
    pub name: String,
    /// The id of the overload.
    pub id: String,
    /// The parameter types and the result type.
    pub signature: Signature,
}

/// Builds environments and caches them.
#[derive(Debug, Default)]
pub struct Environments {
    kept: HashMap<EnvironmentSpec, Env>,
}

impl Environments {
    /// The environment that `spec` describes.
    ///
    /// # Errors
    ///
    /// The signature of a function is malformed.
    pub fn environment(&mut self, spec: &EnvironmentSpec) -> Result<Env, TypeTextError> {
        if let Some(env) = self.kept.get(spec) {
            return Ok(env.clone());
        }
        let env = spec.build()?;
        if self.kept.len() >= MAX_KEPT {
            self.kept.clear();
        }
        self.kept.insert(spec.clone(), env.clone());
        Ok(env)
    }
}

impl EnvironmentSpec {
    /// Builds the environment.
    ///
    /// # Errors
    ///
    /// The signature of a function is malformed.
    pub fn build(&self) -> Result<Env, TypeTextError> {
        let mut builder = self.language.build()?;
        let admission = |ty: &Type| [REQUEST, NAMESPACE].map(declared_type).contains(ty);
        if self.variables.values().any(admission) {
            builder = builder.provider(provider());
        }
        let reserved_words = self.language.selects_reserved_words();
        for spec in &self.schemas {
            builder = builder.provider(spec.schema.provider(reserved_words));
        }
        for (name, ty) in &self.variables {
            builder = builder.variable(name.as_str(), ty.clone());
        }
        builder.build()
    }
}

impl Language {
    /// Whether fields whose names are reserved words can be selected without an escape.
    fn selects_reserved_words(&self) -> bool {
        match self {
            Language::Kubernetes { server, stored } => {
                *stored || server.language() >= KubeVersion::v1(31)
            }
            Language::Cel { .. } => true,
        }
    }

    fn build(&self) -> Result<EnvBuilder, TypeTextError> {
        match self {
            Language::Kubernetes { server, stored } => {
                let set = EnvSet::new(*server)?;
                let env = match stored {
                    true => set.stored_expressions(),
                    false => set.new_expressions(),
                };
                Ok(env.extend())
            }
            Language::Cel {
                container,
                macros,
                functions,
            } => {
                let mut builder = cel_env()?.extend().container(container.as_str());
                if !macros {
                    builder = builder.macros(Macros::default());
                }
                for function in functions {
                    builder = builder.overload(function.name.as_str(), function.declaration());
                }
                Ok(builder)
            }
        }
    }
}

impl FunctionSpec {
    fn declaration(&self) -> OverloadDecl {
        OverloadDecl::declared(self.id.as_str().into(), self.signature.clone())
    }
}

/// Reads a Kubernetes version that Gavel knows.
///
/// # Errors
///
/// The text is not a version, or the version is unknown.
pub fn kubernetes_version(text: &str) -> Result<KubeVersion, String> {
    version_since(KubeVersion::v1(0), text)
}

/// Reads a version from `oldest` to the newest version that Gavel reproduces.
///
/// # Errors
///
/// The text is not a version, or the version is not in this range.
pub fn version_since(oldest: KubeVersion, text: &str) -> Result<KubeVersion, String> {
    let version: KubeVersion = text.parse().map_err(|error| format!("{error}"))?;
    let newest = KubeVersion::NEWEST;
    match (oldest..=newest).contains(&version) {
        true => Ok(version),
        false => Err(format!(
            "Kubernetes {version} is unknown; the version must be from {oldest} to {newest}"
        )),
    }
}
