//! Environments: the names that an expression can use. An environment parses, checks and plans expressions.

use std::sync::Arc;

use crate::ast::Ast;
use crate::check::{self, CheckedAst};
use crate::decl::Declarations;
use crate::issues::Issues;
use crate::program::{self, PlanError, Program};
use crate::source::Source;
use crate::syntax::{self, Macro, Macros, ParserOptions};

mod builder;

pub use crate::check::Validator;
pub use crate::decl::{Corrections, EnvOptions, Rules};
pub use builder::EnvBuilder;

/// An environment: variables, functions, types and options. It is immutable, and cloning it is cheap.
#[derive(Debug, Clone)]
pub struct Env(Arc<Parts>);

/// The parts of an environment.
#[derive(Debug, Clone, Default)]
struct Parts {
    declarations: Declarations,
    macros: Macros,
    parser: ParserOptions,
    validators: Vec<Validator>,
}

impl Env {
    /// A builder with the types of the language and nothing else.
    pub fn builder() -> EnvBuilder {
        EnvBuilder::new(Parts::default())
    }

    /// A builder that begins with everything in this environment.
    pub fn extend(&self) -> EnvBuilder {
        EnvBuilder::new(Parts::clone(&self.0))
    }

    /// The variables, functions, types and options.
    pub fn declarations(&self) -> &Declarations {
        &self.0.declarations
    }

    /// The macros, in no order.
    pub fn macros(&self) -> impl Iterator<Item = &Macro> {
        self.0.macros.all()
    }

    /// Parses an expression and expands its macros.
    ///
    /// # Errors
    ///
    /// The syntax errors of the text.
    pub fn parse(&self, text: &str) -> Result<Ast, Issues> {
        syntax::parse(Source::new(text), &self.0.parser, &self.0.macros)
    }

    /// Checks the types, names and literals of a parsed expression.
    ///
    /// # Errors
    ///
    /// The type errors, unknown names and invalid literals of the expression.
    pub fn check(&self, ast: Ast) -> Result<CheckedAst, Issues> {
        check::check(ast, self.declarations(), &self.0.validators)
    }

    /// Parses and checks an expression.
    ///
    /// # Errors
    ///
    /// The errors of [`parse`](Self::parse) and of [`check`](Self::check).
    pub fn compile(&self, text: &str) -> Result<CheckedAst, Issues> {
        self.check(self.parse(text)?)
    }

    /// Plans a program for a checked expression.
    ///
    /// # Errors
    ///
    /// A constant part of the expression fails, such as `int('x')`.
    pub fn plan(&self, checked: &CheckedAst) -> Result<Program, PlanError> {
        program::plan(checked, self.declarations())
    }
}
