//! Macros: calls that the parser replaces by other trees (`parser/macro.go`).

use std::array;
use std::borrow::Cow;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::nodes::{self, Nodes, TooManyNodes};
use crate::ast::operators::ACCUMULATOR;
use crate::ast::{CallArguments, Comprehension, Constant, Expr, ExprId, ExprKind, ListExpr};
use crate::source::Offset;

mod bindings;
mod block;
mod optionals;
mod sort_by;
mod standard;
mod two_variable;

pub use bindings::BINDINGS;
pub use block::BLOCK;
pub use optionals::OPTIONALS;
pub use sort_by::SORT_BY;
pub use standard::STANDARD;
pub use two_variable::TWO_VARIABLE;

/// A macro: the calls that it matches, and their expansion.
#[derive(Debug, Clone, Copy)]
pub struct Macro {
    /// The name of the function.
    pub name: &'static str,
    /// The number of arguments without the receiver; `None` matches any number.
    pub arguments: Option<usize>,
    /// The receivers that the macro matches.
    pub receiver: Receiver,
    /// Builds the expansion.
    pub expand: Expander,
}

/// The receivers that a macro matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receiver {
    /// No receiver: `has(a.b)`.
    None,
    /// Any expression: `a.all(x, x > 0)`.
    Any,
    /// Only this name: `cel.bind(x, 1, x + x)`. A call with any other receiver is an ordinary call.
    Namespace(&'static str),
}

/// Builds the tree that replaces a call.
pub type Expander = fn(&mut MacroContext<'_>, MacroCall) -> Expansion;

/// The tree that replaces a call, or the error in the call.
pub type Expansion = Result<Expr, MacroError>;

/// The macros of an environment.
#[derive(Debug, Clone, Default)]
pub struct Macros {
    /// The macros by name, in the reverse order of the tables. If two macros match the same calls, the first one in the vector is used.
    rows: FxHashMap<&'static str, Vec<Macro>>,
}

impl Macros {
    /// Joins tables of macros. If two macros match the same calls, the one that comes later in the tables is used.
    pub fn new(tables: &[&[Macro]]) -> Self {
        let mut rows: FxHashMap<_, Vec<Macro>> = FxHashMap::default();
        for row in tables.iter().rev().flat_map(|table| table.iter().rev()) {
            rows.entry(row.name).or_default().push(*row);
        }
        Macros { rows }
    }

    /// The expander for a call; `None` if no macro matches. Macros with a fixed number of arguments take precedence.
    pub(super) fn find(
        &self,
        name: &str,
        target: Option<&Expr>,
        arguments: usize,
    ) -> Option<Expander> {
        let rows = self.rows.get(name)?;
        let accepted = || rows.iter().filter(|row| row.receiver.accepts(target));
        let exact = accepted().find(|row| row.arguments == Some(arguments));
        exact
            .or_else(|| accepted().find(|row| row.arguments.is_none()))
            .map(|row| row.expand)
    }
}

impl Receiver {
    fn accepts(self, target: Option<&Expr>) -> bool {
        match (self, target) {
            (Receiver::None, target) => target.is_none(),
            (Receiver::Any, target) => target.is_some(),
            (
                Receiver::Namespace(name),
                Some(Expr {
                    kind: ExprKind::Ident(target),
                    ..
                }),
            ) => target == name,
            (Receiver::Namespace(_), _) => false,
        }
    }
}

/// The error in a call of a macro.
#[derive(Debug, Clone, PartialEq)]
pub enum MacroError {
    /// The macro rejects one of its arguments, or the whole call.
    Argument {
        /// The argument, or the whole call.
        id: ExprId,
        /// The message.
        message: Cow<'static, str>,
    },
    /// The expression expands to more nodes than are allowed.
    TooManyNodes,
}

impl MacroError {
    /// An error at one node of the call.
    pub fn new(id: ExprId, message: impl Into<Cow<'static, str>>) -> Self {
        MacroError::Argument {
            id,
            message: message.into(),
        }
    }
}

impl From<TooManyNodes> for MacroError {
    fn from(_: TooManyNodes) -> Self {
        MacroError::TooManyNodes
    }
}

/// A call that a macro matches.
#[derive(Debug)]
pub struct MacroCall {
    id: ExprId,
    target: Option<Expr>,
    args: CallArguments,
}

impl MacroCall {
    pub(super) fn new(id: ExprId, target: Option<Expr>, args: CallArguments) -> Self {
        MacroCall { id, target, args }
    }

    /// The receiver, if the call has one.
    pub fn receiver(&self) -> Option<&Expr> {
        self.target.as_ref()
    }

    /// The arguments. The number of arguments is not checked.
    pub fn into_args(self) -> CallArguments {
        self.args
    }

    /// The arguments of a macro with exactly `N` arguments.
    ///
    /// # Errors
    ///
    /// The call has another number of arguments.
    pub fn args<const N: usize>(self) -> Result<[Expr; N], MacroError> {
        if self.args.len() != N {
            return Err(MacroError::new(self.id, "wrong number of arguments"));
        }
        // Never used, because there are `N` arguments.
        let gap = || Expr {
            id: self.id,
            kind: ExprKind::Constant(Constant::Null),
        };
        let mut args = self.args.into_iter();
        Ok(array::from_fn(|_| args.next().unwrap_or_else(gap)))
    }

    /// The receiver and the arguments of a macro with exactly `N` arguments.
    ///
    /// # Errors
    ///
    /// The call has no receiver, or another number of arguments.
    pub fn receiver_and_args<const N: usize>(mut self) -> Result<(Expr, [Expr; N]), MacroError> {
        let target = self
            .target
            .take()
            .ok_or_else(|| MacroError::new(self.id, "receiver expected"))?;
        Ok((target, self.args()?))
    }
}

/// Creates the nodes of an expansion. They have the source position of the macro's call.
#[derive(Debug)]
pub struct MacroContext<'n> {
    nodes: &'n mut Nodes,
    offset: Offset,
}

