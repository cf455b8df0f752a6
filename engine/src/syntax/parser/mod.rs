//! The parser of valid expressions: recursive descent, one function for each precedence. `primary` parses what operators connect.
//!
//! This parser gives up at the first error or exceeded limit. [`recovery`](super::recovery) then parses the text again to report the
//! error. Both parsers build the same tree with the same ids from a valid expression.

mod primary;

use smallvec::SmallVec;

use super::builder::Builder;
use super::lexer::Lexer;
use super::macros::Macros;
use super::token::{Token, TokenKind};
use super::{MAX_DEPTH, ParserOptions};
use crate::ast::named;
use crate::ast::{Ast, ExprId, Name};
use crate::source::Source;

/// Returns the tree, or the source if the expression has an error.
pub(super) fn parse(
    source: Source,
    options: &ParserOptions,
    macros: &Macros,
) -> Result<Ast, Source> {
    // Most expressions have no more tokens than this.
    let mut tokens: SmallVec<[Token; 64]> = SmallVec::new();
    let mut lexer = Lexer::new(&source);
    loop {
        let Ok(token) = lexer.next() else {
            return Err(source);
        };
        tokens.push(token);
        if token.kind == TokenKind::Eof {
            break;
        }
    }
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        options,
        builder: Builder::new(source, macros, tokens.len()),
        depth: Depth::default(),
        height: 0,
    };
    match parser.whole() {
        Some(()) => parser.builder.finish(),
        None => Err(parser.builder.into_source()),
    }
}

/// The parser of one expression. Each function that parses a part of the text leaves its expression on the builder's stack.
struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    options: &'a ParserOptions,
    builder: Builder<'a>,
    depth: Depth,
    /// The height of the last expression: the nesting depth of conditionals, relations, sums and products, selections, receiver-style calls
    /// and indices in it.
    height: u32,
}

/// For each of these grammar rules, the current nesting depth. Other rules cannot be nested deeper than these.
#[derive(Default)]
struct Depth {
    expr: u32,
    relation: u32,
    calc: u32,
}

fn enter(depth: &mut u32) -> Option<()> {
    *depth = depth.saturating_add(1);
    (*depth <= MAX_DEPTH).then_some(())
}

fn leave(depth: &mut u32) {
    *depth = depth.saturating_sub(1);
}

