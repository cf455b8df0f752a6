//! Compiled policies (apiserver `pkg/admission/plugin/policy/validating/plugin.go`, `compilePolicy`).

use std::borrow::Cow;

use gavel_engine::env::Env;

use crate::api::{ValidatingAdmissionPolicy, Validation};
use crate::cel::{
    AUTHORIZER, CompileError, CompiledVariables, Compiler, Declarations, Expression,
    ExpressionKind, NAMESPACE_OBJECT, REQUEST_RESOURCE, REQUEST_VARIABLE,
};
use crate::hooks::Bounds;
use crate::matching::{Constraints, Matcher};
use crate::shared::Shared;

/// A policy with its compiled expressions. An invalid expression affects only the expressions that depend on it.
#[derive(Debug)]
pub struct CompiledPolicy {
    policy: ValidatingAdmissionPolicy,
    /// Which of the optional inputs the policy's expressions read.
    reads: Reads,
    failure_policy: FailurePolicy,
    pub(crate) matcher: Matcher,
    pub(crate) variables: CompiledVariables,
    pub(crate) match_conditions: Vec<Expression>,
    pub(crate) validations: Vec<Expression>,
    /// The compiled messageExpressions of the validations; `None` for validations without one. Empty if no validation has one.
    pub(crate) messages: Vec<Option<Expression>>,
    pub(crate) audit_annotations: Vec<Expression>,
}

/// Whether expressions read these inputs. An input is built only if an expression reads it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reads {
    /// `request`
    pub(crate) request: bool,
    /// `authorizer` or `authorizer.requestResource`
    pub(crate) authorizer: bool,
    /// `namespaceObject`
    pub(crate) namespace: bool,
}

/// The failure policy, which decides about a request if the policy fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The request is denied.
    Fail,
    /// The policy is ignored.
    Ignore,
    /// A value that Kubernetes does not define. Only policies that were not validated can have such a value.
    Unknown(String),
}

/// An expression of a policy that does not compile. Prints the path of the expression and the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", self.path(), self.error.message)]
pub struct PolicyError<'a> {
    /// The field of `spec` that lists the expression, such as `validations`.
    pub list: &'static str,
    /// The index of the expression's item in that list.
    pub index: usize,
    /// The field of the list item, such as `expression`.
    pub field: &'static str,
    /// The error.
    pub error: &'a CompileError,
}

impl PolicyError<'_> {
    /// The path of the expression: `spec.validations[0].expression`.
    pub fn path(&self) -> String {
        format!("spec.{}[{}].{}", self.list, self.index, self.field)
    }
}

impl Reads {
    /// Determines which inputs the expressions read. If two variables have the same name, marks all expressions as dependent on params: a
    /// program may then read a variable other than the one it was compiled with.
    pub(crate) fn of<'e>(
        variables: &'e mut CompiledVariables,
        expressions: impl Iterator<Item = &'e mut Expression>,
    ) -> Self {
        let repeated = variables.has_repeated_names();
        let mut reads = Reads::default();
        for expression in variables.expressions_mut().chain(expressions) {
            expression.reads_params |= repeated;
            if let Ok(program) = expression.program() {
                reads.request |= program.reads(REQUEST_VARIABLE);
                reads.authorizer |= program.reads(AUTHORIZER) || program.reads(REQUEST_RESOURCE);
                reads.namespace |= program.reads(NAMESPACE_OBJECT);
            }
        }
        reads
    }
}

impl FailurePolicy {
    /// Parses `failurePolicy`; absent means `Fail`.
    pub(crate) fn read(text: Option<&str>) -> Self {
        match text {
            None | Some("Fail") => FailurePolicy::Fail,
            Some("Ignore") => FailurePolicy::Ignore,
            Some(unknown) => FailurePolicy::Unknown(unknown.to_owned()),
        }
    }
}

impl Bounds for CompiledPolicy {
    fn matcher(&self) -> &Matcher {
        &self.matcher
    }
}

impl CompiledPolicy {
    /// Compiles a policy whose defaults are set. `base` is a Kubernetes environment. Use the environment for stored expressions to evaluate
    /// the policy, and the one for new expressions to validate a policy before it is stored.
    pub fn new(policy: ValidatingAdmissionPolicy, base: &Env) -> Self {
        Self::compile(policy, &Compiler::with_variables(base), &Shared::default())
    }

