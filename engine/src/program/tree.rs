//! The tree of a program, which planning builds and evaluation walks. Each part's evaluation is in its own module.

use std::sync::Arc;

use smallvec::SmallVec;
use smol_str::SmolStr;

use super::path::{PathId, PathSet, SlotId};
use crate::ast::ExprId;
use crate::cost::Cost;
use crate::decl::{Function, OverloadDecl, PatternFunction, TextTest};
use crate::error::EvalError;
use crate::value::{FieldKey, ObjectKind, OwnedValue};
use gavel_golang::regex::Regex;

/// A step of a program.
#[derive(Debug)]
pub(super) enum Step {
    /// A constant: a literal, or a value that planning computed. Costs nothing.
    Constant(Box<OwnedValue>),
    /// A constant that cannot be built.
    Failure(EvalError),
    /// A loop variable or accumulator without selections and indices: its slot, and the equivalent attribute.
    Local(SlotId, Box<Attribute>),
    /// A variable with selections and indices, a conditional, or a presence test of either.
    Attribute(Box<Attribute>),
    /// `a && b`
    And(Box<[Step; 2]>, ExprId),
    /// `!a`
    Not(Box<Step>, ExprId),
    /// `a || b`
    Or(Box<[Step; 2]>, ExprId),
    /// `a == b`, `a != b`
    Equality(Box<Equality>),
    /// `a < b`, `a <= b`, `a > b`, `a >= b`
    Comparison(Box<Comparison>),
    /// A function.
    Call(Box<FunctionCall>),
    /// `x in [1, 2, 3]` of constants.
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
}

// Steps are walked at every evaluation, and there are many of them.
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

/// `x in [1, 2, 3]` with constants: the elements ordered by [`key_order`], each together with the equal numbers of other types.
#[derive(Debug)]
pub(super) struct Membership {
    pub(super) id: ExprId,
    pub(super) element: Step,
    pub(super) set: Box<[OwnedValue]>,
}

/// A chain: its start and the lookups that follow.
#[derive(Debug)]
pub(super) struct Attribute {
    /// The node at which the chain starts.
    pub(super) id: ExprId,
    pub(super) base: Base,
    /// The fields that are selected first, one after the other.
    pub(super) fields: SmallVec<[Field; 2]>,
    /// The lookups after the fields.
    pub(super) qualifiers: Vec<Qualifier>,
    /// The paths of the fields.
    pub(super) paths: PathSet,
    /// Whether the chain is a presence test, `has(…)`, of its last field or qualifier.
    pub(super) presence: bool,
}

/// A field that is selected.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) key: FieldKey,
    /// The path up to the field.
    pub(super) path: PathId,
    pub(super) id: ExprId,
}

/// What a chain of selections and indices starts at.
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
    /// A name that nothing binds, in an expression that was not checked.
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
    /// `.?f`, `[?i]`
    pub(super) optional: bool,
    pub(super) id: ExprId,
}

/// The key of a lookup.
#[derive(Debug)]
pub(super) enum QualifierKey {
    /// A field or a text key.
    Field(FieldKey),
    /// A field of an object whose static type accepts any field.
    Declared(Box<str>),
    /// Another constant.
    Constant(OwnedValue),
    /// The value of a chain.
    Attribute(Box<Attribute>),
    /// The result of a step, such as a call.
    Computed(Step),
}

/// Two operands. Both are always evaluated.
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
    /// The operator for operands of any type.
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
    pub(super) arguments: Box<[Step]>,
    /// Whether the first failed argument ends the call; the call is then not charged if more arguments would follow. Otherwise all
    /// arguments are evaluated first.
    pub(super) stops_early: bool,
    pub(super) cost: Cost,
    /// Where the result of a call that parses a text is kept; `None` if it is not kept.
    pub(super) read: Option<ReadOnce>,
    /// Whether the step that uses the result only reads it ([`Reads`](crate::decl::Reads)), so that a kept value needs no copy.
    pub(super) is_only_read: bool,
}

/// A value that is parsed from a text once.
#[derive(Debug)]
pub(super) enum ReadOnce {
    /// Parsed from a constant text.
    Constant(OwnedValue),
    /// Parsed from the text at the end of a path. The slot is that of the loop variable at which the path begins; `None` if it begins at
    /// another variable.
    AtPath(PathId, Option<SlotId>),
}

/// The implementation that a call runs, and who checks the types of the arguments.
#[derive(Debug)]
pub(super) enum Callee {
    /// A function that checks its arguments itself.
    Known(Function),
    /// Like `Known`, together with the same function on Rust types, which takes two texts and returns a bool.
    OfTexts(TextTest, Function),
    /// The implementation of one overload. The arguments are known to have its types; a value of another type makes the call fail.
    Trusted(Function, Arc<OverloadDecl>),
    /// The implementation of one overload, if the arguments have its types.
    Guarded(Function, Arc<OverloadDecl>),
    /// The first of these overloads whose types the arguments have.
    Dispatched(Box<[(Function, Arc<OverloadDecl>)]>),
    /// An implementation with its constant pattern. It checks its arguments itself.
    Compiled(PatternFunction, Box<Regex>),
    /// No implementation.
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
    /// The behavior of the object, if the type is a host's; `None` for the language's own types.
    pub(super) object: Option<ObjectKind>,
    pub(super) fields: Box<[(SmolStr, Element)]>,
}

/// A comprehension.
#[derive(Debug)]
pub(super) struct FoldStep {
    pub(super) id: ExprId,
    pub(super) range: Step,
    /// The slot of the first loop variable.
    pub(super) var: SlotId,
    /// The slot of the second loop variable; `None` if there is only one.
    pub(super) var2: Option<SlotId>,
    pub(super) kind: FoldKind,
}

/// The kind of a comprehension.
#[derive(Debug)]
pub(super) enum FoldKind {
    /// `all`, which a false element decides, or `exists`, which a true element decides.
    Quantifier {
        decisive: bool,
        predicate: Step,
        /// The test, if the predicate only compares ints.
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

/// `x < 5` with a loop variable and an int.
#[derive(Debug)]
pub(super) struct IntTest {
    pub(super) operator: Operator,
    pub(super) bound: i64,
}

/// What a step adds to a map.
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
    /// The parts with their slots. A part only reads earlier parts.
    pub(super) parts: Box<[(SlotId, Step)]>,
    pub(super) result: Step,
}
