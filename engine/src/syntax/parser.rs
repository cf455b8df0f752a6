//! The parser of expressions that have no fault: recursive descent, one function for each precedence.
//!
//! It gives up at the first thing that is wrong, limits included, and leaves it to [`recovery`](super::recovery) to find out
//! what to say about it. Of an expression that it accepts, it makes the same tree with the same ids.

use smol_str::SmolStr;

use super::lexer::Lexer;
use super::macros::Macros;
use super::nodes::{self, Nodes, balanced};
use super::token::{Token, TokenKind};
use super::{MAX_DEPTH, ParserOptions, is_reserved, literal};
use crate::ast::operators as op;
use crate::ast::{Ast, Constant, Expr, ExprId, ExprKind, List, MapEntry, Struct, StructField};
use crate::source::{Offset, Source};

/// Parses an expression; none if there is anything wrong with it.
pub(super) fn parse(source: &Source, options: &ParserOptions, macros: &Macros) -> Option<Ast> {
    let tokens = tokens(source)?;
    let nodes = Nodes::new(tokens.len());
    let mut parser = Parser { text: source.text(), tokens, at: 0, options, macros, nodes, depth: Depth::default(), height: 0 };
    let root = parser.expr()?;
    parser.expect(TokenKind::Eof)?;
    if parser.height > MAX_DEPTH {
        return None;
    }
    Some(Ast::new(source.clone(), root, parser.nodes.into_offsets()))
}

