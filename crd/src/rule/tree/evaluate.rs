//! Evaluates the rules of one node for one value (`validateExpressions` and `evalMessageExpression` upstream).

use std::ops::ControlFlow;

use gavel_apimachinery::field::{BadValue, Error, ErrorType, Path};
use gavel_engine::error::{EvalError, EvalErrorKind};
use gavel_engine::program::{Activation, EvalOptions, Evaluation};
use gavel_engine::value::{Arena, Json, Value};
use gavel_golang::quote::quote;
use gavel_schema::ValidationRule;

use super::node::RuleNode;
use super::ratchet::Ratchet;
use super::report::Report;
use crate::rule::{CompiledRule, Expression, NodeType, OLD_SELF, SELF};

/// The cost budget that an API server gives to all rules of an object together, in cost units.
pub const COST_BUDGET: i64 = 10_000_000;

/// The cost limit of one expression, in cost units.
pub const PER_CALL_LIMIT: u64 = 1_000_000;

/// The length limit of a messageExpression's result, in bytes.
const MAX_MESSAGE_BYTES: usize = 5 * 1024;

const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

const NO_TYPE: &str =
    "rule compiler initialization error: failed to convert to declType for CEL validation rules";

const MESSAGE_OUT_OF_BUDGET: &str = "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run";

/// Called for each rule that is evaluated, with the path of the value, the index of the rule among those of the value's schema, and the
/// result.
pub type RuleObserver<'o> = Option<&'o dyn Fn(&Path<'_>, usize, Result<bool, &EvalError>)>;

/// A value that is validated, with its context.
#[derive(Debug)]
pub(super) struct Subject<'f, 'd> {
    /// The path of the value.
    pub(super) path: &'f Path<'f>,
    /// The node of the value's schema, with the rules.
    pub(super) node: &'d RuleNode,
    /// The value. Never null.
    pub(super) value: &'d Json,
    /// The old value that rules can read, if there is one. Never null.
    pub(super) old: Option<&'d Json>,
    /// Decides whether an error existed before the update.
    pub(super) ratchet: Ratchet<'f, 'd>,
}

/// Runs the rules of a node. `Break` ends the validation of the object.
pub(super) fn evaluate(
    subject: &Subject<'_, '_>,
    arena: &Arena,
    limits: EvalOptions<'_>,
    observer: RuleObserver<'_>,
    report: &mut Report,
) -> ControlFlow<()> {
    let node = subject.node;
    let rules = &node.schema.validations;
    if rules.is_empty() {
        return ControlFlow::Continue(());
    }
    let Some(ty) = &node.ty else {
        report.add(subject.fault(NO_TYPE));
        return ControlFlow::Continue(());
    };
    if report.remaining() <= 0 {
        return report.stop(subject.fault(OUT_OF_BUDGET));
    }
    let mut plain = Activation::new();
    plain.bind(SELF, ty.schema().bind(subject.value, arena));
    let uses_old = node.uses_old_self;
    let optional = uses_old.then(|| bind_old(&mut plain, ty, subject.old, arena));
    for (index, (compiled, rule)) in node.rules.iter().zip(rules).enumerate() {
        let call = Call {
            subject,
            index,
            rule,
            compiled,
            activation: optional
                .as_ref()
                .filter(|_| rule.optional_old_self == Some(true))
                .unwrap_or(&plain),
            message_activation: &plain,
            arena,
            limits,
            observer,
        };
        call.run(report)?;
    }
    ControlFlow::Continue(())
}

/// Binds `oldSelf` to the old value, if there is one. Returns the variables for rules with `optionalOldSelf`, in which `oldSelf` is an
/// optional.
fn bind_old<'a>(
    plain: &mut Activation<'a>,
    ty: &'a NodeType,
    old: Option<&'a Json>,
    arena: &'a Arena,
) -> Activation<'a> {
    let mut optional = plain.clone();
    let old = old.map(|old| ty.schema().bind(old, arena));
    optional.bind(OLD_SELF, old.map_or(Value::NONE, |old| arena.some(old)));
    if let Some(old) = old {
        plain.bind(OLD_SELF, old);
    }
    optional
}

/// The evaluation of one rule for one value.
struct Call<'a, 'c, 'd> {
    subject: &'c Subject<'c, 'd>,
    /// The index of the rule among those of the node.
    index: usize,
    rule: &'c ValidationRule,
    compiled: &'a CompiledRule,
    activation: &'c Activation<'a>,
    /// The variables of the messageExpression. Upstream never binds `oldSelf` as an optional here, even if the messageExpression was
    /// compiled with an optional `oldSelf`.
    message_activation: &'c Activation<'a>,
    arena: &'a Arena,
    limits: EvalOptions<'a>,
    observer: RuleObserver<'c>,
}

impl<'a> Call<'a, '_, '_> {
    fn run(&self, report: &mut Report) -> ControlFlow<()> {
        let rule = match &self.compiled.rule {
            Ok(Some(rule)) => rule,
            // The rule is blank.
            Ok(None) => return ControlFlow::Continue(()),
            Err(failure) => {
                report.add(self.subject.fault(format!("rule compile error: {failure}")));
                return ControlFlow::Continue(());
            }
        };
        let is_optional = self.rule.optional_old_self == Some(true);
        if self.compiled.uses_old_self && self.subject.old.is_none() && !is_optional {
            return ControlFlow::Continue(());
        }
        let evaluation = self.eval(rule, self.activation);
        if let Some(observe) = self.observer {
            let result = evaluation.result.as_ref();
            let result = result.map(|value| value.as_bool() == Some(true));
            observe(self.subject.path, self.index, result);
        }
        if !report.charge(evaluation.cost) {
            return report.stop(self.subject.fault(OUT_OF_BUDGET));
        }
        match evaluation.result {
            Ok(value) if value.as_bool() == Some(true) => ControlFlow::Continue(()),
            Ok(_) => self.broken(report),
            Err(error) => self.failed(&error, report),
        }
    }

