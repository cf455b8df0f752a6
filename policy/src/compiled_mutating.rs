//! Compiled mutating policies (apiserver `pkg/admission/plugin/policy/mutating/compilation.go`).

use std::borrow::Cow;

use gavel_engine::env::Env;

use crate::api::{MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, Mutation};
use crate::cel::{CompiledVariables, Compiler, Declarations, Expression, ExpressionKind};
use crate::compiled::{FailurePolicy, PolicyError, Reads};
use crate::hooks::{Bound, Bounds};
use crate::matching::Matcher;
use crate::params::ParamSelection;

/// A mutating policy with its compiled expressions.
#[derive(Debug)]
pub struct CompiledMutatingPolicy {
    policy: MutatingAdmissionPolicy,
    failure_policy: FailurePolicy,
    pub(crate) reads: Reads,
    pub(crate) matcher: Matcher,
    pub(crate) variables: CompiledVariables,
    pub(crate) match_conditions: Vec<Expression>,
    /// The mutations that have an expression.
    pub(crate) mutations: Vec<CompiledMutation>,
}

/// A mutation with its expression compiled.
#[derive(Debug)]
pub(crate) struct CompiledMutation {
    /// The index in the policy's list of mutations.
    index: usize,
    pub(crate) expression: Expression,
}

/// A compiled binding of a mutating policy.
#[derive(Debug)]
pub struct CompiledMutatingBinding {
    binding: MutatingAdmissionPolicyBinding,
    pub(crate) matcher: Matcher,
    pub(crate) params: Option<ParamSelection>,
}

impl CompiledMutatingPolicy {
    /// Compiles a policy whose defaults are set. `base` is a Kubernetes environment, as for
    /// [`CompiledPolicy::new`](crate::CompiledPolicy::new).
    pub fn new(policy: MutatingAdmissionPolicy, base: &Env) -> Self {
        Self::compile(policy, &Compiler::with_variables(base))
    }

    /// Compiles a policy with a shared compiler that has no variables. A policy with variables is compiled with a copy of the compiler.
    pub(crate) fn compile(policy: MutatingAdmissionPolicy, compiler: &Compiler) -> Self {
        let spec = &policy.spec;
        let declarations = Declarations::with_authorizer(spec.param_kind.is_some());
        let with_patch_types = Declarations {
            patch_types: true,
            ..declarations
        };
        let mut compiler = Cow::Borrowed(compiler);
        let mut variables =
            CompiledVariables::compile_all(&spec.variables, &mut compiler, declarations);
        let condition = ExpressionKind::MatchCondition;
        let conditions = spec.match_conditions.iter();
        let mut match_conditions: Vec<Expression> = conditions
            .map(|each| compiler.compile(condition, &each.expression, declarations))
            .collect();
        let mut mutations = Vec::with_capacity(spec.mutations.len());
        for (index, mutation) in spec.mutations.iter().enumerate() {
            if let Some((kind, text)) = expression_of(mutation) {
                let expression = compiler.compile(kind, text, with_patch_types);
                mutations.push(CompiledMutation { index, expression });
            }
        }
        let changes = mutations.iter_mut().map(|each| &mut each.expression);
        let reads = Reads::of(&mut variables, match_conditions.iter_mut().chain(changes));
        CompiledMutatingPolicy {
            failure_policy: FailurePolicy::read(spec.failure_policy.as_deref()),
            matcher: Matcher::new(spec.match_constraints.as_ref()),
            reads,
            variables,
            match_conditions,
            mutations,
            policy,
        }
    }

    /// The name of the policy.
    pub fn name(&self) -> &str {
        &self.policy.metadata.name
    }

    /// The policy as the API object.
    pub fn policy(&self) -> &MutatingAdmissionPolicy {
        &self.policy
    }

    /// The failure policy.
    pub fn failure_policy(&self) -> &FailurePolicy {
        &self.failure_policy
    }

    /// Whether the policy is evaluated again if a later policy changes the object.
    pub(crate) fn is_reinvoked(&self) -> bool {
        self.policy.spec.reinvocation_policy == "IfNeeded"
    }

    /// The expressions that do not compile: variables first, then match conditions and mutations.
    pub fn errors(&self) -> Vec<PolicyError<'_>> {
        let variables = self.variables.iter().enumerate();
        let variables = variables.map(|(n, each)| ("variables", n, &each.expression));
        let conditions = self.match_conditions.iter().enumerate();
        let conditions = conditions.map(|(n, each)| ("matchConditions", n, each));
        let mutations = self.mutations.iter();
        let mutations = mutations.map(|each| ("mutations", each.index, &each.expression));
        let expressions = variables.chain(conditions).chain(mutations);
        let errors = expressions.filter_map(|(list, index, expression)| {
            Some(PolicyError {
                list,
                index,
                field: match expression.kind {
                    ExpressionKind::JsonPatch => "jsonPatch.expression",
                    ExpressionKind::ApplyConfiguration => "applyConfiguration.expression",
                    _ => "expression",
                },
                error: expression.program().err()?,
            })
        });
        errors.collect()
    }
}

/// The kind and the text of a mutation's expression; `None` if the field that `patchType` requires is absent.
pub(crate) fn expression_of(mutation: &Mutation) -> Option<(ExpressionKind, &str)> {
    match mutation.patch_type.as_str() {
        "JSONPatch" => {
            let patch = mutation.json_patch.as_ref()?;
            Some((ExpressionKind::JsonPatch, &patch.expression))
        }
        "ApplyConfiguration" => {
            let configuration = mutation.apply_configuration.as_ref()?;
            Some((
                ExpressionKind::ApplyConfiguration,
                &configuration.expression,
            ))
        }
        _ => None,
    }
}

impl CompiledMutatingBinding {
    /// Compiles a binding whose defaults are set.
    pub fn new(binding: MutatingAdmissionPolicyBinding) -> Self {
        let spec = &binding.spec;
        CompiledMutatingBinding {
            matcher: Matcher::new(spec.match_resources.as_ref()),
            params: spec.param_ref.as_ref().map(ParamSelection::new),
            binding,
        }
    }

    /// The name of the binding.
    pub fn name(&self) -> &str {
        &self.binding.metadata.name
    }

    /// The binding as the API object.
    pub fn binding(&self) -> &MutatingAdmissionPolicyBinding {
        &self.binding
    }
}

impl Bounds for CompiledMutatingPolicy {
    fn matcher(&self) -> &Matcher {
        &self.matcher
    }
}

impl Bound for CompiledMutatingBinding {
    fn policy_name(&self) -> &str {
        &self.binding.spec.policy_name
    }
}
