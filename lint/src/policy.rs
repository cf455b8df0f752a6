//! The problems of policies, without the problems that are found by schemas.

use std::collections::{BTreeMap, BTreeSet};

use gavel_engine::ast::{Constant, Expr, ExprKind, operators};
use gavel_engine::check::CheckedAst;
use gavel_manifest::{Document, Problem};
use gavel_policy::api::{
    MatchCondition, MatchResources, MutatingAdmissionPolicy, MutatingAdmissionPolicySpec,
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicySpec, Variable,
};
use gavel_policy::cel::{Compiler, Declarations, variables_read};

use crate::context::Linter;
use crate::expressions::path::{Aliases, Reads};
use crate::expressions::{Distinct, Subject, problem, shown, without_copy, without_item};
use crate::messages::check_message;
use crate::rules::{DUPLICATE_VALIDATION, OBJECT_ON_DELETE, OLD_OBJECT_ON_CREATE, UNUSED_VARIABLE};

/// The role of a policy's expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Variable,
    MatchCondition,
    Validation,
    Message,
    AuditAnnotation,
    Mutation,
}

/// An expression of a policy.
struct Part {
    role: Role,
    field: String,
    /// The checked expression; `None` if it does not compile.
    checked: Option<CheckedAst>,
}

/// The expressions of a policy that may distinguish the kinds that it matches.
pub(crate) struct Texts<'p> {
    pub(crate) variables: &'p [Variable],
    conditions: &'p [MatchCondition],
    /// The expressions of validations and mutations, by field.
    others: BTreeMap<String, &'p str>,
}

impl Texts<'_> {
    /// Whether `test` is true for an expression that decides whether the expression of a field is evaluated, or for the expression itself.
    pub(crate) fn any_before(&self, field: &str, test: impl Fn(&str) -> bool) -> bool {
        let variables = self.variables.iter().map(|each| &*each.expression);
        let conditions = self.conditions.iter().map(|each| &*each.expression);
        let own = self.others.get(field).copied();
        variables.chain(conditions).chain(own).any(test)
    }
}

/// The expressions of a validating policy, except `messageExpression` and audit annotations.
pub(crate) fn texts_of_validating(spec: &ValidatingAdmissionPolicySpec) -> Texts<'_> {
    let validations = spec.validations.iter().enumerate();
    let validations = validations.map(|(n, each)| {
        let field = format!("spec.validations[{n}].expression");
        (field, &*each.expression)
    });
    Texts {
        variables: &spec.variables,
        conditions: &spec.match_conditions,
        others: validations.collect(),
    }
}

/// The expressions of a mutating policy.
pub(crate) fn texts_of_mutating(spec: &MutatingAdmissionPolicySpec) -> Texts<'_> {
    let mutations = spec.mutations.iter().enumerate();
    let mutations = mutations.flat_map(|(n, each)| {
        let field = |name| format!("spec.mutations[{n}].{name}.expression");
        let configuration = each.apply_configuration.as_ref();
        let configuration =
            configuration.map(|each| (field("applyConfiguration"), &*each.expression));
        let patch = each.json_patch.as_ref();
        let patch = patch.map(|each| (field("jsonPatch"), &*each.expression));
        configuration.into_iter().chain(patch)
    });
    Texts {
        variables: &spec.variables,
        conditions: &spec.match_conditions,
        others: mutations.collect(),
    }
}

/// Reports the problems of a validating policy.
pub(crate) fn check_validating(
    linter: &Linter,
    document: &Document,
    policy: &ValidatingAdmissionPolicy,
    refused: &[&str],
    problems: &mut Vec<Problem>,
) {
    let spec = &policy.spec;
    let declarations = Declarations::with_authorizer(spec.param_kind.is_some());
    let mut parts = Parts::new(
        linter,
        declarations,
        &spec.variables,
        &spec.match_conditions,
    );
    for (n, each) in spec.validations.iter().enumerate() {
        let field = format!("spec.validations[{n}].expression");
        parts.add(Role::Validation, field, &each.expression);
        if !each.message_expression.is_empty() {
            let field = format!("spec.validations[{n}].messageExpression");
            parts.add(Role::Message, field, &each.message_expression);
        }
        let field = format!("spec.validations[{n}]");
        check_message(
            document,
            &field,
            &each.message,
            &each.message_expression,
            problems,
        );
    }
    for (n, each) in spec.audit_annotations.iter().enumerate() {
        let field = format!("spec.auditAnnotations[{n}].valueExpression");
        parts.add(Role::AuditAnnotation, field, &each.value_expression);
    }
    parts.check(linter, document, refused, problems);
    parts.check_operations(document, spec.match_constraints.as_ref(), problems);
}

