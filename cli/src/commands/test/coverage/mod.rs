//! Coverage: the expressions of policies and definitions that the tests evaluate, and whether each condition was true in one evaluation and
//! false in another.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gavel_check::suite::{Test, Validated};
use gavel_check::{self as check, Role, Step, custom};
use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_manifest::Document;
use gavel_policy::cel::ExpressionKind;
use serde_json::json;

use crate::commands::cost::shortened;
use crate::report::visible;

mod html;

/// The expressions and conditions of policies and definitions, with the outcomes that the tests produced.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    /// The expressions of policies and the rules of definitions, by field.
    expressions: BTreeMap<(Subject, String), Expression>,
    /// The definitions whose rules were added.
    definitions: BTreeSet<Subject>,
    /// The conditions within validations and within the rules of definitions, by the field of the expression and the position among the
    /// sub-expressions.
    conditions: BTreeMap<(Subject, String, usize), Condition>,
}

/// The identity of a policy or definition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Subject {
    name: String,
    /// The absolute path of the file, because tests can name a file in different ways.
    file: PathBuf,
    /// The line at which the object begins.
    line: u32,
}

/// A boolean sub-expression of a validation or rule, such as an operand of `&&` or the body of `all`.
#[derive(Debug)]
struct Condition {
    file: String,
    line: u32,
    text: String,
    was_true: bool,
    was_false: bool,
}

/// An expression or sub-expression that is not covered.
struct Missing<'c> {
    file: &'c str,
    line: u32,
    policy: &'c str,
    /// The path of the expression's field, or the text of the sub-expression.
    what: &'c str,
    why: &'static str,
}

/// An expression of a policy, or a rule of a definition.
#[derive(Debug)]
struct Expression {
    file: String,
    line: u32,
    /// The path of the expression's field.
    field: String,
    text: String,
    /// The kind of the expression; `None` for a rule of a definition.
    kind: Option<ExpressionKind>,
    /// Whether coverage requires that the expression was both true and false. For other expressions, one evaluation is enough.
    is_condition: bool,
    evaluated: usize,
    was_true: bool,
    was_false: bool,
}

/// The lists of expressions in a policy's `spec`. Each row has the name of the list, the field of its elements that holds the expression,
/// the kind of the expression, and whether it is a condition.
const LISTS: [(&str, &str, ExpressionKind, bool); 7] = [
    (
        "matchConditions",
        "expression",
        ExpressionKind::MatchCondition,
        true,
    ),
    ("variables", "expression", ExpressionKind::Variable, false),
    (
        "validations",
        "expression",
        ExpressionKind::Validation,
        true,
    ),
    (
        "validations",
        "messageExpression",
        ExpressionKind::Message,
        false,
    ),
    (
        "auditAnnotations",
        "valueExpression",
        ExpressionKind::AuditAnnotation,
        false,
    ),
    (
        "mutations",
        "applyConfiguration.expression",
        ExpressionKind::ApplyConfiguration,
        false,
    ),
    (
        "mutations",
        "jsonPatch.expression",
        ExpressionKind::JsonPatch,
        false,
    ),
];

impl Coverage {
    /// Adds the expressions in the policies of a test. If there are no policies, the test is about the definition of its object, so that the
    /// definition's rules are added.
    pub(super) fn expect(&mut self, test: &Test, server: Server) {
        if test.policies().next().is_none() {
            test.definition()
                .into_iter()
                .for_each(|each| self.expect_rules(each, server));
        }
        for policy in test.policies() {
            for (list, field, kind, is_condition) in LISTS {
                let items = policy.value().pointer(&format!("/spec/{list}"));
                let items = items.and_then(Json::as_array).map_or(0, Vec::len);
                for n in 0..items {
                    let field = format!("spec.{list}[{n}].{field}");
                    self.add(policy, &field, kind, is_condition);
                }
            }
        }
    }

    fn add(&mut self, policy: &Document, field: &str, kind: ExpressionKind, is_condition: bool) {
        let pointer = field.replace(['.', '['], "/").replace(']', "");
        let value = policy.value();
        let Some(text) = value.pointer(&format!("/{pointer}")).and_then(Json::as_str) else {
            return;
        };
        let key = (Subject::of(policy), field.to_owned());
        let expression = || Expression {
            kind: Some(kind),
            ..Expression::new(policy, field, text, is_condition)
        };
        self.expressions.entry(key).or_insert_with(expression);
    }

    fn expect_rules(&mut self, definition: &Document, server: Server) {
        let subject = Subject::of(definition);
        if !self.definitions.insert(subject.clone()) {
            return;
        }
        for rule in custom::rules(definition, server) {
            let expression = Expression::new(definition, &rule.field, &rule.text, true);
            let key = (subject.clone(), rule.field);
            self.expressions.insert(key, expression);
        }
    }

