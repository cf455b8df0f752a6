//! The tree of a program. The planner builds it, and the evaluation walks it.

use std::sync::Arc;

use smallvec::SmallVec;
use smol_str::SmolStr;

use super::overloads::Overloads;
use super::path::{PathId, PathSet, SlotId};
use crate::ast::ExprId;
use crate::cost::Cost;
use crate::decl::{Function, OverloadDecl, PatternFunction, Specialized, TextTest};
use crate::error::EvalError;
use crate::value::{FieldKey, ObjectKind, OwnedValue};
use gavel_golang::regex::Regex;

/// A step of a program.
#[derive(Debug)]
pub(super) enum Step {
    /// A constant: a literal, or a value that the planner computed. It costs nothing.
    Constant(Box<OwnedValue>),
    /// A constant list or map whose evaluation failed when it was planned.
    Failure(EvalError),
    /// A loop variable or accumulator without selections and indices: its slot, and the equivalent attribute.
    Local(SlotId, Box<Attribute>),
    /// Any other chain, such as `a`, `a.b[0]`, `f(x).b` or `c ? a : b`; also a presence test of a chain.
    Attribute(Box<Attribute>),
    /// `a && b && c`
    And(Box<Junction>),
    /// `!a`
    Not(Box<Step>, ExprId),
    /// `a || b || c`
    Or(Box<Junction>),
    /// `a == b`, `a != b`
    Equality(Box<Equality>),
    /// `a < b`, `a <= b`, `a > b`, `a >= b`
    Comparison(Box<Comparison>),
    /// A call of a function.
    Call(Box<FunctionCall>),
    /// `x in [1, 2, 3]`, where the list is constant.
    Membership(Box<Membership>),
    /// `@not_strictly_false(x)`
    NotStrictlyFalse(Box<Step>),
    /// `a.or(b)`
    OptionalOr(Box<[Step; 2]>),
    /// `a.orValue(b)`
    OptionalOrValue(Box<[Step; 2]>, ExprId),
    /// `[a, b]`
    List(Box<ListLiteral>),
    /// `{a: b}`
    Map(Box<MapLiteral>),
    /// `Type{field: a}`
    Struct(Box<StructLiteral>),
    /// A comprehension.
    Fold(Box<FoldStep>),
    /// The expansion of `cel.block`.
    Block(Box<Block>),
    /// An operand that reads no varying variable, beside an operand that reads one.
    Invariant(Box<Invariant>),
}

// Every evaluation walks many steps, so a step must be small.
const _: () = assert!(size_of::<Step>() <= 16);

impl From<OwnedValue> for Step {
    fn from(value: OwnedValue) -> Self {
        Step::Constant(Box::new(value))
    }
}

impl From<Attribute> for Step {
    fn from(chain: Attribute) -> Self {
        match chain.base {
            Base::Slot(slot) => Step::Local(slot, Box::new(chain)),
            _ => Step::Attribute(Box::new(chain)),
        }
    }
}

/// The operands of `&&` or `||`. Nested operands of the same operator are flattened: `a && (b && c)` has three terms.
#[derive(Debug, Default)]
pub(super) struct Junction {
    pub(super) terms: SmallVec<[Term; 2]>,
}

/// An operand of `&&` or `||`.
#[derive(Debug)]
pub(super) struct Term {
    pub(super) step: Step,
    /// The node of the operator.
    pub(super) id: ExprId,
    /// If this term begins a ladder, the number of its terms, otherwise 0. A ladder tests the presence of ever longer chains, and can end
    /// with the value of the longest chain: `has(a.b) && has(a.b.c) && a.b.c`, `!has(a.b) || !a.b.c`.
    pub(super) ladder: u16,
    /// The number of fields of the term's chain, if the term is part of a ladder.
    pub(super) fields: u8,
    /// Whether the term tests the presence of its chain, if the term is part of a ladder.
    pub(super) presence: bool,
}

/// `x in [1, 2, 3]`, where the list is constant. `set` holds the list's elements and their counterparts of the other number types, sorted
/// by [`key_order`].
#[derive(Debug)]
pub(super) struct Membership {
    pub(super) id: ExprId,
    pub(super) element: Step,
    pub(super) set: Box<[OwnedValue]>,
}