/// Reports the problems of a mutating policy.
pub(crate) fn check_mutating(
    linter: &Linter,
    document: &Document,
    policy: &MutatingAdmissionPolicy,
    refused: &[&str],
    problems: &mut Vec<Problem>,
) {
    let spec = &policy.spec;
    let declarations = Declarations {
        patch_types: true,
        ..Declarations::with_authorizer(spec.param_kind.is_some())
    };
    let mut parts = Parts::new(
        linter,
        declarations,
        &spec.variables,
        &spec.match_conditions,
    );
    for (n, each) in spec.mutations.iter().enumerate() {
        if let Some(configuration) = &each.apply_configuration {
            let field = format!("spec.mutations[{n}].applyConfiguration.expression");
            parts.add(Role::Mutation, field, &configuration.expression);
        }
        if let Some(patch) = &each.json_patch {
            let field = format!("spec.mutations[{n}].jsonPatch.expression");
            parts.add(Role::Mutation, field, &patch.expression);
        }
    }
    parts.check(linter, document, refused, problems);
    parts.check_operations(document, spec.match_constraints.as_ref(), problems);
}

/// The expressions of a policy, variables first.
struct Parts<'p> {
    compiler: Compiler,
    declarations: Declarations,
    variables: &'p [Variable],
    parts: Vec<Part>,
}

impl<'p> Parts<'p> {
    /// Creates the parts for the variables and the match conditions. Other expressions are added with `add`.
    fn new(
        linter: &Linter,
        declarations: Declarations,
        variables: &'p [Variable],
        conditions: &[MatchCondition],
    ) -> Self {
        let mut parts = Parts {
            compiler: Compiler::with_variables(&linter.stored),
            declarations,
            variables,
            parts: Vec::new(),
        };
        for (n, each) in variables.iter().enumerate() {
            let checked = parts
                .compiler
                .check_variable(&each.name, &each.expression, declarations);
            parts.parts.push(Part {
                role: Role::Variable,
                field: format!("spec.variables[{n}].expression"),
                checked: checked.ok(),
            });
        }
        for (n, each) in conditions.iter().enumerate() {
            let field = format!("spec.matchConditions[{n}].expression");
            parts.add(Role::MatchCondition, field, &each.expression);
        }
        parts
    }

    fn add(&mut self, role: Role, field: String, text: &str) {
        let checked = self.compiler.check(text, self.declarations).ok();
        self.parts.push(Part {
            role,
            field,
            checked,
        });
    }

    fn check(
        &self,
        linter: &Linter,
        document: &Document,
        refused: &[&str],
        problems: &mut Vec<Problem>,
    ) {
        for part in &self.parts {
            let Some(checked) = &part.checked else {
                continue;
            };
            if refused.contains(&part.field.as_str()) {
                continue;
            }
            let subject = Subject {
                document,
                field: &part.field,
                checked,
                decides: matches!(part.role, Role::Validation | Role::MatchCondition),
            };
            subject.check(&linter.stored, problems);
        }
        self.check_duplicates(document, problems);
        self.check_unused(document, problems);
    }

    fn check_duplicates(&self, document: &Document, problems: &mut Vec<Problem>) {
        for role in [Role::Validation, Role::MatchCondition] {
            let mut distinct = Distinct::new();
            for part in self.parts.iter().filter(|part| part.role == role) {
                let Some(checked) = &part.checked else {
                    continue;
                };
                let root = checked.ast().root();
                if let Some(known) = distinct.add(root, part.field.as_str()) {
                    let message = format!("the expression is the same as {known}");
                    let found = problem(document, &DUPLICATE_VALIDATION, &part.field, message);
                    problems.push(without_copy(found, document, [known, &part.field]));
                }
            }
        }
    }

    /// Reports unused variables. If an expression does not compile, nothing is reported, because the variables that it reads are unknown.
    fn check_unused(&self, document: &Document, problems: &mut Vec<Problem>) {
        let mut read = BTreeSet::new();
        for part in &self.parts {
            let Some(names) = part.checked.as_ref().and_then(variables_read) else {
                return;
            };
            read.extend(names);
        }
        let is_unused = |variable: &Variable| !read.contains(variable.name.as_str());
        let are_all_unused = self.variables.iter().all(is_unused);
        for (n, variable) in self.variables.iter().enumerate() {
            if !is_unused(variable) {
                continue;
            }
            let message = format!("no expression reads `variables.{}`", variable.name);
            let field = format!("spec.variables[{n}].name");
            let found = problem(document, &UNUSED_VARIABLE, &field, message);
            // One variable is left until it is the only one, because only then its removal removes the list too.
            problems.push(match n == 0 && are_all_unused && self.variables.len() > 1 {
                true => found,
                false => without_item(found, document, &format!("spec.variables[{n}]")),
            });
        }
    }

