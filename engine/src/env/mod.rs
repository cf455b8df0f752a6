//! Environments: what an expression may use, and the way from text to program.

use std::sync::Arc;

use crate::ast::Ast;
use crate::check::{self, CheckedAst};
use crate::decl::Declarations;
use crate::issues::Issues;
use crate::program::{self, PlanError, Program};
use crate::source::Source;
use crate::syntax::{self, Macros, ParserOptions};

mod builder;

pub use crate::check::Validator;
pub use crate::decl::{Corrections, EnvOptions, Rules};
pub use builder::EnvBuilder;

/// An environment: variables, functions, types and options. Immutable; cloning is cheap.
#[derive(Debug, Clone)]
pub struct Env(Arc<Parts>);

/// What an environment is made of.
#[derive(Debug, Clone, Default)]
struct Parts {
    declarations: Declarations,
    macros: Macros,
    parser: ParserOptions,
    validators: Vec<Validator>,
}

impl Env {
    /// An environment with nothing in it but the types of the language.
    pub fn builder() -> EnvBuilder {
        EnvBuilder::new(Parts::default())
    }

    /// The same environment and more.
    pub fn extend(&self) -> EnvBuilder {
        EnvBuilder::new(Parts::clone(&self.0))
    }

    /// The variables, functions, types and options.
    pub fn declarations(&self) -> &Declarations {
        &self.0.declarations
    }

    /// Parses an expression and expands its macros.
    pub fn parse(&self, text: &str) -> Result<Ast, Issues> {
        syntax::parse(Source::new(text), &self.0.parser, &self.0.macros)
    }

    /// Checks types, references and literals.
    pub fn check(&self, ast: Ast) -> Result<CheckedAst, Issues> {
        check::check(ast, self.declarations(), &self.0.validators)
    }

    /// Parses and checks.
    pub fn compile(&self, text: &str) -> Result<CheckedAst, Issues> {
        self.check(self.parse(text)?)
    }

    /// Makes a program of a checked expression. Fails where a constant part of it fails, as in `int('x')`.
    pub fn plan(&self, checked: &CheckedAst) -> Result<Program, PlanError> {
        program::plan(checked, self.declarations())
    }
}
