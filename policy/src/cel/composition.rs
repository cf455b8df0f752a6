//! Compiles expressions one by one and evaluates them together (apiserver `pkg/admission/plugin/cel`). Hosts use this module to implement
//! the rest of admission themselves.

use gavel_engine::env::Env;
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Value};

use super::compile::{CompileError, Compiler, Expression};
use super::environment::Declarations;
use super::evaluate::{Group, Outcome};
use super::inputs::{Inputs, TypedInputs};
use super::runner::Runner;
use super::variables::{CompiledVariable, CompiledVariables};
use crate::expression_kind::ExpressionKind;

/// Compiles expressions together with the `variables` that they can read, and evaluates them with a shared budget.
///
/// ```
/// use gavel_engine::value::{Arena, Value};
/// use gavel_libraries::EnvSet;
/// use gavel_policy::cel::{Bindings, Composition, Declarations};
/// use serde_json::json;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let kubernetes = EnvSet::new("1.36".parse()?)?;
/// let mut composition = Composition::new(kubernetes.new_expressions(), true);
/// composition.variable("name", "object.metadata.name", Declarations::default()).expect("it compiles");
/// let (expression, ty) = composition.compile("variables.name == 'a'", Declarations::default());
/// assert_eq!(ty.to_string(), "bool");
///
/// let object = json!({"metadata": {"name": "a"}});
/// let bindings = Bindings { object: Value::from(&object), ..Bindings::default() };
/// let arena = Arena::new();
/// let mut budget = 10;
/// let outcomes = composition.evaluate(&[Some(&expression)], &bindings, None, &mut budget, &arena);
/// assert_eq!(outcomes.and_then(|all| all[0].as_ref()?.as_ref().ok()?.as_bool()), Some(true));
/// assert_eq!(budget, 4);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Composition {
    compiler: Compiler,
    variables: CompiledVariables,
}

/// The values of the variables that Kubernetes declares, such as `object`. Unset values are null.
#[derive(Debug, Clone, Copy)]
pub struct Bindings<'a> {
    /// `object`
    pub object: Value<'a>,
    /// `oldObject`
    pub old_object: Value<'a>,
    /// `request`
    pub request: Value<'a>,
    /// `params`
    pub params: Value<'a>,
    /// `namespaceObject`
    pub namespace_object: Value<'a>,
    /// `authorizer` and `authorizer.requestResource`, if they are bound.
    pub authorizer: Option<(Value<'a>, Value<'a>)>,
}

impl Default for Bindings<'_> {
    fn default() -> Self {
        Bindings {
            object: Value::NULL,
            old_object: Value::NULL,
            request: Value::NULL,
            params: Value::NULL,
            namespace_object: Value::NULL,
            authorizer: None,
        }
    }
}

impl Composition {
    /// A composition without variables yet. `base` is a Kubernetes environment for either new or stored expressions. If `variables` is
    /// true, expressions can read the CEL variable `variables`, as in policies; webhooks have no such variable.
    pub fn new(base: &Env, variables: bool) -> Self {
        Composition {
            compiler: match variables {
                true => Compiler::with_variables(base),
                false => Compiler::new(base),
            },
            variables: CompiledVariables::default(),
        }
    }

    /// Compiles a variable, declares it for later expressions, and returns its type.
    ///
    /// # Errors
    ///
    /// The variable does not compile. It is still declared; expressions that read it fail at evaluation.
    pub fn variable(
        &mut self,
        name: &str,
        text: &str,
        declarations: Declarations,
    ) -> Result<Type, CompileError> {
        let (expression, ty) = self
            .compiler
            .compile_typed_variable(name, text, declarations);
        let failure = expression.program().err().cloned();
        self.variables.push(CompiledVariable {
            name: name.into(),
            expression,
        });
        failure.map_or(Ok(ty), Err)
    }

    /// Compiles an expression, which may have any type, and returns it with its type.
    pub fn compile(&self, text: &str, declarations: Declarations) -> (Expression, Type) {
        self.compiler.compile_typed(text, declarations)
    }

    /// Evaluates expressions of this composition in order; absent expressions have no result. The costs of the expressions and of the
    /// variables that they read are subtracted from the budget, in cost units. Returns `None` if the budget is exceeded.
    pub fn evaluate<'a>(
        &'a self,
        expressions: &[Option<&'a Expression>],
        bindings: &Bindings<'a>,
        interrupt: Option<&'a (dyn Fn() -> bool + Sync)>,
        budget: &mut i64,
        arena: &'a Arena,
    ) -> Option<&'a [Outcome<'a>]> {
        let runner = Runner {
            arena,
            interrupt,
            follower: None,
        };
        let values = arena.bump().alloc(Inputs {
            object: bindings.object,
            old_object: bindings.old_object,
            request: bindings.request,
            original_request: bindings.request,
            namespace_object: bindings.namespace_object,
            whole_namespace: bindings.namespace_object,
            authorizer: bindings.authorizer,
        });
        let inputs = TypedInputs {
            values,
            types: None,
        };
        let all = expressions.iter().copied();
        let kind = ExpressionKind::Validation;
        let group = Group::new(kind, 0, &self.variables, inputs, runner);
        group.evaluate(all, bindings.params, &runner, budget).ok()
    }
}
