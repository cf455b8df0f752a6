//! Special properties of functions: how their calls are planned, what is known of their results, and which literals validators
//! check.

/// Functions whose calls are not planned as plain calls of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `a && b`
    And,
    /// `a || b`
    Or,
    /// `!a`
    Not,
    /// Lets a quantifier continue after an error.
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
    /// `a.or(b)`, which evaluates `b` only if it is needed.
    OptionalOr,
    /// `a.orValue(b)`, which evaluates `b` only if it is needed.
    OptionalOrValue,
    /// The expansion of `cel.block`.
    Block,
    /// A conversion: of a constant, it is computed when it is planned, and may fail there.
    Conversion,
    /// A value parsed from a text, which is expensive: the same text is parsed once.
    Parse,
}

/// The check of literals in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiteralRule {
    /// The first argument must be a duration.
    Duration,
    /// The first argument must be a timestamp.
    Timestamp,
    /// The first argument must be a regular expression.
    Pattern,
    /// Lists and maps in the call may hold values of several types.
    Mixed,
}

/// What is known of a result beyond its estimated cost: its size, and which values it comes from. All but the first five count
/// only for [bounds](mod@crate::estimate): Kubernetes does not know them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Yield {
    /// Nothing is known.
    #[default]
    Unsaid,
    /// The result is the argument.
    Argument,
    /// The result is both arguments together.
    Sum,
    /// The result is an element of the first argument, a list.
    Items,
    /// The result is a value of the first argument, a map.
    Values,
    /// The result is the value that the argument holds, or holds the argument.
    Held,
    /// The result is one of the arguments.
    Either,
    /// The result is the text of the argument.
    Printed,
    /// The result is a list of parts of the first argument, at most one more than it has code points.
    Parts,
    /// The result may be larger than its estimate says.
    Larger,
    /// The result is the argument in quotes.
    Quoted,
}
