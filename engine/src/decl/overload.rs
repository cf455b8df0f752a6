//! The row of an overload: its signature, implementation, cost and documentation in one place.

use std::fmt::Debug;

use super::{CallContext, Form, LiteralRule, Reads, Yield};
use crate::cost::Cost;
use crate::error::EvalError;
use crate::value::Value;
use gavel_golang::regex::Regex;

/// An overload of a function: a row of the function table. The checker, the planner, the estimator, the tracker and the documentation read
/// it.
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
    /// How calls are computed, planned and charged.
    pub calls: Calls,
    /// An example for the documentation: an expression that is true. Tests evaluate the examples of Gavel's own rows.
    pub example: &'static str,
}

/// How the calls of an overload are computed, planned and charged.
#[derive(Debug, Clone, Copy)]
pub struct Calls {
    /// How a call is computed.
    pub implementation: Implementation,
    /// The function that computes a call whose second argument, the pattern, is a constant. Planning compiles the pattern, and fails if the
    /// pattern is invalid. `None` for functions without a pattern.
    pub pattern: Option<PatternFunction>,
    /// Reads the receiver of a call if it is a constant text, so that evaluations do not read it again. `None` for functions that do not read
    /// constants.
    pub specialize: Option<Specialize>,
    /// A second implementation on Rust strings, for a function that takes two texts and returns a bool. Programs call it without creating
    /// CEL values. `None` for other functions.
    pub test: Option<TextTest>,
    /// How the planner plans calls; `None` for plain calls of a body.
    pub form: Option<Form>,
    /// The known properties of the calls' results.
    pub yields: Yield,
    /// The operands that calls only read.
    pub reads: Reads,
    /// The rule by which validators check literals in a call; `None` if there is no rule.
    pub literals: Option<LiteralRule>,
    /// The cost of a call.
    pub cost: Cost,
}

/// How the calls of an overload are computed.
#[derive(Debug, Clone, Copy)]
pub enum Implementation {
    /// A function that only receives arguments of the overload's types. If the types are only known at run time, the first overload whose
    /// types fit is called. If no overload fits, the call fails with `no such overload: f(int, list)`.
    Typed(Function),
    /// Like `Typed`, for a function that upstream implements with one body for any number of arguments (`FunctionOp`). A call stops at the
    /// first argument that fails; later arguments are not evaluated.
    Variadic(Function),
    /// One function for all overloads with the same name. It checks the types of its arguments itself.
    Shared(Function),
    /// No function: the planner has its own code for logic, conditionals, indexing, selection and optional chaining.
    Planned,
    /// Calls cannot be computed: the overload is declared for checking only.
    Declared,
}

/// A function that computes calls. The receiver, if any, is the first argument. [`body!`](crate::body) creates it from a Rust function.
pub type Function = for<'a> fn(&CallContext<'a>, &[Value<'a>]) -> Result<Value<'a>, EvalError>;

/// A function that computes calls whose second argument is a regular expression. It also receives the compiled regular expression.
pub type PatternFunction =
    for<'a> fn(&CallContext<'a>, &Regex, &[Value<'a>]) -> Result<Value<'a>, EvalError>;

/// A function that reads the constant receiver of a call. `None` if only the overload's own implementation can compute the call.
pub type Specialize = fn(&str) -> Option<Box<dyn Specialized>>;

/// A fast way to compute calls whose receiver is a certain constant text.
pub trait Specialized: Debug + Send + Sync {
    /// Computes a call, as the overload's own implementation does. The receiver is the first argument. Returns `None` for arguments that the
    /// own implementation must receive instead.
    ///
    /// # Errors
    ///
    /// The call fails.
    fn call<'a>(
        &self,
        context: &CallContext<'a>,
        values: &[Value<'a>],
    ) -> Option<Result<Value<'a>, EvalError>>;
}

/// A function of two texts that returns a bool.
pub type TextTest = fn(&str, &str) -> bool;

impl Calls {
    /// Calls that cannot be computed: the overload is declared for checking only. A call costs one unit.
    pub const DECLARED: Calls = Calls {
        implementation: Implementation::Declared,
        pattern: None,
        specialize: None,
        test: None,
        form: None,
        yields: Yield::Unsaid,
        reads: Reads::Unsaid,
        literals: None,
        cost: Cost::ONE,
    };
}

impl Implementation {
    /// The function that computes calls; `None` if there is no function.
    pub const fn function(self) -> Option<Function> {
        match self {
            Implementation::Typed(function)
            | Implementation::Variadic(function)
            | Implementation::Shared(function) => Some(function),
            Implementation::Planned | Implementation::Declared => None,
        }
    }
}
