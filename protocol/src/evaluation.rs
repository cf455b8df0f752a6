//! Evaluates an expression step by step: parse, check, estimate, plan, evaluate. The first step that fails ends the evaluation.

use gavel_engine::check::CheckedAst;
use gavel_engine::cost::CostEstimate;
use gavel_engine::env::Env;
use gavel_engine::error::{EvalError, EvalErrorKind};
use gavel_engine::estimate::estimate;
use gavel_engine::issues::{Issues, Phase};
use gavel_engine::program::{Activation, EvalOptions, PlanError, Program};
use gavel_engine::types::Type;
use gavel_engine::value::{Arena, Reach, Value};

use crate::answer::{Answer, Problem};
use crate::environment::Language;
use crate::evaluate::EvalRequest;
use crate::value::TypedValue;

/// Why an expression has no value.
#[derive(Debug, Clone)]
pub enum Failure {
    /// The expression does not compile.
    Issues(Issues),
    /// The expression compiles, but a constant part of it fails.
    Plan(PlanError),
    /// The evaluation of the expression failed.
    Eval(EvalError),
}

/// An expression, compiled as far as possible.
#[derive(Debug)]
pub struct Compiled {
    ty: Option<Type>,
    estimate: Option<CostEstimate>,
    checked: Option<CheckedAst>,
    /// The program or the failure; `None` for a check in the environment of the CEL specification, which only determines the type.
    program: Result<Option<Program>, Failure>,
    check_only: bool,
}

/// The outcome of compiling and evaluating an expression.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The static type, if it was found.
    pub ty: Option<&'a Type>,
    /// The static cost, if it was found.
    pub estimate: Option<CostEstimate>,
    /// The cost of the evaluation in cost units, if there was one.
    pub cost: Option<u64>,
    /// The value or the failure; `None` if only a check was requested.
    pub result: Result<Option<Value<'a>>, Failure>,
}

impl Compiled {
    /// Compiles the expression of a request.
    pub fn new(env: &Env, request: &EvalRequest) -> Self {
        let mut compiled = Compiled {
            ty: None,
            estimate: None,
            checked: None,
            program: Ok(None),
            check_only: request.check_only,
        };
        compiled.program = compiled.compile(env, request);
        compiled
    }

    fn compile(&mut self, env: &Env, request: &EvalRequest) -> Result<Option<Program>, Failure> {
        let ast = env.parse(&request.expr).map_err(Failure::Issues)?;
        if request.disable_check {
            let checked = self.checked.insert(CheckedAst::unchecked(ast));
            return env.plan(checked).map(Some).map_err(Failure::Plan);
        }
        let checked = self
            .checked
            .insert(env.check(ast).map_err(Failure::Issues)?);
        self.ty = Some(checked.output_type().clone());
        // In the environment of the CEL specification, a check only determines the type.
        if request.check_only && matches!(request.environment.language, Language::Cel { .. }) {
            return Ok(None);
        }
        self.estimate = Some(estimate(checked, &request.size_source()));
        env.plan(checked).map(Some).map_err(Failure::Plan)
    }

    /// Evaluates the expression, unless only a check was requested.
    pub fn run<'a>(
        &'a self,
        activation: &Activation<'a>,
        arena: &'a Arena,
        options: &EvalOptions<'a>,
    ) -> Outcome<'a> {
        let mut outcome = Outcome {
            ty: self.ty.as_ref(),
            estimate: self.estimate,
            cost: None,
            result: Ok(None),
        };
        match &self.program {
            Err(failure) => outcome.result = Err(failure.clone()),
            Ok(Some(program)) if !self.check_only => {
                let evaluation = program.eval(activation, arena, options);
                outcome.cost = Some(evaluation.cost);
                // A value that has too many elements, or is nested too deeply, cannot be printed. It is reported as an error.
                let result = evaluation.result.and_then(|value| {
                    Reach::default().walk(&value)?;
                    Ok(Some(value))
                });
                outcome.result = result.map_err(Failure::Eval);
            }
            Ok(_) => {}
        }
        outcome
    }
}

impl Compiled {
    /// The static type, if it was found.
    pub fn output_type(&self) -> Option<&Type> {
        self.ty.as_ref()
    }

    /// The static cost, if it was found.
    pub fn estimate(&self) -> Option<CostEstimate> {
        self.estimate
    }

    /// The failure, if there is no program.
    pub fn failure(&self) -> Option<&Failure> {
        self.program.as_ref().err()
    }

    /// Converts a failure to an issue with its position in the source. `None` if the failure does not belong to a single node, or is
    /// already a list of issues.
    pub fn locate(&self, failure: &Failure) -> Option<Issues> {
        let (id, message) = match failure {
            Failure::Plan(error) => (error.expr_id()?, error.to_string()),
            Failure::Eval(error) => (error.expr_id()?, error.to_string()),
            Failure::Issues(_) => return None,
        };
        let ast = self.checked.as_ref()?.ast();
        let mut issues = Issues::new(ast.source(), Phase::Check);
        issues.report(ast.source().location(ast.offset(id)), message);
        Some(issues)
    }
}

impl Failure {
    /// The phase that failed, as the protocol names it.
    fn phase(&self) -> &'static str {
        match self {
            Failure::Issues(issues) => match issues.phase() {
                Phase::Parse => "parse",
                Phase::Check => "check",
            },
            Failure::Plan(_) => "program",
            Failure::Eval(error) if error.kind() == EvalErrorKind::CostLimit => "cost",
            Failure::Eval(_) => "eval",
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Issues(issues) => issues.fmt(f),
            Failure::Plan(error) => error.fmt(f),
            Failure::Eval(error) => error.fmt(f),
        }
    }
}

impl<'a> Outcome<'a> {
    /// The outcome as an answer of the batch protocol, without an `id`.
    pub fn answer(&self) -> Answer<'a> {
        let mut known = Answer {
            ok: self.result.is_ok(),
            estimate: self.estimate.map(Into::into),
            cost: self.cost,
            ..Answer::default()
        };
        if let Some(ty) = self.ty {
            known = known.with_type(ty);
        }
        match &self.result {
            Ok(value) => Answer {
                value: value.map(TypedValue::new),
                ..known
            },
            Err(failure) => {
                let problem = Problem {
                    phase: failure.phase(),
                    message: failure.to_string(),
                };
                Answer {
                    error: Some(problem),
                    ..known
                }
            }
        }
    }
}
