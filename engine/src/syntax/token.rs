//! Tokens and sets of tokens. The numbers are those of cel-go's grammar: messages list expected tokens in their order.

use crate::source::Offset;

/// What a token is.
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

/// A token: its kind and its place in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    /// What it is.
    pub(super) kind: TokenKind,
    /// Where it starts, in code points.
    pub(super) offset: Offset,
    /// Where it starts, in bytes.
    pub(super) start: usize,
    /// Where it ends, in bytes.
    pub(super) end: usize,
}

impl Token {
    /// What is written there.
    pub(super) fn text(self, source: &str) -> &str {
        source.get(self.start..self.end).unwrap_or_default()
    }
}
