//! What is special of a function: how its calls are planned, what is known of their results, and what validators ask of
//! literals in them.

/// How calls are planned that are more than calls of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `a && b`
    And,
    /// `a || b`
    Or,
    /// `!a`
    Not,
    /// Keeps quantifiers going past errors.
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
    /// `a.or(b)`, which evaluates `b` only where it is needed.
    OptionalOr,
    /// `a.orValue(b)`, which evaluates `b` only where it is needed.
    OptionalOrValue,
    /// What `cel.block` expands to.
    Block,
    /// A conversion: of a constant it is a constant, and fails when it is planned.
    Conversion,
    /// A value that is read from a text, which takes long: of the same text it is read once.
    Parse,
}

/// What validators ask of the literals in a call.
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

/// What is known of the size of a result beyond what the cost says, and of where the result comes from. All but the first
/// five count for [bounds](mod@crate::estimate) alone: Kubernetes does not know them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Yield {
    /// Nothing.
    #[default]
    Unsaid,
    /// It is the argument.
    Argument,
    /// It is both arguments together.
    Sum,
    /// It is an element of the first argument, a list.
    Items,
    /// It is a value of the first argument, a map.
    Values,
    /// It is what the argument holds, or holds the argument.
    Held,
    /// It is one of the arguments.
    Either,
    /// It is the text of the argument.
    Printed,
    /// It is a list of parts of the first argument, one more than its code points at most.
    Parts,
    /// It may be larger than the cost says.
    Larger,
    /// It is the argument in quotes.
    Quoted,
}
