//! Macros: calls that the parser replaces by other trees (`parser/macro.go`).

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ast::named;
use crate::ast::operators::ACCUMULATOR;
use crate::ast::{Constant, Expr, ExprId, Fold, Name, NameFilter, Nodes, TooManyNodes};
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
pub type Expansion = Result<ExprId, MacroError>;

/// The macros of an environment.
#[derive(Debug, Clone, Default)]
pub struct Macros {
    /// The macros by name, in the reverse order of the tables. If two macros match the same calls, the first one in the vector is used.
    rows: FxHashMap<&'static str, Vec<Macro>>,
    names: NameFilter,
}

impl Macros {
    /// Joins tables of macros. If two macros match the same calls, the one that comes later in the tables is used.
    pub fn new(tables: &[&[Macro]]) -> Self {
        let tables = tables.iter();
        tables.fold(Macros::default(), |macros, table| macros.with(table))
    }

    /// Adds a table of macros. A macro of the table is used instead of an earlier macro that matches the same calls.
    #[must_use]
    pub fn with(mut self, table: &[Macro]) -> Self {
        for row in table {
            self.names.add(row.name);
            self.rows.entry(row.name).or_default().insert(0, *row);
        }
        self
    }

    /// All macros, in no order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Macro> {
        self.rows.values().flatten()
    }

    /// The expander for a call; `None` if no macro matches. Macros with a fixed number of arguments take precedence.
    pub(super) fn find(
        &self,
        name: &str,
        target: Option<Expr<'_>>,
        arguments: usize,
    ) -> Option<Expander> {
        if !self.names.may_have(name) {
            return None;
        }
        let rows = self.rows.get(name)?;
        let accepted = || rows.iter().filter(|row| row.receiver.accepts(target));
        let exact = accepted().find(|row| row.arguments == Some(arguments));
        exact
            .or_else(|| accepted().find(|row| row.arguments.is_none()))
            .map(|row| row.expand)
    }
}

