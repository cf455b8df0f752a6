//! The expressions of a policy that are type-checked. Validating and mutating policies share this representation.

use gavel_apimachinery::meta::GroupVersion;

use crate::api::{
    MatchResources, MutatingAdmissionPolicy, NamedRuleWithOperations, ParamKind,
    ValidatingAdmissionPolicy, Variable,
};
use crate::compiled_mutating::expression_of;
use crate::expression_kind::ExpressionKind;
use crate::resource::GroupVersionKind;

/// A policy to type-check. Convert it from a `&ValidatingAdmissionPolicy` or a `&MutatingAdmissionPolicy`.
#[derive(Debug)]
pub struct Subject<'p> {
    param_kind: Option<&'p ParamKind>,
    match_constraints: Option<&'p MatchResources>,
    pub(super) variables: &'p [Variable],
    /// All expressions except the variables, each with its field and its index in the field's list.
    pub(super) expressions: Vec<(Part, usize, &'p str)>,
}

/// The field of a policy that contains an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Variable,
    MatchCondition,
    Validation,
    Message,
    AuditAnnotation,
    ApplyConfiguration,
    JsonPatch,
}

impl Subject<'_> {
    /// The rules of the policy's match constraints.
    pub(super) fn rules(&self) -> impl Iterator<Item = &NamedRuleWithOperations> {
        let constraints = self.match_constraints.into_iter();
        constraints.flat_map(|constraints| &constraints.resource_rules)
    }

    /// The kind of the policy's params; `None` without a `paramKind` or if its `apiVersion` is invalid.
    pub(super) fn param_kind(&self) -> Option<GroupVersionKind> {
        let ParamKind { api_version, kind } = self.param_kind?;
        let GroupVersion { group, version } = GroupVersion::parse(api_version).ok()?;
        let named = GroupVersionKind {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        };
        (named != GroupVersionKind::default()).then_some(named)
    }
}

impl<'p> From<&'p ValidatingAdmissionPolicy> for Subject<'p> {
    fn from(policy: &'p ValidatingAdmissionPolicy) -> Self {
        let spec = &policy.spec;
        let mut expressions = Vec::new();
        for (n, validation) in spec.validations.iter().enumerate() {
            expressions.push((Part::Validation, n, validation.expression.as_str()));
            if !validation.message_expression.is_empty() {
                expressions.push((Part::Message, n, &validation.message_expression));
            }
        }
        for (n, condition) in spec.match_conditions.iter().enumerate() {
            expressions.push((Part::MatchCondition, n, &condition.expression));
        }
        for (n, annotation) in spec.audit_annotations.iter().enumerate() {
            expressions.push((Part::AuditAnnotation, n, &annotation.value_expression));
        }
        Subject {
            param_kind: spec.param_kind.as_ref(),
            match_constraints: spec.match_constraints.as_ref(),
            variables: &spec.variables,
            expressions,
        }
    }
}

impl<'p> From<&'p MutatingAdmissionPolicy> for Subject<'p> {
    fn from(policy: &'p MutatingAdmissionPolicy) -> Self {
        let spec = &policy.spec;
        let conditions = spec.match_conditions.iter().enumerate();
        let conditions =
            conditions.map(|(n, each)| (Part::MatchCondition, n, each.expression.as_str()));
        let mutations = spec.mutations.iter().enumerate();
        let mutations = mutations.filter_map(|(n, mutation)| {
            let (kind, text) = expression_of(mutation)?;
            let part = match kind {
                ExpressionKind::JsonPatch => Part::JsonPatch,
                _ => Part::ApplyConfiguration,
            };
            Some((part, n, text))
        });
        Subject {
            param_kind: spec.param_kind.as_ref(),
            match_constraints: spec.match_constraints.as_ref(),
            variables: &spec.variables,
            expressions: conditions.chain(mutations).collect(),
        }
    }
}

impl Part {
    /// The path of the expression with index `n`.
    pub(super) fn field(self, n: usize) -> String {
        let expression = match self {
            Part::Variable | Part::MatchCondition | Part::Validation => "expression",
            Part::Message => "messageExpression",
            Part::AuditAnnotation => "valueExpression",
            Part::ApplyConfiguration => "applyConfiguration.expression",
            Part::JsonPatch => "jsonPatch.expression",
        };
        format!("{}[{n}].{expression}", self.list())
    }

    /// The path of the list that contains the expressions.
    pub(super) fn list(self) -> &'static str {
        match self {
            Part::Variable => "spec.variables",
            Part::MatchCondition => "spec.matchConditions",
            Part::Validation | Part::Message => "spec.validations",
            Part::AuditAnnotation => "spec.auditAnnotations",
            Part::ApplyConfiguration | Part::JsonPatch => "spec.mutations",
        }
    }

    /// Whether the expressions are mutations.
    pub(super) fn is_mutation(self) -> bool {
        matches!(self, Part::ApplyConfiguration | Part::JsonPatch)
    }

    /// The key by which reports sort the expression with index `n`. The message expression of a validation comes directly after the
    /// validation.
    pub(super) fn order(self, n: usize) -> (usize, usize, usize) {
        match self {
            Part::Variable => (0, n, 0),
            Part::MatchCondition => (1, n, 0),
            Part::Validation | Part::ApplyConfiguration | Part::JsonPatch => (2, n, 0),
            Part::Message => (2, n, 1),
            Part::AuditAnnotation => (3, n, 0),
        }
    }
}
