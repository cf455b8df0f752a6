//! The two expressions of a definition's rule.

use gavel_crd::definition::RuleOutcome;
use gavel_crd::rule::Expression;
use gavel_engine::check::CheckedAst;
use gavel_schema::ValidationRule;

/// One of the two expressions of a definition's rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RulePart {
    /// The expression that must be true.
    Rule,
    /// The expression that computes the message.
    Message,
}

impl RulePart {
    /// Both expressions.
    pub(crate) const ALL: [RulePart; 2] = [RulePart::Rule, RulePart::Message];

    /// The key of the expression.
    pub(crate) fn key(self) -> &'static str {
        match self {
            RulePart::Rule => "rule",
            RulePart::Message => "messageExpression",
        }
    }

    /// The text of the expression; empty if it is absent.
    pub(crate) fn text(self, rule: &ValidationRule) -> &str {
        match self {
            RulePart::Rule => &rule.rule,
            RulePart::Message => &rule.message_expression,
        }
    }

    /// The compiled expression; `None` if it is absent or does not compile.
    pub(crate) fn compiled(self, outcome: &RuleOutcome) -> Option<&Expression> {
        match self {
            RulePart::Rule => outcome.compiled.rule.as_ref().ok()?.as_ref(),
            RulePart::Message => outcome.compiled.message.as_deref()?.as_ref().ok(),
        }
    }

    /// The checked expression; `None` if it is absent or does not compile.
    pub(crate) fn tree(self, outcome: &RuleOutcome) -> Option<&CheckedAst> {
        match self {
            RulePart::Rule => outcome.trees.rule.as_ref(),
            RulePart::Message => outcome.trees.message.as_ref(),
        }
    }

    /// The cost that an API server compares with the limit, in cost units; `None` if the expression is absent or does not compile. An API
    /// server multiplies the cost of a rule by the number of its nodes, but not the cost of a messageExpression.
    pub(crate) fn cost(self, outcome: &RuleOutcome) -> Option<u64> {
        let compiled = self.compiled(outcome)?;
        Some(match self {
            RulePart::Rule => outcome.cost,
            RulePart::Message => compiled.max_cost,
        })
    }

    /// How often an API server counts the expression for one object; `None` if the schema does not bound this number.
    pub(crate) fn cardinality(self, outcome: &RuleOutcome) -> Option<u64> {
        match self {
            RulePart::Rule => outcome.cardinality,
            RulePart::Message => Some(1),
        }
    }
}
