//! The compilation of rules (apiextensions-apiserver `pkg/apiserver/schema/cel/compilation.go`).

use gavel_engine::check::CheckedAst;
use gavel_engine::env::Env;
use gavel_engine::estimate::estimate;
use gavel_engine::program::Program;
use gavel_engine::types::Type;
use gavel_schema::cel::MAX_REQUEST_SIZE;
use gavel_schema::{JsonSchema, ValidationRule};

use super::envs::{NodeEnvs, OLD_SELF};
use super::{Age, Brackets, FieldPath, NodeType, RuleEnvs};

/// A compiled rule.
#[derive(Debug)]
pub struct CompiledRule {
    /// The expression that must be true, or Kubernetes' error if the expression does not compile; `None` if the rule is blank.
    pub rule: Result<Option<Expression>, RuleError>,
    /// The message expression, or the error of compiling it. `None` if the rule has no message expression, or if the rule itself is blank
    /// or does not compile.
    pub message: Option<Box<Result<Expression, RuleError>>>,
    /// Whether the rule reads `oldSelf`. Without an old value, such a transition rule is only evaluated if it sets `optionalOldSelf: true`.
    pub uses_old_self: bool,
    /// The rule's `fieldPath`: the field below the node at which the rule's errors are reported. `None` if the rule has no valid
    /// `fieldPath`, or if the rule or its message expression does not compile.
    pub field_path: Option<FieldPath>,
}

/// The error of an expression that does not compile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RuleError {
    /// The message, in Kubernetes' words.
    pub message: String,
    /// The line and column in the expression, both from 1; `None` if the error concerns the whole expression.
    pub position: Option<(u32, u32)>,
}

impl From<String> for RuleError {
    fn from(message: String) -> Self {
        RuleError {
            message,
            position: None,
        }
    }
}

/// A compiled expression.
#[derive(Debug)]
pub struct Expression {
    /// The program.
    pub program: Program,
    /// The estimated maximum cost of one evaluation, in cost units.
    pub max_cost: u64,
}

/// Compiles the rules of a node, with one result per rule. `ages` returns two ages for each rule: that of the rule and that of its message
/// expression.
///
/// ```
/// use gavel_apimachinery::server::Server;
/// use gavel_crd::rule::{self, Age, NodeType, RuleEnvs};
/// use gavel_schema::JsonSchema;
/// use serde_json::json;
///
/// let schema: JsonSchema = serde_json::from_value(json!({
///     "type": "string",
///     "maxLength": 10,
///     "x-kubernetes-validations": [{"rule": "self.startsWith('a')"}, {"rule": "self == oldSelf"}, {"rule": "self > 1"}],
/// }))?;
/// let envs = RuleEnvs::new("1.36".parse::<Server>()?.compatible())?;
/// let node = NodeType::of(&schema, false, envs.server()).expect("a string has a type");
/// let rules = rule::compile(&schema, &node, &envs, |_| (Age::Stored, Age::Stored));
/// let results: Vec<_> = rules.iter().map(|rule| (rule.rule.is_ok(), rule.uses_old_self)).collect();
/// assert_eq!(results, [(true, false), (true, true), (false, false)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compile(
    schema: &JsonSchema,
    node: &NodeType,
    envs: &RuleEnvs,
    ages: impl Fn(&ValidationRule) -> (Age, Age),
) -> Vec<CompiledRule> {
    let rules = compile_with_trees(schema, node, envs, ages).into_iter();
    rules.map(|(compiled, _)| compiled).collect()
}

/// The expressions of a rule, parsed and checked, for tools that read their trees.
#[derive(Debug, Default)]
pub struct RuleTrees {
    /// The expression that must be true; `None` if the rule is blank or cannot be parsed and checked.
    pub rule: Option<CheckedAst>,
    /// The message expression. `None` if the rule has no message expression, if the rule does not compile, or if the message expression
    /// cannot be parsed and checked.
    pub message: Option<CheckedAst>,
}

/// Like [`compile`], but also returns the trees of the expressions.
pub(crate) fn compile_with_trees(
    schema: &JsonSchema,
    node: &NodeType,
    envs: &RuleEnvs,
    ages: impl Fn(&ValidationRule) -> (Age, Age),
) -> Vec<(CompiledRule, RuleTrees)> {
    let compiler = RuleCompiler {
        schema,
        node,
        envs: NodeEnvs::new(envs, node),
    };
    let rules = schema.validations.iter();
    rules
        .map(|rule| {
            let mut trees = RuleTrees::default();
            (compiler.compile(rule, ages(rule), &mut trees), trees)
        })
        .collect()
}

