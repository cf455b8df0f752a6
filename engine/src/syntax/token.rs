//! Tokens and sets of tokens. The kinds are in the order of cel-go's grammar, because messages list expected tokens in this order.

use std::fmt;

use crate::ast::Name;
use crate::source::Offset;

/// The kind of a token: an operator, a literal, a name or the end of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum TokenKind {
    Eof,
    Equals,
    NotEquals,
    In,
    Less,
    LessEquals,
    GreaterEquals,
    Greater,
    LogicalAnd,
    LogicalOr,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    LeftParen,
    RightParen,
    Dot,
    Comma,
    Minus,
    Exclam,
    QuestionMark,
    Colon,
    Plus,
    Star,
    Slash,
    Percent,
    True,
    False,
    Null,
    Float,
    Int,
    Uint,
    String,
    Bytes,
    Identifier,
    EscapedIdentifier,
}

/// A token: its kind and its position in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    /// The kind.
    pub(super) kind: TokenKind,
    /// The start, in code points.
    pub(super) offset: Offset,
    /// The start, in bytes.
    pub(super) start: usize,
    /// The end, in bytes.
    pub(super) end: usize,
}

impl Token {
    /// The text of the token.
    pub(super) fn text(self, source: &str) -> &str {
        source.get(self.start..self.end).unwrap_or_default()
    }

    /// The text of the token as a name of a tree.
    pub(super) fn name(self) -> Name {
        Name::at(self.start, self.end)
    }
}

/// The kinds of tokens, each with its name in error messages, in the order in which messages list expected tokens.
const NAMES: [(TokenKind, &str); 36] = [
    (TokenKind::Eof, "<EOF>"),
    (TokenKind::Equals, "'=='"),
    (TokenKind::NotEquals, "'!='"),
    (TokenKind::In, "'in'"),
    (TokenKind::Less, "'<'"),
    (TokenKind::LessEquals, "'<='"),
    (TokenKind::GreaterEquals, "'>='"),
    (TokenKind::Greater, "'>'"),
    (TokenKind::LogicalAnd, "'&&'"),
    (TokenKind::LogicalOr, "'||'"),
    (TokenKind::LeftBracket, "'['"),
    (TokenKind::RightBracket, "']'"),
    (TokenKind::LeftBrace, "'{'"),
    (TokenKind::RightBrace, "'}'"),
    (TokenKind::LeftParen, "'('"),
    (TokenKind::RightParen, "')'"),
    (TokenKind::Dot, "'.'"),
    (TokenKind::Comma, "','"),
    (TokenKind::Minus, "'-'"),
    (TokenKind::Exclam, "'!'"),
    (TokenKind::QuestionMark, "'?'"),
    (TokenKind::Colon, "':'"),
    (TokenKind::Plus, "'+'"),
    (TokenKind::Star, "'*'"),
    (TokenKind::Slash, "'/'"),
    (TokenKind::Percent, "'%'"),
    (TokenKind::True, "'true'"),
    (TokenKind::False, "'false'"),
    (TokenKind::Null, "'null'"),
    (TokenKind::Float, "NUM_FLOAT"),
    (TokenKind::Int, "NUM_INT"),
    (TokenKind::Uint, "NUM_UINT"),
    (TokenKind::String, "STRING"),
    (TokenKind::Bytes, "BYTES"),
    (TokenKind::Identifier, "IDENTIFIER"),
    (TokenKind::EscapedIdentifier, "ESC_IDENTIFIER"),
];

/// A set of token kinds that may come next, and a flag that the grammar rule may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TokenSet(u64);

impl TokenSet {
    /// The empty set.
    pub(super) const EMPTY: TokenSet = TokenSet(0);
    /// A set of no kinds, with the flag that the rule may end.
    pub(super) const END_OF_RULE: TokenSet = TokenSet(1u64.wrapping_shl(63));

    /// A set of one kind.
    pub(super) fn one(kind: TokenKind) -> Self {
        TokenSet(1u64.wrapping_shl(u32::from(kind as u8)))
    }

    /// A set of kinds.
    pub(super) fn of(kinds: &[TokenKind]) -> Self {
        kinds
            .iter()
            .fold(TokenSet::EMPTY, |set, kind| set.union(TokenSet::one(*kind)))
    }

    /// The union of both sets.
    pub(super) fn union(self, other: TokenSet) -> Self {
        TokenSet(self.0 | other.0)
    }

    /// The same kinds, without the flag that the rule may end.
    pub(super) fn without_end_of_rule(self) -> Self {
        TokenSet(self.0 & !TokenSet::END_OF_RULE.0)
    }

    /// Whether the kind is in the set.
    pub(super) fn contains(self, kind: TokenKind) -> bool {
        self.0 & TokenSet::one(kind).0 != 0
    }

    /// The first kind of the set, in the order of all kinds; `None` if the set has no kind.
    pub(super) fn first(self) -> Option<TokenKind> {
        self.kinds().next().map(|(kind, _)| kind)
    }

    /// The kinds in order, each with its name.
    fn kinds(self) -> impl Iterator<Item = (TokenKind, &'static str)> {
        NAMES
            .into_iter()
            .filter(move |(kind, _)| self.contains(*kind))
    }

    /// Whether the rule may end.
    pub(super) fn ends_rule(self) -> bool {
        self.0 & TokenSet::END_OF_RULE.0 != 0
    }
}

impl fmt::Display for TokenSet {
    /// Writes a single kind as its name, and several kinds as `{a, b}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.kinds().map(|(_, name)| name).collect();
        match names.as_slice() {
            [name] => f.write_str(name),
            names => write!(f, "{{{}}}", names.join(", ")),
        }
    }
}
