//! The parser of valid expressions: recursive descent, one function for each precedence.
//!
//! This parser gives up at the first error or exceeded limit. [`recovery`](super::recovery) then parses the text again to report the
//! error. Both parsers build the same tree with the same ids from a valid expression.

use smallvec::SmallVec;

use super::builder::Builder;
use super::lexer::Lexer;
use super::macros::Macros;
use super::token::{Token, TokenKind};
use super::{MAX_DEPTH, ParserOptions, is_reserved, literal};
use crate::ast::named;
use crate::ast::{Ast, Constant, ExprId, Name};
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

    fn primary(&mut self) -> Option<()> {
        match self.kind() {
            TokenKind::Dot | TokenKind::Identifier => self.name(),
            TokenKind::LeftParen => {
                self.bump()?;
                self.expr()?;
                self.eat(TokenKind::RightParen).map(|_| ())
            }
            TokenKind::LeftBracket => self.list(),
            TokenKind::LeftBrace => self.map(),
            _ => self.literal(),
        }
    }

    /// Parses a name, a global call or a struct literal.
    fn name(&mut self) -> Option<()> {
        let dot = self.eat(TokenKind::Dot);
        let token = self.eat(TokenKind::Identifier)?;
        let more = self.dotted_names();
        if self.kind_ahead(more) == TokenKind::LeftBrace {
            let mut type_name = String::from(if dot.is_some() { "." } else { "" });
            type_name.push_str(self.text(token));
            for _ in 0..more {
                let part = self.bump()?;
                type_name.push_str(self.text(part));
            }
            return self.structure(&type_name);
        }
        let word = self.text(token);
        if is_reserved(word) {
            return None;
        }
        let name = match dot {
            Some(_) => {
                let absolute = format!(".{word}");
                self.builder.nodes.name(&absolute)
            }
            None => token.name(),
        };
        if self.kind() == TokenKind::LeftParen {
            return self.call(name, false);
        }
        self.builder.ident(token.offset, name);
        Some(())
    }

    /// The number of tokens in the dotted names that come next: 4 for `.a.b`.
    fn dotted_names(&self) -> usize {
        let mut tokens: usize = 0;
        while self.kind_ahead(tokens) == TokenKind::Dot
            && self.kind_ahead(tokens.saturating_add(1)) == TokenKind::Identifier
        {
            tokens = tokens.saturating_add(2);
        }
        tokens
    }

    fn structure(&mut self, type_name: &str) -> Option<()> {
        let open = self.eat(TokenKind::LeftBrace)?;
        let id = self.builder.nodes.id(open.offset);
        let (mark, mut fields) = (self.builder.mark(), Vec::new());
        while self.more(TokenKind::RightBrace, fields.is_empty())? {
            let optional = self.optional_mark()?;
            let name = self.field_name()?;
            let colon = self.eat(TokenKind::Colon)?;
            let id: ExprId = self.builder.nodes.id(colon.offset);
            fields.push((id, name.name(), optional));
            self.with(Self::expr)?;
        }
        let type_name = self.builder.nodes.name(type_name);
        self.builder.structure(id, type_name, mark, &fields);
        Some(())
    }

    fn list(&mut self) -> Option<()> {
        let open = self.eat(TokenKind::LeftBracket)?;
        let id = self.builder.nodes.id(open.offset);
        let (mark, mut optional_indices, mut length) = (self.builder.mark(), Vec::new(), 0u32);
        while self.more(TokenKind::RightBracket, length == 0)? {
            if self.optional_mark()? {
                optional_indices.push(length);
            }
            self.with(Self::expr)?;
            length = length.saturating_add(1);
        }
        self.builder.list(id, mark, &optional_indices);
        Some(())
    }

    fn map(&mut self) -> Option<()> {
        let open = self.eat(TokenKind::LeftBrace)?;
        let id = self.builder.nodes.id(open.offset);
        let (mark, mut entries) = (self.builder.mark(), Vec::new());
        while self.more(TokenKind::RightBrace, entries.is_empty())? {
            // The id of the entry precedes the ids in its key. Its position, the colon, is only known after the key.
            let id = self.builder.nodes.id(open.offset);
            entries.push((id, self.optional_mark()?));
            self.with(Self::expr)?;
            let colon = self.eat(TokenKind::Colon)?;
            self.builder.nodes.place(id, colon.offset);
            self.with(Self::expr)?;
        }
        self.builder.map(id, mark, &entries);
        Some(())
    }

    /// Whether another element follows. Consumes the comma before the element. If no element follows, consumes an optional comma and the
    /// closing token.
    fn more(&mut self, close: TokenKind, first: bool) -> Option<bool> {
        let comma = self.eat(TokenKind::Comma).is_some();
        if self.eat(close).is_some() {
            return Some(false);
        }
        (comma != first).then_some(true)
    }

    fn literal(&mut self) -> Option<()> {
        let sign = self.eat(TokenKind::Minus);
        let token = self.bump()?;
        let text = self.text(token);
        let negative = sign.is_some();
        let offset = sign.unwrap_or(token).offset;
        let value = match token.kind {
            TokenKind::Int => Constant::Int(literal::int(text, negative)?),
            TokenKind::Float => Constant::Double(literal::double(text, negative)?),
            _ if negative => return None,
            TokenKind::Uint => Constant::Uint(literal::uint(text)?),
            TokenKind::String => {
                let text = match literal::plain(text) {
                    Some((quote, quotes)) => Name::at(
                        token.start.saturating_add(quote),
                        token.end.saturating_sub(quotes),
                    ),
                    None => {
                        let text = literal::string(text).ok()?;
                        self.builder.nodes.name(&text)
                    }
                };
                self.builder.text(offset, text);
                return Some(());
            }
            TokenKind::Bytes => {
                let bytes = literal::bytes(text).ok()?;
                self.builder.constant(offset, Constant::Bytes(&bytes));
                return Some(());
            }
            TokenKind::True => Constant::Bool(true),
            TokenKind::False => Constant::Bool(false),
            TokenKind::Null => Constant::Null,
            _ => return None,
        };
        self.builder.constant(offset, value);
        Some(())
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