/// How often a node may occur in a request of the maximum size.
pub fn max_cardinality(node: &NodeType) -> u64 {
    let with_comma = node.schema().min_serialized_size().saturating_add(1);
    MAX_REQUEST_SIZE.checked_div(with_comma).unwrap_or(0)
}

struct RuleCompiler<'c> {
    schema: &'c JsonSchema,
    node: &'c NodeType,
    envs: NodeEnvs<'c>,
}

impl RuleCompiler<'_> {
    fn compile(
        &self,
        rule: &ValidationRule,
        (age, message_age): (Age, Age),
        trees: &mut RuleTrees,
    ) -> CompiledRule {
        let mut compiled = CompiledRule {
            rule: Ok(None),
            message: None,
            uses_old_self: false,
            field_path: None,
        };
        if rule.rule.trim().is_empty() {
            return compiled;
        }
        let optional = rule.optional_old_self == Some(true);
        let (rule_text, tree) = (rule.rule.as_str(), &mut trees.rule);
        let planned = self.expression(rule_text, age, optional, &RULE, tree);
        compiled.uses_old_self = tree.as_ref().is_some_and(uses_old_self);
        compiled.rule = planned.map(Some);
        if compiled.rule.is_err() {
            return compiled;
        }
        if !rule.message_expression.is_empty() {
            let (text, tree) = (rule.message_expression.as_str(), &mut trees.message);
            let message = self.expression(text, message_age, optional, &MESSAGE, tree);
            let is_err = message.is_err();
            compiled.message = Some(Box::new(message));
            if is_err {
                return compiled;
            }
        }
        if !rule.field_path.is_empty() {
            let resolved = FieldPath::resolve(&rule.field_path, self.schema, Brackets::Allowed);
            compiled.field_path = resolved.ok().map(|(path, _)| path);
        }
        compiled
    }

    /// Compiles an expression, and stores its tree in `tree`.
    fn expression(
        &self,
        text: &str,
        age: Age,
        optional: bool,
        role: &Role,
        tree: &mut Option<CheckedAst>,
    ) -> Result<Expression, RuleError> {
        let checked = tree.insert(self.check(text, age, optional, role)?);
        self.plan(checked, age, optional, role)
    }

    fn check(
        &self,
        text: &str,
        age: Age,
        optional: bool,
        role: &Role,
    ) -> Result<CheckedAst, RuleError> {
        let checked = self
            .env(age, optional)?
            .compile(text)
            .map_err(|issues| RuleError {
                message: format!("{}compilation failed: {issues}", role.prefix),
                position: issues.position(),
            })?;
        match *checked.output_type() == role.ty {
            true => Ok(checked),
            false => Err(role.wrong_type.to_owned().into()),
        }
    }

    fn plan(
        &self,
        checked: &CheckedAst,
        age: Age,
        optional: bool,
        role: &Role,
    ) -> Result<Expression, RuleError> {
        let program = self
            .env(age, optional)?
            .plan(checked)
            .map_err(|error| format!("{}instantiation failed: {error}", role.instance))?;
        Ok(Expression {
            program,
            max_cost: estimate(checked, self.node.schema()).max,
        })
    }

    fn env(&self, age: Age, optional: bool) -> Result<&Env, RuleError> {
        let env = self.envs.get(age, optional);
        env.map_err(|error| error.to_string().into())
    }
}

/// The role of an expression: the type that it must have, and how error messages name it.
struct Role {
    ty: Type,
    prefix: &'static str,
    instance: &'static str,
    wrong_type: &'static str,
}

const RULE: Role = Role {
    ty: Type::Bool,
    prefix: "",
    instance: "program ",
    wrong_type: "cel expression must evaluate to a bool",
};

const MESSAGE: Role = Role {
    ty: Type::String,
    prefix: "messageExpression ",
    instance: "messageExpression ",
    wrong_type: "messageExpression must evaluate to a string",
};

/// Whether the name `oldSelf` occurs in an expression, even as a loop variable.
fn uses_old_self(checked: &CheckedAst) -> bool {
    checked.uses_variable(OLD_SELF)
}