/// A chain: a base followed by selections and indices, such as `a.b[0].?c`.
#[derive(Debug)]
pub(super) struct Attribute {
    /// The node at which the chain starts.
    pub(super) id: ExprId,
    pub(super) base: Base,
    /// The selected fields at the beginning of the chain, such as `a.b` in `x.a.b[0].c`.
    pub(super) fields: SmallVec<[Field; 2]>,
    /// The selections and indices after `fields`.
    pub(super) qualifiers: Vec<Qualifier>,
    /// The paths of the fields.
    pub(super) paths: PathSet,
    /// Whether the chain is a presence test: `has(…)` of its last field or qualifier.
    pub(super) presence: bool,
}

/// A field that is selected.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) key: FieldKey,
    /// The path that ends with the field.
    pub(super) path: PathId,
    pub(super) id: ExprId,
}

/// The base of a chain: the value that it selects from.
// `repr(u8)` gives the discriminant a byte of its own. Otherwise the compiler puts it in a niche, and each match has to decode it.
#[derive(Debug)]
#[repr(u8)]
pub(super) enum Base {
    /// A variable of the activation.
    Variable(usize),
    /// A loop variable or an accumulator.
    Slot(SlotId),
    /// The result of a step, such as a call.
    Operand(Step),
    /// `a ? b : c`
    Conditional(Box<Conditional>),
    /// An undeclared name in an expression that was not checked.
    Unbound(SmolStr),
}

/// `condition ? truthy : falsy`.
#[derive(Debug)]
pub(super) struct Conditional {
    pub(super) condition: Step,
    pub(super) truthy: Attribute,
    pub(super) falsy: Attribute,
}

/// A selection or index.
#[derive(Debug)]
pub(super) struct Qualifier {
    pub(super) key: QualifierKey,
    /// Whether the selection or index is optional: `.?f` or `[?i]`.
    pub(super) optional: bool,
    pub(super) id: ExprId,
}

/// The key of a lookup.
#[derive(Debug)]
pub(super) enum QualifierKey {
    /// A constant text: the name of a field or a map key.
    Field(FieldKey),
    /// A field of an object whose static type accepts any field.
    Declared(Box<str>),
    /// A constant that is not a text.
    Constant(OwnedValue),
    /// The value of a chain.
    Attribute(Box<Attribute>),
    /// The result of a step, such as a call.
    Computed(Step),
}

/// The two operands of an operator that evaluates both.
#[derive(Debug)]
pub(super) struct Operands {
    /// The operator's node.
    pub(super) id: ExprId,
    pub(super) left: Step,
    pub(super) right: Step,
    pub(super) cost: Cost,
}

/// `a == b`, `a != b`.
#[derive(Debug)]
pub(super) struct Equality {
    pub(super) operands: Operands,
    pub(super) negated: bool,
}

/// `a < b`, `a <= b`, `a > b`, `a >= b`.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) operands: Operands,
    pub(super) operator: Operator,
    /// The function that compares operands of any type.
    pub(super) function: Function,
}

/// The operator of a comparison.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operator {
    Less,
    LessEquals,
    Greater,
    GreaterEquals,
}

/// A call.
#[derive(Debug)]
pub(super) struct FunctionCall {
    pub(super) id: ExprId,
    pub(super) function: SmolStr,
    pub(super) callee: Callee,
    pub(super) arguments: SmallVec<[Step; 2]>,
    /// Whether the first argument that fails ends the call. The call is then not charged, unless that argument was the last one. If false,
    /// all arguments are evaluated before the call fails.
    pub(super) stops_early: bool,
    pub(super) cost: Cost,
    /// Whether the call may read texts or bytes at a fixed cost. Their size then counts as work.
    pub(super) reads_texts: bool,
    /// How the result of a call that parses a text is reused; `None` if it is not reused.
    pub(super) read: Option<ReadOnce>,
    /// Whether the step that uses the result only reads it ([`Reads`](crate::decl::Reads)). A cached value then needs no copy.
    pub(super) is_only_read: bool,
    /// Whether the first of two arguments is a value that other calls use too, and that this call may change ([`Reads::Later`]).
    ///
    /// [`Reads::Later`]: crate::decl::Reads::Later
    pub(super) shares_first: bool,
}

/// A value that calls share instead of parsing the same text again.
#[derive(Debug)]
pub(super) enum ReadOnce {
    /// A value that the planner parsed from a constant text, and the cost of the call.
    Constant(OwnedValue, u64),
    /// A value that is parsed from the text at this path. If the path begins with a loop variable or accumulator, the second field is the
    /// slot of that variable. Otherwise it is `None`.
    AtPath(PathId, Option<SlotId>),
}

