//! Environments: what an expression may use, and the way from text to program.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::ast::Ast;
use crate::check::{self, CheckedAst};
use crate::decl::{FunctionDecl, OverloadDecl, TypeProvider};
use crate::issues::Issues;
use crate::program::{self, PlanError, Program};
use crate::source::Source;
use crate::syntax::{self, Macros, ParserOptions};
use crate::types::Type;

mod builder;

pub use builder::EnvBuilder;

/// An environment: variables, functions, types and options. Immutable; cloning is cheap.
#[derive(Debug, Clone)]
pub struct Env(Arc<Parts>);

/// What an environment is made of.
#[derive(Debug, Clone, Default)]
struct Parts {
    container: SmolStr,
    variables: FxHashMap<SmolStr, Type>,
    /// Shared with the environments that this one extends.
    functions: Arc<FxHashMap<SmolStr, Arc<FunctionDecl>>>,
    opaque_types: BTreeSet<SmolStr>,
    provider: Option<Arc<dyn TypeProvider>>,
    macros: Macros,
    parser: ParserOptions,
    validators: Vec<Validator>,
    options: EnvOptions,
}

/// A check of a whole expression after its types are known, such as of literals; it reports what it finds.
pub type Validator = fn(&CheckedAst, &mut Issues);

/// Choices that are neither variables nor functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvOptions {
    /// Whether `1 < 1.5` may be written without `dyn()`: in Kubernetes since 1.28.
    pub cross_type_numeric_comparisons: bool,
    /// Whose rules hold where Kubernetes and CEL's specification differ.
    pub rules: Rules,
}

/// Whose rules hold where Kubernetes and CEL's specification differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rules {
    /// Those of the version of CEL in Kubernetes.
    #[default]
    Kubernetes,
    /// Those of the specification: a loop variable hides all other names but those with a leading dot; keys of map
    /// literals are bools, ints, uints and strings, no two of them equal; a constant that cannot be a key fails where it
    /// is looked up, not ahead of it; what is neither map nor list has no fields that could be absent; of the type of
    /// null and another that allows null the other counts; and what an optional holds stays as it is when the optional is
    /// read.
    Specification,
}

impl Default for EnvOptions {
    fn default() -> Self {
        EnvOptions {
            cross_type_numeric_comparisons: true,
            rules: Rules::Kubernetes,
        }
    }
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

    /// The prefix against which names are resolved; empty in Kubernetes.
    pub fn container(&self) -> &str {
        &self.0.container
    }

    /// The type of a variable.
    pub fn variable(&self, name: &str) -> Option<&Type> {
        self.0.variables.get(name)
    }

    /// A function by its name.
    pub fn function(&self, name: &str) -> Option<&Arc<FunctionDecl>> {
        self.0.functions.get(name)
    }

    /// All functions by name.
    pub fn functions(&self) -> Vec<&Arc<FunctionDecl>> {
        let mut functions: Vec<_> = self.0.functions.values().collect();
        functions.sort_by(|a, b| a.name.cmp(&b.name));
        functions
    }

    /// The type of this name that a library or the host brought.
    pub fn find_type(&self, name: &str) -> Option<Type> {
        match self.0.opaque_types.get(name) {
            Some(name) => Some(Type::opaque(name.clone(), Vec::new())),
            None => self.provider().and_then(|host| host.find_type(name)),
        }
    }

    /// Whether a library brought a type of this name, which then is a value, too. The names of a host's types are none.
    pub fn has_library_type(&self, name: &str) -> bool {
        self.0.opaque_types.contains(name)
    }

    /// The types that a host brought.
    pub fn provider(&self) -> Option<&dyn TypeProvider> {
        self.0.provider.as_deref()
    }

    /// The checks of literals.
    pub fn validators(&self) -> &[Validator] {
        &self.0.validators
    }

    /// Parses an expression and expands its macros.
    pub fn parse(&self, text: &str) -> Result<Ast, Issues> {
        syntax::parse(Source::new(text), &self.0.parser, &self.0.macros)
    }

    /// Checks types, references and literals.
    pub fn check(&self, ast: Ast) -> Result<CheckedAst, Issues> {
        check::check(ast, self)
    }

    /// Parses and checks.
    pub fn compile(&self, text: &str) -> Result<CheckedAst, Issues> {
        self.check(self.parse(text)?)
    }

    /// Makes a program of a checked expression. Fails where a constant part of it fails, as in `int('x')`.
    pub fn plan(&self, checked: &CheckedAst) -> Result<Program, PlanError> {
        program::plan(checked, self)
    }

    /// Whether the rules of CEL's specification hold.
    pub(crate) fn follows_specification(&self) -> bool {
        self.0.options.rules == Rules::Specification
    }

    /// The options.
    pub fn options(&self) -> &EnvOptions {
        &self.0.options
    }
}