impl Receiver {
    fn accepts(self, target: Option<Expr<'_>>) -> bool {
        match self {
            Receiver::None => target.is_none(),
            Receiver::Any => target.is_some(),
            Receiver::Namespace(name) => target.and_then(Expr::as_ident) == Some(name),
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

/// The arguments of a call. Most calls have at most four.
pub type MacroArguments = SmallVec<[ExprId; 4]>;

/// A call that a macro matches.
#[derive(Debug)]
pub struct MacroCall {
    id: ExprId,
    target: Option<ExprId>,
    args: MacroArguments,
}

impl MacroCall {
    pub(super) fn new(id: ExprId, target: Option<ExprId>, args: MacroArguments) -> Self {
        MacroCall { id, target, args }
    }

    /// The receiver, if the call has one.
    pub fn receiver(&self) -> Option<ExprId> {
        self.target
    }

    /// The arguments. The number of arguments is not checked.
    pub fn into_args(self) -> MacroArguments {
        self.args
    }

    /// The arguments of a macro with exactly `N` arguments.
    ///
    /// # Errors
    ///
    /// The call has another number of arguments.
    pub fn args<const N: usize>(&self) -> Result<[ExprId; N], MacroError> {
        let args = self.args.as_slice().try_into();
        args.map_err(|_| MacroError::new(self.id, "wrong number of arguments"))
    }

    /// The receiver and the arguments of a macro with exactly `N` arguments.
    ///
    /// # Errors
    ///
    /// The call has no receiver, or another number of arguments.
    pub fn receiver_and_args<const N: usize>(&self) -> Result<(ExprId, [ExprId; N]), MacroError> {
        let target = self.target;
        let target = target.ok_or_else(|| MacroError::new(self.id, "receiver expected"))?;
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
    /// The context of the call `id`.
    pub(super) fn new(nodes: &'n mut Nodes, id: ExprId) -> Self {
        let offset = nodes.offset(id);
        MacroContext { nodes, offset }
    }

    /// A node, such as an argument of the call.
    pub fn expr(&self, id: ExprId) -> Expr<'_> {
        self.nodes.expr(id)
    }

    /// A literal.
    pub fn constant(&mut self, value: Constant<'_>) -> ExprId {
        self.nodes.add_constant(self.offset, value)
    }

    /// `true` or `false`.
    pub fn bool(&mut self, value: bool) -> ExprId {
        self.constant(Constant::Bool(value))
    }

    /// The name with this text.
    pub fn name(&mut self, text: &str) -> Name {
        self.nodes.name(text)
    }

    /// A name as an expression.
    pub fn ident(&mut self, name: &str) -> ExprId {
        let name = self.name(name);
        self.named(name)
    }

    /// Like [`ident`](Self::ident), for a name of the tree.
    pub fn named(&mut self, name: Name) -> ExprId {
        self.nodes.add_ident(self.offset, name)
    }

    /// The accumulator's name as an expression.
    pub fn accumulator(&mut self) -> ExprId {
        self.named(named::ACCUMULATOR)
    }

    /// A call of a function or operator.
    pub fn call(&mut self, function: &str, args: &[ExprId]) -> ExprId {
        let function = self.name(function);
        self.call_named(function, args)
    }

    fn call_named(&mut self, function: Name, args: &[ExprId]) -> ExprId {
        let id = self.nodes.id(self.offset);
        self.nodes.set_call(id, function, args, false);
        id
    }

    /// A receiver-style call. `operands` are the receiver and the arguments.
    pub fn member_call(&mut self, function: &str, operands: &[ExprId]) -> ExprId {
        let function = self.name(function);
        let id = self.nodes.id(self.offset);
        self.nodes.set_call(id, function, operands, true);
        id
    }

    /// A list.
    pub fn list(&mut self, elements: &[ExprId]) -> ExprId {
        let id = self.nodes.id(self.offset);
        self.nodes.set_list(id, elements, &[]);
        id
    }

    /// An empty map.
    pub fn empty_map(&mut self) -> ExprId {
        let id = self.nodes.id(self.offset);
        self.nodes.set_map(id, []);
        id
    }

    /// Turns the selection `operand.field` into the presence test `has(operand.field)`. `None` if `select` is not a selection.
    pub fn presence_test(&mut self, select: ExprId) -> Option<ExprId> {
        self.nodes.add_presence_test(self.offset, select)
    }

    /// A comprehension.
    pub fn comprehension(&mut self, fold: Fold) -> ExprId {
        let id = self.nodes.id(self.offset);
        self.nodes.set_fold(id, fold);
        id
    }

    /// Builds an expression that evaluates `result` with `name` bound to `value`: a comprehension over an empty list, with `name` as its
    /// accumulator.
    pub fn bind(&mut self, name: Name, value: ExprId, result: ExprId) -> ExprId {
        let (iter_range, loop_condition) = (self.list(&[]), self.bool(false));
        let loop_step = self.named(name);
        self.comprehension(Fold {
            iter_range,
            iter_var: named::UNUSED,
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
    pub fn copy(&mut self, expr: ExprId) -> Expansion {
        Ok(self.nodes.copy(expr, self.offset)?)
    }

    /// The name that an argument consists of.
    ///
    /// # Errors
    ///
    /// The argument is not a simple name. The error has the message `complaint`.
    pub fn simple_name(&self, arg: ExprId, complaint: &'static str) -> Result<Name, MacroError> {
        let name = self.nodes.ident(arg);
        name.ok_or_else(|| MacroError::new(arg, complaint))
    }

    /// Rejects loop variables that would hide the accumulator: those with the accumulator's name, or with its name in older versions of
    /// cel-go.
    fn refuse_accumulator(&self, name: Name, arg: ExprId) -> Result<(), MacroError> {
        if matches!(self.nodes.text(name), ACCUMULATOR | "__result__") {
            return Err(MacroError::new(
                arg,
                "iteration variable overwrites accumulator variable",
            ));
        }
        Ok(())
    }
}