/// The implementation of a call. The variants differ in how the types of the arguments are checked.
#[derive(Debug)]
pub(super) enum Callee {
    /// A function that checks the types of its arguments itself.
    Known(Function),
    /// Like `Known`, with a second implementation that takes two Rust strings and returns a bool.
    OfTexts(TextTest, Function),
    /// Like `Known`, for the function that implements `in`. A call costs one unit per element of a list, unless its cost is fixed.
    In(Function),
    /// The implementation of an overload. According to the checker, the arguments have the overload's types. A call with a value of another
    /// type fails.
    Trusted(Function, Arc<OverloadDecl>),
    /// The implementation of an overload. It is called only if the arguments have the overload's types.
    Guarded(Function, Arc<OverloadDecl>),
    /// The implementations of several overloads. The first overload whose types fit the arguments is called.
    Dispatched(Box<Overloads>),
    /// An implementation with a constant pattern. It checks the types of its arguments itself.
    Compiled(PatternFunction, Box<Regex>),
    /// Like `Compiled`, for the function that implements `matches`.
    Matches(PatternFunction, Box<Regex>),
    /// An implementation for a constant receiver. If it does not compute a call, the overload's own implementation does, as for `Guarded`.
    Specialized(Box<dyn Specialized>, Function, Arc<OverloadDecl>),
    /// No implementation. Every call fails.
    Missing,
}

/// `[a, ?b]`.
#[derive(Debug)]
pub(super) struct ListLiteral {
    pub(super) id: ExprId,
    pub(super) elements: Box<[Element]>,
}

/// An element of a list literal, or a field of a struct literal.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) value: Step,
    pub(super) optional: bool,
}

/// `{a: b, ?c: d}`.
#[derive(Debug)]
pub(super) struct MapLiteral {
    pub(super) id: ExprId,
    pub(super) entries: Box<[(Step, Element)]>,
    /// Whether the specification's rules for keys apply.
    pub(super) specified: bool,
}

/// `Type{field: a}`
#[derive(Debug)]
pub(super) struct StructLiteral {
    pub(super) id: ExprId,
    pub(super) type_name: SmolStr,
    /// The behavior of the object. `None` for the language's own types, and for host types that struct literals cannot create.
    pub(super) object: Option<ObjectKind>,
    pub(super) fields: Box<[(SmolStr, Element)]>,
}

/// A step whose result evaluations can share, because it reads neither loop variables nor varying variables.
#[derive(Debug)]
pub(super) struct Invariant {
    pub(super) step: Step,
    /// The position of the result among the program's [`Invariants`](super::Invariants).
    pub(super) position: usize,
}

/// A comprehension.
#[derive(Debug)]
pub(super) struct FoldStep {
    pub(super) id: ExprId,
    pub(super) range: Step,
    /// The slot of the first loop variable.
    pub(super) var: SlotId,
    /// The slot of the second loop variable; `None` if the loop has one variable.
    pub(super) var2: Option<SlotId>,
    pub(super) kind: FoldKind,
}

/// The kind of a comprehension.
#[derive(Debug)]
pub(super) enum FoldKind {
    /// `all` or `exists`. An element for which the predicate is `decisive` decides the result: false for `all`, true for `exists`.
    Quantifier {
        decisive: bool,
        predicate: Step,
        /// The test for the fast loop, if the predicate compares the element with a constant int.
        test: Option<IntTest>,
    },
    /// `exists_one`
    ExistsOne { predicate: Step },
    /// `map`, `filter`, `transformList`
    List { filter: Option<Step>, element: Step },
    /// `transformMap`, `transformMapEntry`
    Map {
        filter: Option<Step>,
        insert: Insert,
    },
    /// Any other comprehension.
    General(Box<General>),
}

/// A comparison such as `x < 5` of a loop variable with a constant int.
#[derive(Debug)]
pub(super) struct IntTest {
    pub(super) operator: Operator,
    pub(super) bound: i64,
}

/// What an iteration of the loop adds to a map.
#[derive(Debug)]
pub(super) enum Insert {
    /// One entry.
    Entry { key: Step, value: Step },
    /// The entries of a map.
    Entries(Step),
}

/// A comprehension that is not the expansion of a known macro.
#[derive(Debug)]
pub(super) struct General {
    pub(super) accu: SlotId,
    pub(super) init: Step,
    pub(super) condition: Step,
    pub(super) step: Step,
    pub(super) result: Step,
}

/// The expansion of `cel.block`.
#[derive(Debug)]
pub(super) struct Block {
    /// The shared subexpressions with their slots. Each of them can only use earlier ones.
    pub(super) parts: Box<[(SlotId, Step)]>,
    pub(super) result: Step,
}