    fn eval(&self, expression: &'a Expression, activation: &Activation<'a>) -> Evaluation<'a> {
        let program = &expression.program;
        program.eval(activation, self.arena, &self.limits)
    }

    /// Reports that the rule could not be evaluated.
    fn failed(&self, error: &EvalError, report: &mut Report) -> ControlFlow<()> {
        let name = name(self.rule);
        if error.message().starts_with("no such overload") {
            report.add(self.subject.fault(format!(
                "'{error}': call arguments did not match a supported operator, function or macro signature for rule: {name}"
            )));
        } else if error.kind() == EvalErrorKind::CostLimit {
            return report.stop(self.subject.fault(format!(
                "'{error}': no further validation rules will be run due to call cost exceeds limit for rule: {name}"
            )));
        } else {
            let fault = self
                .subject
                .fault(format!("{error} evaluating rule: {name}"));
            if error.kind() == EvalErrorKind::Interrupted {
                return report.stop(fault);
            }
            report.add(fault);
        }
        ControlFlow::Continue(())
    }

    /// Reports that the rule is false.
    fn broken(&self, report: &mut Report) -> ControlFlow<()> {
        let below = self.compiled.field_path.as_ref().map(ToString::to_string);
        let path = match &below {
            Some(below) => self.subject.path.child(below),
            None => *self.subject.path,
        };
        let message = match self.compiled.message.as_deref() {
            Some(Ok(message)) => self.message(message, report),
            _ => Ok(None),
        };
        let message = match message {
            Ok(message) => message,
            Err(detail) => {
                let error = Error::invalid(&path, self.subject.kind(), detail);
                report.add_unless(self.is_ratcheted(), error);
                return report.exhaust();
            }
        };
        let detail = message.unwrap_or_else(|| match self.rule.message.is_empty() {
            true => format!("failed rule: {}", name(self.rule)),
            false => name(self.rule).to_owned(),
        });
        let error = match self.rule.reason.as_deref() {
            Some("FieldValueForbidden") => Error::forbidden(&path, detail),
            Some("FieldValueRequired") => Error::required(&path, detail),
            Some("FieldValueDuplicate") => Error::duplicate(&path, self.subject.bad_value()),
            _ => Error::new(ErrorType::Invalid, &path, self.subject.bad_value(), detail),
        };
        report.add_unless(self.is_ratcheted(), error);
        ControlFlow::Continue(())
    }

    /// The result of the messageExpression, if it can be used.
    ///
    /// # Errors
    ///
    /// The evaluation exceeds its cost limit or the cost budget. The caller reports the returned text as an error and ends the validation.
    fn message(
        &self,
        message: &'a Expression,
        report: &mut Report,
    ) -> Result<Option<String>, String> {
        let evaluation = self.eval(message, self.message_activation);
        if !report.charge(evaluation.cost) {
            return Err(MESSAGE_OUT_OF_BUDGET.to_owned());
        }
        match evaluation.result {
            Ok(message) => Ok(match usable(message) {
                Ok(text) => Some(text.to_owned()),
                Err(why) => {
                    report.note(why);
                    None
                }
            }),
            Err(error) if error.kind() == EvalErrorKind::CostLimit => Err(format!(
                "no further validation rules will be run due to call cost exceeds limit for messageExpression: {}",
                quote(&self.rule.message_expression)
            )),
            Err(error) => {
                report.note(format!(
                    "messageExpression evaluation failed due to: {error}"
                ));
                Ok(None)
            }
        }
    }

    /// Whether the error becomes a warning. It does if the value is unchanged and the rule does not read `oldSelf`: the rule then rejected
    /// the old value too.
    fn is_ratcheted(&self) -> bool {
        !self.compiled.uses_old_self && self.subject.ratchet.holds()
    }
}

impl Subject<'_, '_> {
    /// The schema's type, which some messages show instead of the value.
    fn kind(&self) -> &str {
        &self.node.schema.kind
    }

    /// An error in running the rules, not in the value.
    pub(super) fn fault(&self, detail: impl Into<String>) -> Error {
        Error::invalid(self.path, self.kind(), detail)
    }

    fn bad_value(&self) -> BadValue {
        match self.kind() {
            kind if self.node.shows_types => kind.into(),
            "object" | "array" => BadValue::Omitted,
            _ => self.value.into(),
        }
    }
}

/// The text of a messageExpression's result, or the reason why the result cannot be used.
fn usable(message: Value<'_>) -> Result<&str, String> {
    let text = message.as_str().map(str::trim);
    let text = text.ok_or("messageExpression failed to convert to string")?;
    match text {
        text if text.len() > MAX_MESSAGE_BYTES => Err(format!(
            "messageExpression beyond allowable length of {MAX_MESSAGE_BYTES}"
        )),
        text if text.contains('\n') => {
            Err("messageExpression should not contain line breaks".to_owned())
        }
        "" => Err("messageExpression should evaluate to a non-empty string".to_owned()),
        text => Ok(text),
    }
}

/// The text that names a rule in messages: its `message` or, if the `message` is empty, its expression.
fn name(rule: &ValidationRule) -> &str {
    match rule.message.is_empty() {
        true => rule.rule.trim(),
        false => rule.message.trim(),
    }
}
