//! Declarations: the names of an environment. A function is declared by the rows of its overloads.

mod body;
mod call_shape;
mod context;
mod declarations;
mod form;
mod function;
mod functions;
mod overload;
mod provider;
mod rows;

pub use body::{Argument, Arguments, Body, NativeInt, NativeText, Plain, Returned, WithContext};
pub(crate) use call_shape::{CallShape, Fit, OperandTypes};
pub use context::CallContext;
pub(crate) use declarations::NamesBelow;
pub use declarations::{Corrections, Declarations, EnvOptions, Rules};
pub use form::{Form, LiteralRule, LiteralRules, Reads, Yield};
pub use function::{FunctionDecl, OverloadDecl};
pub(crate) use functions::{FunctionIndex, Functions};
pub use overload::{
    Calls, Function, Implementation, Overload, PatternFunction, Specialize, Specialized, TextTest,
};
pub use provider::TypeProvider;
pub(crate) use provider::TypeProviders;
pub use rows::{declared, planned, row};
