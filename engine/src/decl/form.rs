//! Special properties of functions: how their calls are planned, which properties of their results are known, and which literals validators
//! check.

/// The kinds of calls that the planner handles specially. It plans all other calls as calls of the function's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `a && b`
    And,
    /// `a || b`
    Or,
    /// `!a`
    Not,
    /// `@not_strictly_false(a)`, which makes a quantifier continue after an error.
    NotStrictlyFalse,
    /// `a ? b : c`
    Conditional,
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
    /// `a < b`
    Less,
    /// `a <= b`
    LessOrEqual,
    /// `a > b`
    Greater,
    /// `a >= b`
    GreaterOrEqual,
    /// `a[b]`
    Index,
    /// `a[?b]`, `a.?b`
    OptionalIndex,
    /// `a in list`: a constant list becomes a set.
    Membership,
    /// `a.matches(b)`: a constant pattern is compiled once, and predicates search without building a value.
    Match,
    /// `a.or(b)`, which evaluates `b` only if it is needed.
    OptionalOr,
    /// `a.orValue(b)`, which evaluates `b` only if it is needed.
    OptionalOrValue,
    /// The expansion of `cel.block`.
    Block,
    /// A conversion. Planning converts a constant argument; if the conversion fails, planning fails.
    Conversion,
    /// A function that parses a text. Parsing is expensive, so calls that read the same text share the parsed value.
    Parse,
}

/// The rule by which validators check literals in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiteralRule {
    /// If the first argument is a literal, it must be a valid duration.
    Duration,
    /// If the first argument is a literal, its conversion to a timestamp must succeed.
    Timestamp,
    /// If the first argument is a literal, it must be a valid regular expression.
    Pattern,
    /// Lists and maps in the call may hold values of several types.
    Mixed,
}

/// A set of rules by which validators check literals, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LiteralRules(u8);

impl LiteralRules {
    /// The rules of both sets.
    pub fn union(self, other: LiteralRules) -> LiteralRules {
        LiteralRules(self.0 | other.0)
    }

    /// Whether the set has no rule.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the rule is in the set.
    pub fn has(self, rule: LiteralRule) -> bool {
        self.0 & LiteralRules::from(rule).0 != 0
    }
}

impl From<LiteralRule> for LiteralRules {
    fn from(rule: LiteralRule) -> Self {
        LiteralRules(1 << rule as u8)
    }
}

/// The operands that a call only reads: the call neither changes nor returns them, and does not depend on their identity. Calls that only
/// read an operand can use a value that was parsed once from a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reads {
    /// No operands are declared.
    #[default]
    Unsaid,
    /// All operands but the first. The call changes the first operand only if one of its operands
    /// [may change operands](crate::value::Opaque::may_change_operands).
    Later,
    /// All operands.
    All,
}

/// The known properties of a call's result: its size, and the values that it comes from. Kubernetes' estimate uses only the variants up to
/// [`Values`](Self::Values); [bounds](mod@crate::estimate) use all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Yield {
    /// Nothing is known.
    #[default]
    Unsaid,
    /// The result is the argument.
    Argument,
    /// The size of the result is the sum of the arguments' sizes.
    Sum,
    /// The result is an element of the first argument, which is a list.
    Items,
    /// The result is a value of the first argument, which is a map.
    Values,
    /// Either the argument is an optional and the result is its value, or the result is an optional that holds the argument.
    Held,
    /// The result is one of the arguments.
    Either,
    /// The result is the argument converted to text.
    Printed,
    /// The result is a list of parts of the first argument, a text. The list has at most one more element than the text has code points.
    Parts,
    /// The result may be larger than Kubernetes' estimate of its size.
    Larger,
    /// The result is the argument in quotes.
    Quoted,
}