impl Parser<'_> {
    /// Parses the whole text.
    fn whole(&mut self) -> Option<()> {
        self.expr()?;
        self.eat(TokenKind::Eof).map(|_| ())
    }

    fn text(&self, token: Token) -> &str {
        token.text(self.builder.nodes.source().text())
    }

    fn ahead(&self, tokens: usize) -> Option<Token> {
        self.tokens.get(self.at.saturating_add(tokens)).copied()
    }

    fn kind_ahead(&self, tokens: usize) -> TokenKind {
        self.ahead(tokens)
            .map_or(TokenKind::Eof, |token| token.kind)
    }

    fn kind(&self) -> TokenKind {
        self.kind_ahead(0)
    }

    #[inline(always)]
    fn bump(&mut self) -> Option<Token> {
        let token = self.ahead(0)?;
        self.at = self.at.saturating_add(1);
        Some(token)
    }

    /// Consumes the next token if it has this kind.
    #[inline(always)]
    fn eat(&mut self, kind: TokenKind) -> Option<Token> {
        if self.kind() == kind {
            self.bump()
        } else {
            None
        }
    }

    /// Consumes a `?` that makes an element optional. Returns whether there is one; `None` if it is not allowed.
    fn optional_mark(&mut self) -> Option<bool> {
        let marked = self.eat(TokenKind::QuestionMark).is_some();
        (!marked || self.options.optional_syntax).then_some(marked)
    }

    /// Parses the name of a field.
    #[inline(always)]
    fn field_name(&mut self) -> Option<Token> {
        let token = self.bump()?;
        match token.kind {
            TokenKind::Identifier => Some(token),
            TokenKind::EscapedIdentifier if self.options.escaped_identifiers => Some(Token {
                start: token.start.saturating_add(1),
                end: token.end.saturating_sub(1),
                ..token
            }),
            _ => None,
        }
    }

    /// Parses another operand of the current expression. The new height is the larger of the old height and the operand's height.
    fn with(&mut self, read: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        let height = self.height;
        read(self)?;
        self.height = self.height.max(height);
        Some(())
    }

    /// Adds one to the height; `None` if the tree would be too high. The limit exists because other code visits trees recursively.
    fn raise(&mut self) -> Option<()> {
        enter(&mut self.height)
    }

    fn expr(&mut self) -> Option<()> {
        enter(&mut self.depth.expr)?;
        self.or()?;
        if let Some(mark) = self.eat(TokenKind::QuestionMark) {
            let id = self.builder.nodes.id(mark.offset);
            self.with(Self::or)?;
            self.eat(TokenKind::Colon)?;
            self.with(Self::expr)?;
            self.raise()?;
            self.builder.operator(id, named::CONDITIONAL, 3);
        }
        leave(&mut self.depth.expr);
        Some(())
    }

    #[inline(always)]
    fn or(&mut self) -> Option<()> {
        self.and()?;
        match self.kind() {
            TokenKind::LogicalOr => {
                let name = named::LOGICAL_OR;
                self.chain(TokenKind::LogicalOr, name, Self::and)
            }
            _ => Some(()),
        }
    }

    #[inline(always)]
    fn and(&mut self) -> Option<()> {
        self.relation()?;
        match self.kind() {
            TokenKind::LogicalAnd => {
                let name = named::LOGICAL_AND;
                self.chain(TokenKind::LogicalAnd, name, Self::relation)
            }
            _ => Some(()),
        }
    }

    /// Parses the rest of a chain of `&&` or `||` after its first term.
    #[inline(never)]
    fn chain(
        &mut self,
        kind: TokenKind,
        name: Name,
        term: fn(&mut Self) -> Option<()>,
    ) -> Option<()> {
        let mark = self.builder.mark_last();
        let mut operators: SmallVec<[ExprId; 8]> = SmallVec::new();
        while let Some(token) = self.eat(kind) {
            self.with(term)?;
            operators.push(self.builder.nodes.id(token.offset));
        }
        self.builder.chain(name, &operators, mark);
        Some(())
    }

    #[inline(always)]
    fn relation(&mut self) -> Option<()> {
        enter(&mut self.depth.relation)?;
        self.calc(0)?;
        while let Some(name) = relation_operator(self.kind()) {
            let token = self.bump()?;
            let id = self.builder.nodes.id(token.offset);
            enter(&mut self.depth.relation)?;
            self.with(|parser| parser.calc(0))?;
            leave(&mut self.depth.relation);
            self.raise()?;
            self.builder.operator(id, name, 2);
        }
        leave(&mut self.depth.relation);
        Some(())
    }

    fn calc(&mut self, lowest: u8) -> Option<()> {
        enter(&mut self.depth.calc)?;
        self.unary()?;
        while let Some((name, precedence)) = calc_operator(self.kind())
            && precedence > lowest
        {
            let token = self.bump()?;
            let id = self.builder.nodes.id(token.offset);
            self.with(|parser| parser.calc(precedence))?;
            self.raise()?;
            self.builder.operator(id, name, 2);
        }
        leave(&mut self.depth.calc);
        Some(())
    }

    #[inline(always)]
    fn unary(&mut self) -> Option<()> {
        let (kind, name) = match self.kind() {
            TokenKind::Exclam => (TokenKind::Exclam, named::LOGICAL_NOT),
            // A single dash before a number is the sign of the number.
            TokenKind::Minus
                if !matches!(self.kind_ahead(1), TokenKind::Int | TokenKind::Float) =>
            {
                (TokenKind::Minus, named::NEGATE)
            }
            _ => return self.member(),
        };
        let first = self.eat(kind)?;
        let mut odd = true;
        while self.eat(kind).is_some() {
            odd = !odd;
        }
        // An even number of operators cancels out.
        if !odd {
            return self.member();
        }
        let id = self.builder.nodes.id(first.offset);
        self.member()?;
        self.builder.operator(id, name, 1);
        Some(())
    }

    fn member(&mut self) -> Option<()> {
        self.height = 0;
        self.primary()?;
        loop {
            match self.kind() {
                TokenKind::Dot => self.select_or_call()?,
                TokenKind::LeftBracket => self.index()?,
                _ => return Some(()),
            }
            self.raise()?;
        }
    }

    #[inline(always)]
    fn select_or_call(&mut self) -> Option<()> {
        let dot = self.eat(TokenKind::Dot)?;
        let optional = self.optional_mark()?;
        let name = self.field_name()?;
        if optional {
            self.builder
                .optional_select(dot.offset, name.name(), name.offset);
        } else if name.kind == TokenKind::Identifier && self.kind() == TokenKind::LeftParen {
            self.call(name.name(), true)?;
        } else {
            self.builder.select(dot.offset, name.name());
        }
        Some(())
    }

    fn index(&mut self) -> Option<()> {
        let open = self.eat(TokenKind::LeftBracket)?;
        let id = self.builder.nodes.id(open.offset);
        let name = if self.optional_mark()? {
            named::OPT_INDEX
        } else {
            named::INDEX
        };
        self.with(Self::expr)?;
        self.eat(TokenKind::RightBracket)?;
        self.builder.operator(id, name, 2);
        Some(())
    }

    /// Parses the arguments of a call and their parentheses.
    fn call(&mut self, name: Name, receiver: bool) -> Option<()> {
        let open = self.eat(TokenKind::LeftParen)?;
        let id = self.builder.nodes.id(open.offset);
        let mark = self.builder.mark();
        if self.eat(TokenKind::RightParen).is_none() {
            self.with(Self::expr)?;
            while self.eat(TokenKind::Comma).is_some() {
                self.with(Self::expr)?;
            }
            self.eat(TokenKind::RightParen)?;
        }
        self.builder.call(id, name, receiver, mark).ok()
    }
}

/// The name within the backticks.
pub(super) fn unescaped(identifier: &str) -> &str {
    identifier.trim_matches('`')
}

/// The operator of a relation.
pub(super) fn relation_operator(kind: TokenKind) -> Option<Name> {
    Some(match kind {
        TokenKind::Equals => named::EQUALS,
        TokenKind::NotEquals => named::NOT_EQUALS,
        TokenKind::In => named::IN,
        TokenKind::Less => named::LESS,
        TokenKind::LessEquals => named::LESS_EQUALS,
        TokenKind::GreaterEquals => named::GREATER_EQUALS,
        TokenKind::Greater => named::GREATER,
        _ => return None,
    })
}

/// The operator of a sum or product, and its precedence.
pub(super) fn calc_operator(kind: TokenKind) -> Option<(Name, u8)> {
    Some(match kind {
        TokenKind::Plus => (named::ADD, 1),
        TokenKind::Minus => (named::SUBTRACT, 1),
        TokenKind::Star => (named::MULTIPLY, 2),
        TokenKind::Slash => (named::DIVIDE, 2),
        TokenKind::Percent => (named::MODULO, 2),
        _ => return None,
    })
}
