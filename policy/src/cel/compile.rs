//! Compiles the expressions of policies (apiserver `pkg/admission/plugin/cel/compile.go`, `composition.go`).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::OnceLock;

use gavel_engine::ast::{Expr, ExprKind};
use gavel_engine::check::CheckedAst;
use gavel_engine::env::Env;
use gavel_engine::issues::Issues;
use gavel_engine::program::Program;
use gavel_engine::types::Type;
use smol_str::SmolStr;

use super::declared::{JSON_PATCH, OBJECT_PATCH, VariableTypes, declared_type, variable_type};
use super::environment::{Declarations, ObjectTypes, PARAMS, VARIABLES_VARIABLE, extend};
use crate::expression_kind::ExpressionKind;
use crate::shared::Shared;

impl ExpressionKind {
    /// The types that the expression may return; an empty list allows any type.
    fn types(self) -> Vec<Type> {
        match self {
            ExpressionKind::MatchCondition | ExpressionKind::Validation => vec![Type::Bool],
            ExpressionKind::Variable => Vec::new(),
            ExpressionKind::Message => vec![Type::String],
            ExpressionKind::AuditAnnotation => vec![Type::String, Type::Null],
            ExpressionKind::ApplyConfiguration => vec![declared_type(OBJECT_PATCH)],
            ExpressionKind::JsonPatch => vec![Type::list(declared_type(JSON_PATCH))],
        }
    }
}

/// An expression and the result of compiling it. Equal expressions of several policies share the result.
#[derive(Debug)]
pub struct Expression {
    /// The role of the expression.
    pub kind: ExpressionKind,
    /// Whether the result may depend on params, directly or through variables.
    pub(crate) reads_params: bool,
    compiled: Arc<Compiled>,
}

/// The result of compiling an expression.
#[derive(Debug)]
struct Compiled {
    key: (ExpressionKind, Declarations),
    text: Box<str>,
    program: Result<Program, CompileError>,
    /// The type of the expression; `dyn` if it does not compile.
    ty: Type,
    reads_params: bool,
    reads_variables: bool,
}

impl Expression {
    /// The source text of the expression.
    pub fn text(&self) -> &str {
        &self.compiled.text
    }

    /// The program.
    ///
    /// # Errors
    ///
    /// The expression does not compile.
    pub fn program(&self) -> Result<&Program, &CompileError> {
        self.compiled.program.as_ref()
    }

    /// Whether the expression reads `variables`.
    pub(crate) fn reads_variables(&self) -> bool {
        self.compiled.reads_variables
    }
}

/// Why an expression cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileError {
    /// The cause.
    pub kind: CompileErrorKind,
    /// The message, in Kubernetes' words.
    pub message: String,
    /// The line and column in the expression, both from 1; `None` if the error concerns the whole expression.
    pub position: Option<(u32, u32)>,
}

/// The kind of a compile error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompileErrorKind {
    /// The expression is invalid: `RuleInvalid` upstream.
    Invalid,
    /// The environment could not be built or the expression could not be planned, for example because a constant subexpression fails:
    /// `InternalError` upstream.
    Internal,
}

/// Why a type check fails.
#[derive(Debug, Clone)]
pub enum TypeFault {
    /// The expression has type errors.
    Issues(Issues),
    /// The environment cannot be built.
    Internal(String),
}

impl CompileError {
    fn invalid(message: impl Into<String>) -> Self {
        CompileError {
            kind: CompileErrorKind::Invalid,
            message: message.into(),
            position: None,
        }
    }

