//! The builder of environments.

use std::sync::Arc;

use smol_str::SmolStr;

use super::{Env, EnvOptions, Parts, Validator};
use crate::decl::{Overload, OverloadDecl, TypeProvider};
use crate::syntax::{Macro, Macros, ParserOptions};
use crate::types::{Type, TypeTextError};

/// Collects the parts of an environment.
#[derive(Debug, Clone)]
pub struct EnvBuilder {
    parts: Parts,
    error: Option<TypeTextError>,
}

impl EnvBuilder {
    pub(super) fn new(parts: Parts) -> Self {
        EnvBuilder { parts, error: None }
    }

    /// Declares a variable.
    pub fn variable(mut self, name: impl Into<SmolStr>, ty: Type) -> Self {
        self.parts.declarations.add_variable(name.into(), ty);
        self
    }

    /// Marks a declared variable as varying: the host evaluates a program again and again with other values of this variable, but with the
    /// same values of all other variables. The evaluations can share [`Invariants`](crate::program::Invariants).
    pub fn varying(mut self, name: impl Into<SmolStr>) -> Self {
        self.parts.declarations.add_varying(name.into());
        self
    }

    /// Adds the rows of a library, in order. A row is ignored if the environment already has its overload.
    pub fn overloads(mut self, rows: &[Overload]) -> Self {
        for row in rows {
            match OverloadDecl::from_row(row) {
                Ok(overload) => self = self.overload(row.function, overload),
                Err(error) => self.error = self.error.or(Some(error)),
            }
        }
        self
    }

    /// Adds one overload of a function.
    pub fn overload(mut self, function: impl Into<SmolStr>, overload: OverloadDecl) -> Self {
        self.parts
            .declarations
            .add_overload(function.into(), overload);
        self
    }

    /// Declares an opaque type of a library, so that expressions can name it.
    pub fn opaque_type(self, name: impl Into<SmolStr>) -> Self {
        let name = name.into();
        self.library_type(name.clone(), Type::opaque(name, Vec::new()))
    }

    /// Declares a library's type by its name; the type may have type parameters.
    pub fn library_type(mut self, name: impl Into<SmolStr>, ty: Type) -> Self {
        self.parts.declarations.add_library_type(name.into(), ty);
        self
    }

    /// Adds the types that a host provides, after those of earlier hosts.
    pub fn provider(mut self, provider: Arc<dyn TypeProvider>) -> Self {
        self.parts.declarations.providers.add(provider);
        self
    }

    /// The fingerprint of a type that a host provides; `None` if no host knows the type, or if the host has no fingerprints.
    pub fn fingerprint(&self, type_name: &str) -> Option<u64> {
        self.parts.declarations.provider().fingerprint(type_name)
    }

    /// Sets the macros.
    pub fn macros(mut self, macros: Macros) -> Self {
        self.parts.macros = macros;
        self
    }

    /// Adds a table of macros.
    pub fn add_macros(mut self, table: &[Macro]) -> Self {
        self.parts.macros = self.parts.macros.with(table);
        self
    }

    /// Sets the options of the parser.
    pub fn parser(mut self, options: ParserOptions) -> Self {
        self.parts.parser = options;
        self
    }

    /// Adds a validator. Validators run in the order in which they were added.
    pub fn validator(mut self, validator: Validator) -> Self {
        self.parts.validators.push(validator);
        self
    }

    /// Sets the container in which names are resolved (see [`resolve_name`](crate::check::resolve_name)).
    pub fn container(mut self, container: impl Into<SmolStr>) -> Self {
        self.parts.declarations.container = container.into();
        self
    }

    /// Sets the options.
    pub fn options(mut self, options: EnvOptions) -> Self {
        self.parts.declarations.options = options;
        self
    }

    /// Builds the environment.
    ///
    /// # Errors
    ///
    /// The signature of a row is malformed.
    pub fn build(self) -> Result<Env, TypeTextError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(Env(Arc::new(self.parts))),
        }
    }
}