impl<'n> MacroContext<'n> {
    pub(super) fn new(nodes: &'n mut Nodes, offset: Offset) -> Self {
        MacroContext { nodes, offset }
    }

    fn node(&mut self, kind: ExprKind) -> Expr {
        Expr {
            id: self.nodes.id(self.offset),
            kind,
        }
    }

    /// A literal.
    pub fn constant(&mut self, value: Constant) -> Expr {
        self.node(ExprKind::Constant(value))
    }

    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) -> Expr {
        self.constant(Constant::Bool(value))
    }

    /// A name.
    pub fn ident(&mut self, name: impl Into<SmolStr>) -> Expr {
        self.node(ExprKind::Ident(name.into()))
    }

    /// The accumulator's name as an expression.
    pub fn accumulator(&mut self) -> Expr {
        self.ident(SmolStr::new_static(ACCUMULATOR))
    }

    /// A call of a function or operator.
    pub fn call(&mut self, function: &'static str, args: CallArguments) -> Expr {
        nodes::call(
            self.nodes.id(self.offset),
            SmolStr::new_static(function),
            None,
            args,
        )
    }

    /// A receiver-style call.
    pub fn member_call(
        &mut self,
        function: &'static str,
        target: Expr,
        args: CallArguments,
    ) -> Expr {
        nodes::call(
            self.nodes.id(self.offset),
            SmolStr::new_static(function),
            Some(target),
            args,
        )
    }

    /// A list.
    pub fn list(&mut self, elements: Vec<Expr>) -> Expr {
        self.node(ExprKind::List(Box::new(ListExpr {
            elements,
            optional_indices: Vec::new(),
        })))
    }

    /// An empty map.
    pub fn empty_map(&mut self) -> Expr {
        self.node(ExprKind::Map(Vec::new()))
    }

    /// A presence test: `has(operand.field)`.
    pub fn presence_test(&mut self, operand: Expr, field: SmolStr) -> Expr {
        nodes::select(self.nodes.id(self.offset), operand, field, true)
    }

    /// A comprehension.
    pub fn comprehension(&mut self, comprehension: Comprehension) -> Expr {
        self.node(ExprKind::Comprehension(Box::new(comprehension)))
    }

    /// Builds an expression that evaluates `result` with `name` bound to `value`: a comprehension over an empty list, with `name` as its
    /// accumulator.
    pub fn bind(&mut self, name: SmolStr, value: Expr, result: Expr) -> Expr {
        let (iter_range, loop_condition) = (self.list(Vec::new()), self.bool(false));
        let loop_step = self.ident(name.clone());
        self.comprehension(Comprehension {
            iter_range,
            iter_var: SmolStr::new_static(crate::ast::operators::UNUSED),
            iter_var2: None,
            accu_var: name,
            accu_init: value,
            loop_condition,
            loop_step,
            result,
        })
    }

    /// A copy of the tree with new ids. Nodes keep their source positions; map entries and fields get the position of the macro's call.
    ///
    /// # Errors
    ///
    /// The tree would have too many nodes.
    pub fn copy(&mut self, expr: &Expr) -> Expansion {
        Ok(self.nodes.copy(expr, self.offset)?)
    }
}

/// The name that an argument consists of.
///
/// # Errors
///
/// The argument is not a simple name. The error has the message `complaint`.
pub fn simple_name(arg: &Expr, complaint: &'static str) -> Result<SmolStr, MacroError> {
    match &arg.kind {
        ExprKind::Ident(name) => Ok(name.clone()),
        _ => Err(MacroError::new(arg.id, complaint)),
    }
}

/// Rejects loop variables that would hide the accumulator: those with the accumulator's name, or with its name in older versions of cel-go.
pub(super) fn refuse_accumulator(name: &str, arg: ExprId) -> Result<(), MacroError> {
    if name == ACCUMULATOR || name == "__result__" {
        return Err(MacroError::new(
            arg,
            "iteration variable overwrites accumulator variable",
        ));
    }
    Ok(())
}