fn tokens(source: &Source) -> Option<Vec<Token>> {
    // Most tokens are followed by a space or are longer than one character.
    let mut tokens = Vec::with_capacity(source.text().len().div_ceil(2).saturating_add(2));
    let mut lexer = Lexer::new(source);
    loop {
        let token = lexer.next().ok()?;
        tokens.push(token);
        if token.kind == TokenKind::Eof {
            return Some(tokens);
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    options: &'a ParserOptions,
    macros: &'a Macros,
    nodes: Nodes,
    depth: Depth,
    /// The height of the expression that was read last: how many conditionals, relations, sums and products, selections,
    /// receiver-style calls and indices are nested in it.
    height: u32,
}

/// How many rules of a kind are being read. The grammar's other rules are never deeper than these.
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
    fn ahead(&self, tokens: usize) -> Option<Token> {
        self.tokens.get(self.at.saturating_add(tokens)).copied()
    }

    fn kind(&self) -> TokenKind {
        self.ahead(0).map_or(TokenKind::Eof, |token| token.kind)
    }

    fn bump(&mut self) -> Option<Token> {
        let token = self.ahead(0)?;
        self.at = self.at.saturating_add(1);
        Some(token)
    }

    fn eat(&mut self, kind: TokenKind) -> Option<Token> {
        if self.kind() == kind { self.bump() } else { None }
    }

    /// The next token, which has to be of that kind.
    fn expect(&mut self, kind: TokenKind) -> Option<Token> {
        self.eat(kind)
    }

    fn text(&self, token: Token) -> &str {
        token.text(self.text)
    }

    /// A `?` that makes something optional, where that is allowed.
    fn optional_mark(&mut self) -> Option<bool> {
        let marked = self.eat(TokenKind::QuestionMark).is_some();
        (!marked || self.options.optional_syntax).then_some(marked)
    }

    /// Keeps the larger of the height before and that of what was read since.
    fn at_least(&mut self, height: u32) {
        self.height = self.height.max(height);
    }

    fn raise(&mut self) {
        self.height = self.height.saturating_add(1);
    }

    fn expr(&mut self) -> Option<Expr> {
        enter(&mut self.depth.expr)?;
        let mut expr = self.or()?;
        if let Some(mark) = self.eat(TokenKind::QuestionMark) {
            let id = self.nodes.id(mark.offset);
            let height = self.height;
            let if_true = self.or()?;
            self.at_least(height);
            let height = self.height;
            self.expect(TokenKind::Colon)?;
            let if_false = self.expr()?;
            self.at_least(height);
            self.raise();
            expr = operator(id, op::CONDITIONAL, vec![expr, if_true, if_false]);
        }
        leave(&mut self.depth.expr);
        Some(expr)
    }

    fn or(&mut self) -> Option<Expr> {
        self.chain(TokenKind::LogicalOr, op::LOGICAL_OR, |parser| {
            parser.chain(TokenKind::LogicalAnd, op::LOGICAL_AND, Parser::relation)
        })
    }

    fn chain(&mut self, kind: TokenKind, name: &'static str, term: impl Fn(&mut Self) -> Option<Expr>) -> Option<Expr> {
        let first = term(self)?;
        if self.kind() != kind {
            return Some(first);
        }
        let (mut terms, mut operators) = (vec![first], Vec::new());
        while let Some(token) = self.eat(kind) {
            let height = self.height;
            terms.push(term(self)?);
            self.at_least(height);
            operators.push(self.nodes.id(token.offset));
        }
        balanced(name, &operators, &mut terms.into_iter())
    }

    fn relation(&mut self) -> Option<Expr> {
        enter(&mut self.depth.relation)?;
        let mut left = self.calc(0)?;
        while let Some(name) = relation_operator(self.kind()) {
            let token = self.bump()?;
            let id = self.nodes.id(token.offset);
            let height = self.height;
            enter(&mut self.depth.relation)?;
            let right = self.calc(0)?;
            leave(&mut self.depth.relation);
            self.at_least(height);
            self.raise();
            left = operator(id, name, vec![left, right]);
        }
        leave(&mut self.depth.relation);
        Some(left)
    }

    fn calc(&mut self, lowest: u8) -> Option<Expr> {
        enter(&mut self.depth.calc)?;
        let mut left = self.unary()?;
        while let Some((name, precedence)) = calc_operator(self.kind())
            && precedence > lowest
        {
            let token = self.bump()?;
            let id = self.nodes.id(token.offset);
            let height = self.height;
            let right = self.calc(precedence)?;
            self.at_least(height);
            self.raise();
            left = operator(id, name, vec![left, right]);
        }
        leave(&mut self.depth.calc);
        Some(left)
    }

    fn unary(&mut self) -> Option<Expr> {
        let (kind, name) = match self.kind() {
            TokenKind::Exclam => (TokenKind::Exclam, op::LOGICAL_NOT),
            TokenKind::Minus if !self.is_number(1) => (TokenKind::Minus, op::NEGATE),
            _ => return self.member(),
        };
        let first = self.expect(kind)?;
        let mut odd = true;
        while self.eat(kind).is_some() {
            odd = !odd;
        }
        // An even number of operators is none at all.
        if !odd {
            return self.member();
        }
        let id = self.nodes.id(first.offset);
        let operand = self.member()?;
        Some(operator(id, name, vec![operand]))
    }

    fn is_number(&self, ahead: usize) -> bool {
        self.ahead(ahead).is_some_and(|token| matches!(token.kind, TokenKind::Int | TokenKind::Float))
    }

    fn member(&mut self) -> Option<Expr> {
        let mut operand = self.primary()?;
        loop {
            operand = match self.kind() {
                TokenKind::Dot => self.select_or_call(operand)?,
                TokenKind::LeftBracket => self.index(operand)?,
                _ => return Some(operand),
            };
            self.raise();
        }
    }

    fn select_or_call(&mut self, operand: Expr) -> Option<Expr> {
        let dot = self.expect(TokenKind::Dot)?;
        let optional = self.optional_mark()?;
        let token = self.bump()?;
        let name = match token.kind {
            TokenKind::Identifier => token.text(self.text),
            TokenKind::EscapedIdentifier if self.options.escaped_identifiers => unescaped(token.text(self.text)),
            _ => return None,
        };
        if optional {
            return Some(self.nodes.optional_select(dot.offset, operand, name, token.offset));
        }
        if token.kind == TokenKind::Identifier
            && let Some(open) = self.eat(TokenKind::LeftParen)
        {
            let id = self.nodes.id(open.offset);
            return self.call(id, name, Some(operand));
        }
        Some(self.nodes.select(dot.offset, operand, name.into()))
    }

    fn index(&mut self, operand: Expr) -> Option<Expr> {
        let open = self.expect(TokenKind::LeftBracket)?;
        let id = self.nodes.id(open.offset);
        let name = if self.optional_mark()? { op::OPT_INDEX } else { op::INDEX };
        let height = self.height;
        let index = self.expr()?;
        self.at_least(height);
        self.expect(TokenKind::RightBracket)?;
        Some(operator(id, name, vec![operand, index]))
    }

    /// The arguments of a call whose parenthesis has been read.
    fn call(&mut self, id: ExprId, name: &str, target: Option<Expr>) -> Option<Expr> {
        let mut height = if target.is_some() { self.height } else { 0 };
        let mut args = Vec::new();
        if self.eat(TokenKind::RightParen).is_none() {
            loop {
                args.push(self.expr()?);
                height = height.max(self.height);
                if self.eat(TokenKind::Comma).is_none() {
                    break;
                }
            }
            self.expect(TokenKind::RightParen)?;
        }
        self.height = height;
        self.nodes.call_or_macro(self.macros, id, name, target, args).ok()
    }

    fn primary(&mut self) -> Option<Expr> {
        self.height = 0;
        let token = self.ahead(0)?;
        match token.kind {
            TokenKind::Dot | TokenKind::Identifier => self.name(),
            TokenKind::LeftParen => {
                self.bump()?;
                let nested = self.expr()?;
                self.expect(TokenKind::RightParen)?;
                Some(nested)
            }
            TokenKind::LeftBracket => self.list(),
            TokenKind::LeftBrace => self.map(),
            _ => self.literal(),
        }
    }

    /// A name, a global call or a struct.
    fn name(&mut self) -> Option<Expr> {
        let dot = self.eat(TokenKind::Dot);
        let token = self.expect(TokenKind::Identifier)?;
        let mut past = 0usize;
        while self.ahead(past).is_some_and(|token| token.kind == TokenKind::Dot)
            && self.ahead(past.saturating_add(1)).is_some_and(|token| token.kind == TokenKind::Identifier)
        {
            past = past.saturating_add(2);
        }
        if self.ahead(past).is_some_and(|token| token.kind == TokenKind::LeftBrace) {
            return self.structure(dot.is_some(), token, past);
        }
        let word = token.text(self.text);
        if is_reserved(word) {
            return None;
        }
        let name = if dot.is_some() { smol_str::format_smolstr!(".{word}") } else { SmolStr::new(word) };
        match self.eat(TokenKind::LeftParen) {
            Some(open) => {
                let id = self.nodes.id(open.offset);
                self.call(id, &name, None)
            }
            None => Some(self.nodes.ident(token.offset, name)),
        }
    }

    /// A struct whose type has `more` tokens after its first name.
    fn structure(&mut self, leading_dot: bool, first: Token, more: usize) -> Option<Expr> {
        let mut type_name = String::from(if leading_dot { "." } else { "" });
        type_name.push_str(self.text(first));
        for _ in 0..more {
            let token = self.bump()?;
            type_name.push_str(self.text(token));
        }
        let open = self.expect(TokenKind::LeftBrace)?;
        let id = self.nodes.id(open.offset);
        let (mut fields, mut height) = (Vec::new(), 0);
        while self.more(TokenKind::RightBrace, fields.is_empty())? {
            let optional = self.optional_mark()?;
            let token = self.bump()?;
            let name = match token.kind {
                TokenKind::Identifier => token.text(self.text),
                TokenKind::EscapedIdentifier if self.options.escaped_identifiers => unescaped(token.text(self.text)),
                _ => return None,
            };
            let colon = self.expect(TokenKind::Colon)?;
            let id = self.nodes.id(colon.offset);
            let value = self.expr()?;
            height = self.height.max(height);
            fields.push(StructField { id, name: name.into(), value, optional });
        }
        self.height = height;
        let literal = Struct { type_name: type_name.into(), fields };
        Some(Expr { id, kind: ExprKind::Struct(Box::new(literal)) })
    }

    fn list(&mut self) -> Option<Expr> {
        let open = self.expect(TokenKind::LeftBracket)?;
        let id = self.nodes.id(open.offset);
        let (mut elements, mut optional_indices, mut height) = (Vec::new(), Vec::new(), 0);
        while self.more(TokenKind::RightBracket, elements.is_empty())? {
            if self.optional_mark()? {
                optional_indices.push(u32::try_from(elements.len()).ok()?);
            }
            elements.push(self.expr()?);
            height = self.height.max(height);
        }
        self.height = height;
        Some(Expr { id, kind: ExprKind::List(List { elements, optional_indices }) })
    }

    fn map(&mut self) -> Option<Expr> {
        let open = self.expect(TokenKind::LeftBrace)?;
        let id = self.nodes.id(open.offset);
        let (mut entries, mut height) = (Vec::new(), 0);
        while self.more(TokenKind::RightBrace, entries.is_empty())? {
            // The entry's id comes before those in its key, its place after.
            let id = self.nodes.id(open.offset);
            let optional = self.optional_mark()?;
            let key = self.expr()?;
            height = self.height.max(height);
            let colon = self.expect(TokenKind::Colon)?;
            self.nodes.place(id, colon.offset);
            let value = self.expr()?;
            height = self.height.max(height);
            entries.push(MapEntry { id, key, value, optional });
        }
        self.height = height;
        Some(Expr { id, kind: ExprKind::Map(entries) })
    }

    /// Whether another element follows. Reads the comma before it, or the end with a comma that may stand there.
    fn more(&mut self, close: TokenKind, first: bool) -> Option<bool> {
        let comma = self.eat(TokenKind::Comma).is_some();
        if self.eat(close).is_some() {
            return Some(false);
        }
        (comma != first).then_some(true)
    }

    fn literal(&mut self) -> Option<Expr> {
        let sign = self.eat(TokenKind::Minus);
        let token = self.bump()?;
        let text = token.text(self.text);
        let negative = sign.is_some();
        let value = match token.kind {
            TokenKind::Int => Constant::Int(literal::int(text, negative)?),
            TokenKind::Float => Constant::Double(literal::double(text, negative)?),
            _ if negative => return None,
            TokenKind::Uint => Constant::Uint(literal::uint(text)?),
            TokenKind::String => Constant::String(literal::string(text).ok()?),
            TokenKind::Bytes => Constant::Bytes(literal::bytes(text).ok()?),
            TokenKind::True => Constant::Bool(true),
            TokenKind::False => Constant::Bool(false),
            TokenKind::Null => Constant::Null,
            _ => return None,
        };
        let offset: Offset = sign.unwrap_or(token).offset;
        Some(self.nodes.constant(offset, value))
    }
}

fn operator(id: ExprId, name: &'static str, operands: Vec<Expr>) -> Expr {
    nodes::call(id, SmolStr::new_static(name), None, operands)
}

/// The name within the backticks.
pub(super) fn unescaped(identifier: &str) -> &str {
    identifier.trim_matches('`')
}

/// The operator of a relation.
pub(super) fn relation_operator(kind: TokenKind) -> Option<&'static str> {
    Some(match kind {
        TokenKind::Equals => op::EQUALS,
        TokenKind::NotEquals => op::NOT_EQUALS,
        TokenKind::In => op::IN,
        TokenKind::Less => op::LESS,
        TokenKind::LessEquals => op::LESS_EQUALS,
        TokenKind::GreaterEquals => op::GREATER_EQUALS,
        TokenKind::Greater => op::GREATER,
        _ => return None,
    })
}

/// The operator of a sum or product, and its precedence.
pub(super) fn calc_operator(kind: TokenKind) -> Option<(&'static str, u8)> {
    Some(match kind {
        TokenKind::Plus => (op::ADD, 1),
        TokenKind::Minus => (op::SUBTRACT, 1),
        TokenKind::Star => (op::MULTIPLY, 2),
        TokenKind::Slash => (op::DIVIDE, 2),
        TokenKind::Percent => (op::MODULO, 2),
        _ => return None,
    })
}