    fn internal(message: impl Into<String>) -> Self {
        CompileError {
            kind: CompileErrorKind::Internal,
            message: message.into(),
            position: None,
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CompileError {}

/// Compiles the expressions of policies or webhooks. Declared variables stay declared: use a separate compiler for each policy that has
/// variables.
#[derive(Debug, Clone)]
pub struct Compiler {
    base: Env,
    /// The variables that were declared so far; `None` if expressions cannot read `variables`.
    variables: Option<VariableTypes>,
    /// The types of the objects, for type checking with schemas; `None` if objects have type `dyn`.
    types: Option<ObjectTypes>,
    /// The names of the variables that depend on params.
    dependent: BTreeSet<SmolStr>,
    /// The expressions compiled so far that are still in use. Copies of the compiler share them.
    compiled: Arc<Shared<Compiled>>,
    /// The environments for the eight combinations of [`Declarations`]: first the four without patch types, then the four with them. Each
    /// is built when it is first needed.
    environments: [[OnceLock<Env>; 4]; 2],
}

impl Compiler {
    /// A compiler for expressions that cannot read `variables`. `base` is a Kubernetes environment for either new or stored expressions,
    /// without any variables.
    pub fn new(base: &Env) -> Self {
        Compiler {
            base: base.clone(),
            variables: None,
            types: None,
            dependent: BTreeSet::new(),
            compiled: Arc::default(),
            environments: Default::default(),
        }
    }

    /// A compiler for expressions that may read the policy's `variables`.
    pub fn with_variables(base: &Env) -> Self {
        Compiler {
            variables: Some(VariableTypes::default()),
            ..Compiler::new(base)
        }
    }

    /// A type checker for expressions that may read the policy's `variables`, with the schemas of the objects.
    pub(crate) fn for_type_checking(base: &Env, types: ObjectTypes) -> Self {
        Compiler {
            types: Some(types),
            ..Compiler::with_variables(base)
        }
    }

    /// Checks the types of an expression without requiring a result type.
    ///
    /// # Errors
    ///
    /// The expression has type errors, or the environment cannot be built.
    pub fn check(&self, text: &str, declarations: Declarations) -> Result<CheckedAst, TypeFault> {
        let env = self.environment(declarations);
        let env = env.map_err(|error| TypeFault::Internal(error.message))?;
        env.compile(text).map_err(TypeFault::Issues)
    }

    /// Checks a variable and declares it for later expressions, with type `dyn` if it has type errors.
    ///
    /// # Errors
    ///
    /// The variable has type errors, or the environment cannot be built.
    pub fn check_variable(
        &mut self,
        name: &str,
        text: &str,
        declarations: Declarations,
    ) -> Result<CheckedAst, TypeFault> {
        let found = self.check(text, declarations);
        let is_exact = self.types.as_ref().is_some_and(|types| !types.upstream);
        let ty = match found.as_ref().map(CheckedAst::output_type) {
            Ok(ty) if is_exact => ty.clone(),
            Ok(ty) => variable_type(ty),
            Err(_) => Type::Dyn,
        };
        self.declare(name, ty);
        found
    }

    /// Compiles an expression.
    pub fn compile(
        &self,
        kind: ExpressionKind,
        text: &str,
        declarations: Declarations,
    ) -> Expression {
        let compiled = match self.depends_on_policy(text) {
            true => Arc::new(self.compile_as(kind, text, declarations)),
            false => {
                let key = (kind, declarations);
                self.compiled.get_or_insert(
                    (key, text),
                    |known| known.key == key && *known.text == *text,
                    || self.compile_as(kind, text, declarations),
                )
            }
        };
        Expression {
            kind,
            reads_params: compiled.reads_params,
            compiled,
        }
    }

    /// Compiles a variable and declares it for later expressions, with type `dyn` if it does not compile.
    pub fn compile_variable(
        &mut self,
        name: &str,
        text: &str,
        declarations: Declarations,
    ) -> Expression {
        self.compile_typed_variable(name, text, declarations).0
    }

    /// Compiles a variable as `compile_variable` does, and returns its type.
    pub(super) fn compile_typed_variable(
        &mut self,
        name: &str,
        text: &str,
        declarations: Declarations,
    ) -> (Expression, Type) {
        let (expression, ty) = self.compile_typed(text, declarations);
        self.declare(name, variable_type(&ty));
        if expression.reads_params {
            self.dependent.insert(name.into());
        }
        (expression, ty)
    }

    /// Compiles an expression of any type, and returns the type.
    pub(super) fn compile_typed(
        &self,
        text: &str,
        declarations: Declarations,
    ) -> (Expression, Type) {
        let expression = self.compile(ExpressionKind::Variable, text, declarations);
        let ty = expression.compiled.ty.clone();
        (expression, ty)
    }

    /// Whether the result of compiling an expression may depend on the variables of the policy, or on schemas.
    fn depends_on_policy(&self, text: &str) -> bool {
        let has_variables = self.variables.as_ref().is_some_and(|all| !all.is_empty());
        self.types.is_some() || (has_variables && text.contains(VARIABLES_VARIABLE))
    }

    fn compile_as(&self, kind: ExpressionKind, text: &str, declarations: Declarations) -> Compiled {
        let mut ty = Type::Dyn;
        let mut reads_params = false;
        let mut reads_variables = false;
        let program = self
            .checked(kind, text, declarations)
            .and_then(|(env, checked)| {
                let program = plan(env, &checked)?;
                ty = checked.output_type().clone();
                reads_params = self.reads_params(&program, &checked);
                reads_variables = program.reads(VARIABLES_VARIABLE);
                Ok(program)
            });
        Compiled {
            key: (kind, declarations),
            text: text.into(),
            program,
            ty,
            reads_params,
            reads_variables,
        }
    }

    /// Whether the result of a program may depend on params: the program reads params or a variable that depends on them, or it uses
    /// `variables` as a whole.
    fn reads_params(&self, program: &Program, checked: &CheckedAst) -> bool {
        if program.reads(PARAMS) || !program.reads(VARIABLES_VARIABLE) {
            return program.reads(PARAMS);
        }
        let read = variables_read(checked);
        read.is_none_or(|read| read.into_iter().any(|name| self.dependent.contains(name)))
    }

    /// The declared type of a variable; `None` if it was not declared.
    pub(crate) fn variable_type(&self, name: &str) -> Option<&Type> {
        self.variables.as_ref()?.get(name)
    }

    /// Declares a variable for later expressions.
    pub fn declare(&mut self, name: &str, ty: Type) {
        // The environments share the list of variables. Dropping the environments first avoids a copy of the list.
        self.environments = Default::default();
        let variables = self.variables.get_or_insert_default();
        Arc::make_mut(variables).insert(name.into(), ty);
    }

    fn environment(&self, declarations: Declarations) -> Result<&Env, CompileError> {
        let [without, with] = &self.environments;
        let [neither, params, authorizer, both] = match declarations.patch_types {
            true => with,
            false => without,
        };
        let cell = match (declarations.params, declarations.authorizer) {
            (false, false) => neither,
            (true, false) => params,
            (false, true) => authorizer,
            (true, true) => both,
        };
        if let Some(env) = cell.get() {
            return Ok(env);
        }
        let env = extend(
            &self.base,
            declarations,
            self.variables.as_ref(),
            self.types.as_ref(),
        )
        .map_err(|error| {
            CompileError::internal(format!("unexpected error loading CEL environment: {error}"))
        })?;
        Ok(cell.get_or_init(|| env))
    }

    fn checked(
        &self,
        kind: ExpressionKind,
        text: &str,
        declarations: Declarations,
    ) -> Result<(&Env, CheckedAst), CompileError> {
        let env = self.environment(declarations)?;
        let checked = env.compile(text).map_err(|issues| CompileError {
            position: issues.position(),
            ..CompileError::invalid(format!("compilation failed: {issues}"))
        })?;
        let found = checked.output_type();
        match kind.types().as_slice() {
            [] => {}
            types if types.contains(found) => {}
            [only] => {
                return Err(CompileError::invalid(format!(
                    "must evaluate to {only} but got {found}"
                )));
            }
            types => {
                let names: Vec<String> = types.iter().map(Type::to_string).collect();
                let message = format!(
                    "must evaluate to one of [{}] but got {found}",
                    names.join(" ")
                );
                return Err(CompileError::invalid(message));
            }
        }
        Ok((env, checked))
    }
}

/// The names of the variables that an expression reads; `None` if it uses `variables` other than by selecting a field.
pub fn variables_read(checked: &CheckedAst) -> Option<Vec<&str>> {
    let is_variables = |expr: Expr<'_>| expr.as_ident() == Some(VARIABLES_VARIABLE);
    let mut read = Vec::new();
    let mut mentioned = 0_usize;
    for expr in checked.ast().walk() {
        match expr.kind() {
            ExprKind::Select(select) if is_variables(select.operand) => read.push(select.field),
            _ if is_variables(expr) => mentioned = mentioned.saturating_add(1),
            _ => {}
        }
    }
    (mentioned == read.len()).then_some(read)
}

fn plan(env: &Env, checked: &CheckedAst) -> Result<Program, CompileError> {
    env.plan(checked)
        .map_err(|error| CompileError::internal(format!("program instantiation failed: {error}")))
}