    /// Records the outcomes of a definition's rules.
    pub(super) fn note_rules(&mut self, definition: &Document, validated: &Validated) {
        let subject = Subject::of(definition);
        for (field, outcomes) in &validated.checked.rules {
            let key = (subject.clone(), field.clone());
            if let Some(expression) = self.expressions.get_mut(&key) {
                let evaluated = [outcomes.holds, outcomes.violated, outcomes.failed];
                let evaluated = evaluated.into_iter().fold(0, usize::saturating_add);
                expression.evaluated = expression.evaluated.saturating_add(evaluated);
                expression.was_true |= outcomes.holds > 0;
                expression.was_false |= outcomes.violated > 0;
            }
        }
    }

    /// Records the expressions of a test's policies that were evaluated.
    pub(super) fn note(&mut self, test: &Test, steps: &[Step]) {
        for step in steps {
            let (invocation, kind) = match step {
                Step::Evaluated { invocation, .. } => (invocation, "ValidatingAdmissionPolicy"),
                Step::Mutated { invocation } => (invocation, "MutatingAdmissionPolicy"),
                _ => continue,
            };
            let mut policies = test.policies();
            let policy = policies.find(|policy| {
                name_of(policy) == invocation.policy && policy.value()["kind"] == kind
            });
            let Some(subject) = policy.map(Subject::of) else {
                continue;
            };
            let first = (subject.clone(), String::new());
            let of_policy = self.expressions.range_mut(first..);
            let mut of_policy: Vec<&mut Expression> = of_policy
                .take_while(|((of, _), _)| *of == subject)
                .map(|(_, expression)| expression)
                .collect();
            for ran in &invocation.runs {
                let same = of_policy.iter_mut().filter(|expression| {
                    expression.kind == Some(ran.kind) && expression.text == ran.expression
                });
                for expression in same {
                    expression.evaluated = expression.evaluated.saturating_add(1);
                    expression.was_true |= ran.result.as_deref() == Ok("true");
                    expression.was_false |= ran.result.as_deref() == Ok("false");
                }
            }
        }
    }

    /// Whether the rules of a definition count.
    pub(super) fn counts_rules(&self, definition: &Document) -> bool {
        self.definitions.contains(&Subject::of(definition))
    }

    /// Records the outcomes of the conditions within the validations of a policy, or within those rules of a definition that count.
    pub(super) fn note_conditions(&mut self, object: &Document, found: Vec<check::Condition>) {
        let subject = Subject::of(object);
        let is_definition = Role::of(object.value()) == Role::Definition;
        for found in found {
            let rule = (subject.clone(), found.field);
            if is_definition && !self.expressions.contains_key(&rule) {
                continue;
            }
            let (subject, field) = rule;
            let new = || Condition {
                file: file_of(object),
                line: object.place_within(&field, 1, 1).line,
                text: found.text,
                was_true: false,
                was_false: false,
            };
            let key = (subject, field.clone(), found.position);
            let condition = self.conditions.entry(key).or_insert_with(new);
            condition.was_true |= found.was_true;
            condition.was_false |= found.was_false;
        }
    }

    /// The number of covered items, and the number of all items. Each outcome of a condition is an item. Any other expression is one item.
    fn counts(&self) -> (usize, usize) {
        let expressions = self.expressions.values();
        let counts = expressions.map(|expression| match expression.is_condition {
            true => {
                let outcomes = [expression.was_true, expression.was_false];
                (outcomes.into_iter().filter(|was| *was).count(), 2)
            }
            false => (usize::from(expression.evaluated > 0), 1),
        });
        let conditions = self.conditions.values();
        let conditions = conditions.map(|condition| (condition.outcomes(), 2));
        counts
            .chain(conditions)
            .fold((0_usize, 0_usize), |(covered, all), (more, of)| {
                (covered.saturating_add(more), all.saturating_add(of))
            })
    }

    /// The percentage that is covered, rounded down.
    pub(super) fn percent(&self) -> u64 {
        let (covered, all) = self.counts();
        let percent = covered.saturating_mul(100).checked_div(all).unwrap_or(100);
        u64::try_from(percent).unwrap_or(100)
    }

