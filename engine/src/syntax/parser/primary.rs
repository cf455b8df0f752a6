//! Parses names, literals, lists, maps and struct literals.

use super::Parser;
use crate::ast::{Constant, ExprId, Name};
use crate::syntax::token::TokenKind;
use crate::syntax::{is_reserved, literal};

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Option<()> {
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
