//! The row of an overload: everything about it in one place.

use super::{CallContext, Form, LiteralRule, Reads, Yield};
use crate::cost::Cost;
use crate::error::EvalError;
use crate::value::Value;
use gavel_golang::regex::Regex;

/// An overload of a function. The checker, the planner, the estimator, the tracker and the documentation read this row.
///
/// ```
/// use gavel_engine::body;
/// use gavel_engine::cost::Cost;
/// use gavel_engine::decl::{Overload, row};
///
/// fn double(int: i64) -> i64 {
///     int.wrapping_mul(2)
/// }
///
/// const DOUBLE: Overload = row("double", "double_int", "int.() -> int", body!(double), "2.double() == 4")
///     .cost(Cost::fixed(2));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Overload {
    /// The function's name, or an operator's (`crate::ast::operators`).
    pub function: &'static str,
    /// The overload's id, as upstream spells it.
    pub id: &'static str,
    /// The parameter types and the result type: `(string) -> int`, or `string.(int) -> string` in receiver style.
    pub signature: &'static str,
    /// How a call is computed.
    pub implementation: Implementation,
    /// The function that computes a call whose second argument, the pattern, is a constant. Planning compiles the pattern, and fails if the
    /// pattern is invalid. `None` for functions without a pattern.
    pub pattern: Option<PatternFunction>,
    /// The same function on Rust types: it takes two texts and returns a bool. Programs call it without making CEL values. `None` for
    /// functions with other parameters or results.
    pub test: Option<TextTest>,
    /// The form in which calls are planned; `None` for plain calls.
    pub form: Option<Form>,
    /// The known properties of the results.
    pub yields: Yield,
    /// The operands that calls only read.
    pub reads: Reads,
    /// The check that validators apply to literals in a call; `None` if there is no check.
    pub literals: Option<LiteralRule>,
    /// The cost of a call.
    pub cost: Cost,
    /// An expression that is true, for the documentation and its test.
    pub example: &'static str,
}

/// How an overload is computed.
#[derive(Debug, Clone, Copy)]
pub enum Implementation {
    /// This function computes calls. It only receives arguments of the overload's types. If the types are only known at run time, the first
    /// overload whose types fit is called; if none fits, the call fails with `no such overload: f(int, list)`.
    Typed(Function),
    /// Like `Typed`, for a function that upstream implements with one body for any number of arguments (`FunctionOp`). The first argument
    /// that fails ends the call.
    Variadic(Function),
    /// One function computes the calls of all overloads with the name. The function checks its arguments itself.
    Shared(Function),
    /// The planner computes calls: logic, conditionals, indexing, selection, optional chaining.
    Planned,
    /// Calls cannot be computed: the overload is declared for checking only.
    Declared,
}

/// An implementation. The receiver, if any, is the first argument. [`body!`](crate::body) turns a Rust function into one.
pub type Function = for<'a> fn(&CallContext<'a>, &[Value<'a>]) -> Result<Value<'a>, EvalError>;

/// An implementation that also receives its second argument, a regular expression, in compiled form.
pub type PatternFunction =
    for<'a> fn(&CallContext<'a>, &Regex, &[Value<'a>]) -> Result<Value<'a>, EvalError>;

/// An implementation for two texts.
pub type TextTest = fn(&str, &str) -> bool;

impl Implementation {
    /// The function, if there is one.
    pub const fn function(self) -> Option<Function> {
        match self {
            Implementation::Typed(function)
            | Implementation::Variadic(function)
            | Implementation::Shared(function) => Some(function),
            Implementation::Planned | Implementation::Declared => None,
        }
    }
}