    /// The expressions and sub-expressions that are not covered, sorted by file and line.
    fn missing(&self) -> Vec<Missing<'_>> {
        let expressions = self.expressions.iter().filter_map(|((subject, _), each)| {
            Some(Missing {
                file: &each.file,
                line: each.line,
                policy: &subject.name,
                what: &each.field,
                why: each.missing()?,
            })
        });
        let conditions = self.conditions.iter().filter_map(|((subject, ..), each)| {
            let why = match (each.was_true, each.was_false) {
                (true, true) => return None,
                (true, false) => "never false",
                (false, true) => "never true",
                (false, false) => "never evaluated",
            };
            Some(Missing {
                file: &each.file,
                line: each.line,
                policy: &subject.name,
                what: &each.text,
                why,
            })
        });
        let mut missing: Vec<Missing<'_>> = expressions.chain(conditions).collect();
        missing.sort_by_key(|each| (each.file, each.line));
        missing
    }

    /// Writes the expressions that are not covered, and the percentage.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for missing in self.missing() {
            let Missing {
                file,
                line,
                policy,
                what,
                why,
            } = missing;
            let what = shortened(what);
            let (policy, what) = (visible(policy), visible(&what));
            writeln!(out, "{file}:{line}: {policy}: {what}: {why}")?;
        }
        let (covered, all) = self.counts();
        writeln!(out, "coverage: {} % ({covered} of {all})", self.percent())
    }

    /// The coverage as a JSON object.
    pub(super) fn json(&self) -> Json {
        let (covered, all) = self.counts();
        let missing = self.missing().into_iter().map(|each| {
            json!({"file": each.file, "line": each.line, "policy": each.policy, "what": each.what, "why": each.why})
        });
        json!({"coverage": {
            "percent": self.percent(), "covered": covered, "all": all, "missing": missing.collect::<Vec<Json>>(),
        }})
    }

    /// The coverage in lcov format. Expressions are lines, and the outcomes of conditions are branches.
    pub(super) fn lcov(&self) -> String {
        let mut files: BTreeMap<&str, Vec<&Expression>> = BTreeMap::new();
        for expression in self.expressions.values() {
            files.entry(&expression.file).or_default().push(expression);
        }
        let mut text = String::new();
        for (file, mut expressions) in files {
            expressions.sort_by_key(|expression| expression.line);
            let _ = writeln!(text, "TN:\nSF:{file}");
            for expression in expressions {
                let Expression {
                    line, evaluated, ..
                } = expression;
                let _ = writeln!(text, "DA:{line},{evaluated}");
                if expression.is_condition {
                    let outcomes = [expression.was_true, expression.was_false];
                    for (n, was) in outcomes.into_iter().enumerate() {
                        let _ = writeln!(text, "BRDA:{line},0,{n},{}", u8::from(was));
                    }
                }
            }
            let conditions = self.conditions.iter().filter(|(_, each)| each.file == file);
            for ((_, _, position), condition) in conditions {
                let outcomes = [condition.was_true, condition.was_false];
                for (n, was) in outcomes.into_iter().enumerate() {
                    let line = condition.line;
                    let _ = writeln!(text, "BRDA:{line},{position},{n},{}", u8::from(was));
                }
            }
            text.push_str("end_of_record\n");
        }
        text
    }
}

/// The name of an object; empty if it has none.
pub(super) fn name_of(object: &Document) -> &str {
    let name = object.value().pointer("/metadata/name");
    name.and_then(Json::as_str).unwrap_or_default()
}

fn file_of(policy: &Document) -> String {
    policy
        .file()
        .map(|file| file.display().to_string())
        .unwrap_or_default()
}

impl Subject {
    fn of(object: &Document) -> Self {
        let file = object.file().map(Path::to_owned).unwrap_or_default();
        Subject {
            name: name_of(object).to_owned(),
            file: file.canonicalize().unwrap_or(file),
            line: object.place().line,
        }
    }
}

impl Condition {
    /// The number of outcomes, true and false, that the tests produced.
    fn outcomes(&self) -> usize {
        let produced = [self.was_true, self.was_false];
        produced.into_iter().filter(|was| *was).count()
    }
}

impl Expression {
    fn new(object: &Document, field: &str, text: &str, is_condition: bool) -> Self {
        Expression {
            file: file_of(object),
            line: object.place_within(field, 1, 1).line,
            field: field.to_owned(),
            text: text.to_owned(),
            kind: None,
            is_condition,
            evaluated: 0,
            was_true: false,
            was_false: false,
        }
    }

    fn missing(&self) -> Option<&'static str> {
        match (self.evaluated, self.is_condition) {
            (0, _) => Some("never evaluated"),
            (_, false) => None,
            (_, true) => match (self.was_true, self.was_false) {
                (true, true) => None,
                (true, false) => Some("never false"),
                (false, true) => Some("never true"),
                (false, false) => Some("never true nor false"),
            },
        }
    }
}