    /// Reports expressions that read `object` or `oldObject` in operations in which it is null.
    fn check_operations(
        &self,
        document: &Document,
        constraints: Option<&MatchResources>,
        problems: &mut Vec<Problem>,
    ) {
        let rules = constraints
            .into_iter()
            .flat_map(|each| &each.resource_rules);
        let operations: BTreeSet<&str> = rules
            .flat_map(|named| &named.rule.operations)
            .map(String::as_str)
            .collect();
        let has = |operation| operations.contains(operation) || operations.contains("*");
        for (operation, variable, rule) in [
            ("DELETE", "object", &OBJECT_ON_DELETE),
            ("CREATE", "oldObject", &OLD_OBJECT_ON_CREATE),
        ] {
            if !has(operation) || self.conditions_exclude_null(variable) {
                continue;
            }
            for part in &self.parts {
                let Some(checked) = &part.checked else {
                    continue;
                };
                if matches!(part.role, Role::Variable | Role::Message) {
                    continue;
                }
                let used = self.with_variables(part);
                if used.iter().any(|each| excludes_null(each, variable)) {
                    continue;
                }
                let own = reads(checked, variable);
                let by_way_of = used.iter().skip(1).find_map(|each| reads(each, variable));
                let subject = Subject {
                    document,
                    field: &part.field,
                    checked,
                    decides: false,
                };
                let found = match (own, by_way_of) {
                    (Some((expr, path)), _) => subject.problem(
                        rule,
                        expr,
                        format!("reads `{path}`, but `{variable}` is null on {operation}"),
                    ),
                    (None, Some((_, path))) => problem(
                        document,
                        rule,
                        &part.field,
                        format!(
                            "reads `{path}` by way of a variable, but `{variable}` is null on {operation}"
                        ),
                    ),
                    (None, None) => continue,
                };
                problems.push(found.with_help(format!(
                    "ask for `{variable} != null` or `request.operation` first, or leave {operation} out of `operations`"
                )));
            }
        }
    }

    /// Whether a match condition excludes the requests in which `variable`, which is `object` or `oldObject`, is null.
    fn conditions_exclude_null(&self, variable: &str) -> bool {
        let conditions = self
            .parts
            .iter()
            .filter(|part| part.role == Role::MatchCondition);
        let mut checked = conditions.filter_map(|part| part.checked.as_ref());
        checked.any(|checked| excludes_null(checked, variable))
    }

    /// An expression, followed by the variables that it reads, directly or through other variables.
    fn with_variables<'s>(&'s self, part: &'s Part) -> Vec<&'s CheckedAst> {
        let mut used: Vec<&CheckedAst> = part.checked.iter().collect();
        let mut known = BTreeSet::new();
        let mut next = 0;
        while let Some(checked) = used.get(next).copied() {
            next = next.saturating_add(1);
            for name in variables_read(checked).unwrap_or_default() {
                let n = self.variables.iter().rposition(|each| each.name == name);
                let Some(n) = n.filter(|n| known.insert(*n)) else {
                    continue;
                };
                used.extend(self.parts.get(n).and_then(|part| part.checked.as_ref()));
            }
        }
        used
    }
}

/// The first read of a field of `variable` in an expression: the node, and the path of the field. `None` if the expression reads no field
/// of the variable.
fn reads<'e>(checked: &'e CheckedAst, variable: &str) -> Option<(Expr<'e>, String)> {
    let reads = Reads::of(checked, &Aliases::new());
    let of_variable = |(_, path): &&(Expr<'_>, _)| {
        let path: &Vec<smol_str::SmolStr> = path;
        path.first().is_some_and(|first| first == variable)
    };
    let (expr, path) = reads.fields.iter().find(of_variable)?;
    Some((*expr, shown(path)))
}

/// Whether an expression tests the operation of the request, or uses the variable as a whole, for example by comparing it with null.
fn excludes_null(checked: &CheckedAst, variable: &str) -> bool {
    let is = |expr: Expr<'_>, wanted: &str| expr.as_ident() == Some(wanted);
    checked.ast().walk().any(|expr| match expr.kind() {
        ExprKind::Select(select) => is(select.operand, "request") && select.field == "operation",
        ExprKind::Call(call) => {
            let is_selection = matches!(
                call.function,
                operators::OPT_SELECT | operators::INDEX | operators::OPT_INDEX
            );
            let is_null = |expr: Expr<'_>| expr.as_constant() == Some(Constant::Null);
            let is_other_null = call.args.iter().any(is_null)
                && call
                    .args
                    .iter()
                    .any(|each| is(each, "object") || is(each, "oldObject"));
            is_other_null || (!is_selection && call.args.iter().any(|each| is(each, variable)))
        }
        _ => false,
    })
}
