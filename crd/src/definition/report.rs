//! Reports the rules of a definition with outcome and cost, even if the definition has other errors.

use gavel_apimachinery::field::Path;
use gavel_schema::{JsonSchema, ValidationRule};

use super::Definition;
use super::schema::{Context, KeptRules, Step, TotalCost, rule_cost};
use crate::rule::{self, Age, CompiledRule, NodeType, RuleEnvs, RuleTrees};

/// The rules of a schema.
#[derive(Debug)]
pub struct SchemaReport<'d> {
    /// The version; `None` if all versions have this schema.
    pub version: Option<&'d str>,
    /// The path of the schema, such as `spec.versions[0].schema.openAPIV3Schema`.
    pub path: String,
    /// The rules; those of a node come before those of the nodes below it.
    pub rules: Vec<RuleReport<'d>>,
    /// The cost of all rules and message expressions, in cost units.
    pub total_cost: u64,
}

/// A rule.
#[derive(Debug)]
pub struct RuleReport<'d> {
    /// The path of the rule.
    pub path: String,
    /// The rule, as the definition contains it.
    pub rule: &'d ValidationRule,
    /// The schema of the node that has the rule.
    pub schema: &'d JsonSchema,
    /// The outcome of compiling the rule, even if the rule does not compile; or the reason why Gavel did not try to compile it.
    pub outcome: Result<RuleOutcome, String>,
}

/// The outcome of a rule.
#[derive(Debug)]
pub struct RuleOutcome {
    /// The rule, compiled.
    pub compiled: CompiledRule,
    /// The trees of the expressions.
    pub trees: RuleTrees,
    /// The type of the node that has the rule.
    pub node: NodeType,
    /// The maximum total cost of all evaluations of the rule in one object, in cost units.
    pub cost: u64,
    /// How often the node may occur in an object; `None` if the schema does not bound this number.
    pub cardinality: Option<u64>,
    /// How often the node may occur in a request of the maximum size.
    pub cardinality_of_request: u64,
}

impl Definition {
    /// Compiles all rules and reports each rule. `age` says whether the rules are new or stored.
    pub fn rules(&self, envs: &RuleEnvs, age: Age) -> Vec<SchemaReport<'_>> {
        self.rules_of(envs, age, &KeptRules::default())
    }

    /// Like [`Definition::rules`], but uses the compiled rules in `kept` instead of compiling them again.
    pub(super) fn rules_of(
        &self,
        envs: &RuleEnvs,
        age: Age,
        kept: &KeptRules,
    ) -> Vec<SchemaReport<'_>> {
        let report = |schema, version, path: &Path<'_>| {
            let walk = ReportWalk {
                envs,
                age,
                kept,
                rules: Vec::new(),
                total: TotalCost::default(),
            };
            walk.report(schema, version, path)
        };
        let shared = self.shared();
        let spec = Path::new("spec");
        let mut reports = Vec::new();
        let common = shared.validation.common;
        if let Some(schema) = common.and_then(|validation| validation.schema.as_deref()) {
            let path = spec.child("validation");
            let path = path.child("openAPIV3Schema");
            reports.push(report(schema, None, &path));
        }
        let versions = spec.child("versions");
        for (n, version) in self.spec.versions.iter().enumerate() {
            let own = shared.validation.own(version.schema.as_ref());
            if let Some(schema) = own.and_then(|validation| validation.schema.as_deref()) {
                let path = versions.index(n);
                let path = path.child("schema");
                let path = path.child("openAPIV3Schema");
                reports.push(report(schema, Some(&version.name), &path));
            }
        }
        reports
    }
}

struct ReportWalk<'w, 'd> {
    envs: &'w RuleEnvs,
    age: Age,
    kept: &'w KeptRules,
    rules: Vec<RuleReport<'d>>,
    total: TotalCost,
}

impl<'d> ReportWalk<'_, 'd> {
    fn report(
        mut self,
        schema: &'d JsonSchema,
        version: Option<&'d str>,
        path: &Path<'_>,
    ) -> SchemaReport<'d> {
        let context = Context::root(schema, self.envs.server());
        self.node(schema, path, Ok(&context));
        SchemaReport {
            version,
            path: path.to_string(),
            rules: self.rules,
            total_cost: self.total.total,
        }
    }

    /// Reports the rules of a node and of the nodes below it. `context` is the position of the node in the schema. Rules under `allOf`,
    /// `anyOf`, `oneOf` and `not` are not compiled: for their nodes, `context` is an error with the key, such as `not`.
    fn node(
        &mut self,
        schema: &'d JsonSchema,
        path: &Path<'_>,
        context: Result<&Context<'_>, &'static str>,
    ) {
        if !schema.validations.is_empty() {
            self.rules(schema, &path.child("x-kubernetes-validations"), context);
        }
        if let Some(value) = schema.value() {
            let path = path.child("additionalProperties");
            let child = context.map(|context| context.child(Step::Value, value));
            self.node(value, &path, child.as_ref().map_err(|junctor| *junctor));
        }
        let properties = path.child("properties");
        for (name, property) in &schema.properties {
            let path = properties.key(name);
            let child = context.map(|context| context.child(Step::Property(name), property));
            self.node(property, &path, child.as_ref().map_err(|junctor| *junctor));
        }
        if let Some(not) = &schema.combinations.not {
            self.node(not, &path.child("not"), Err("not"));
        }
        for (name, schemas) in [
            ("allOf", &schema.combinations.all_of),
            ("oneOf", &schema.combinations.one_of),
            ("anyOf", &schema.combinations.any_of),
        ] {
            let path = path.child(name);
            for (n, schema) in schemas.iter().enumerate() {
                self.node(schema, &path.index(n), Err(name));
            }
        }
        if let Some(item) = schema.item() {
            let path = path.child("items");
            let child = context.map(|context| context.child(Step::Item, item));
            self.node(item, &path, child.as_ref().map_err(|junctor| *junctor));
        }
    }

    fn rules(
        &mut self,
        schema: &'d JsonSchema,
        path: &Path<'_>,
        context: Result<&Context<'_>, &'static str>,
    ) {
        let node = context
            .map_err(|junctor| format!("CRD validation does not compile rules inside {junctor}"))
            .and_then(|context| Ok((context, context.node_type()?)));
        let (context, node) = match node {
            Ok(found) => found,
            Err(error) => {
                for (n, rule) in schema.validations.iter().enumerate() {
                    self.rules.push(RuleReport {
                        path: path.index(n).to_string(),
                        rule,
                        schema,
                        outcome: Err(error.clone()),
                    });
                }
                return;
            }
        };
        let age = self.age;
        let compiled = self
            .kept
            .take(path)
            .unwrap_or_else(|| rule::compile_with_trees(schema, node, self.envs, |_| (age, age)));
        let cardinality_of_request = rule::max_cardinality(node);
        let cardinality = context.cardinality();
        let rules = schema.validations.iter().zip(compiled);
        for (n, (rule, (compiled, trees))) in rules.enumerate() {
            let path = path.index(n);
            let cost = rule_cost(&compiled, cardinality.unwrap_or(cardinality_of_request));
            self.total.add(&path.child("rule"), cost);
            if let Some(Ok(message)) = compiled.message.as_deref() {
                self.total
                    .add(&path.child("messageExpression"), message.max_cost);
            }
            self.rules.push(RuleReport {
                path: path.to_string(),
                rule,
                schema,
                outcome: Ok(RuleOutcome {
                    compiled,
                    trees,
                    node: node.clone(),
                    cost,
                    cardinality,
                    cardinality_of_request,
                }),
            });
        }
    }
}