    /// Compiles a policy with a shared compiler that has no variables. A policy with variables is compiled with a copy of the compiler.
    pub(crate) fn compile(
        policy: ValidatingAdmissionPolicy,
        compiler: &Compiler,
        constraints: &Shared<Constraints>,
    ) -> Self {
        let spec = &policy.spec;
        let expressions = Declarations::with_authorizer(spec.param_kind.is_some());
        let messages = Declarations {
            authorizer: false,
            ..expressions
        };
        let mut compiler = Cow::Borrowed(compiler);
        let variables = CompiledVariables::compile_all(&spec.variables, &mut compiler, expressions);
        let compile = |kind, text: &str| compiler.compile(kind, text, expressions);
        let has_message_expression = |each: &Validation| !each.message_expression.is_empty();
        let message = |each: &Validation| {
            let text = &each.message_expression;
            has_message_expression(each)
                .then(|| compiler.compile(ExpressionKind::Message, text, messages))
        };
        let match_conditions = spec.match_conditions.iter();
        let validations = spec.validations.iter();
        let audit_annotations = spec.audit_annotations.iter();
        let mut compiled = CompiledPolicy {
            reads: Reads::default(),
            failure_policy: FailurePolicy::read(spec.failure_policy.as_deref()),
            matcher: Matcher::shared(spec.match_constraints.as_ref(), constraints),
            variables,
            match_conditions: match_conditions
                .map(|each| compile(ExpressionKind::MatchCondition, &each.expression))
                .collect(),
            messages: match validations.clone().any(has_message_expression) {
                false => Vec::new(),
                true => validations.clone().map(message).collect(),
            },
            validations: validations
                .map(|each| compile(ExpressionKind::Validation, &each.expression))
                .collect(),
            audit_annotations: audit_annotations
                .map(|each| compile(ExpressionKind::AuditAnnotation, &each.value_expression))
                .collect(),
            policy,
        };
        let expressions = compiled.match_conditions.iter_mut();
        let expressions = expressions
            .chain(&mut compiled.validations)
            .chain(compiled.messages.iter_mut().flatten())
            .chain(&mut compiled.audit_annotations);
        compiled.reads = Reads::of(&mut compiled.variables, expressions);
        compiled
    }

    /// Which of the optional inputs the policy's expressions read.
    pub(crate) fn reads(&self) -> Reads {
        self.reads
    }

    /// Whether an expression reads `authorizer`.
    pub fn reads_authorizer(&self) -> bool {
        self.reads.authorizer
    }

    /// The name of the policy.
    pub fn name(&self) -> &str {
        &self.policy.metadata.name
    }

    /// The policy as the API object.
    pub fn policy(&self) -> &ValidatingAdmissionPolicy {
        &self.policy
    }

    /// The failure policy.
    pub fn failure_policy(&self) -> &FailurePolicy {
        &self.failure_policy
    }

    /// The expressions that do not compile: variables first, then match conditions, validations, message expressions and audit annotations.
    pub fn errors<'a>(&'a self) -> Vec<PolicyError<'a>> {
        let mut errors = Vec::new();
        let mut look =
            |list: &'static str, index, field: &'static str, expression: &'a Expression| {
                if let Err(error) = expression.program() {
                    errors.push(PolicyError {
                        list,
                        index,
                        field,
                        error,
                    });
                }
            };
        for (n, variable) in self.variables.iter().enumerate() {
            look("variables", n, "expression", &variable.expression);
        }
        for (n, expression) in self.match_conditions.iter().enumerate() {
            look("matchConditions", n, "expression", expression);
        }
        for (n, expression) in self.validations.iter().enumerate() {
            look("validations", n, "expression", expression);
        }
        for (n, expression) in self.messages.iter().enumerate() {
            if let Some(expression) = expression {
                look("validations", n, "messageExpression", expression);
            }
        }
        for (n, expression) in self.audit_annotations.iter().enumerate() {
            look("auditAnnotations", n, "valueExpression", expression);
        }
        errors
    }
}
