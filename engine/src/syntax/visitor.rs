//! Builds the expression of a syntax tree. Finds errors that the grammar does not exclude: reserved words, literals out of range, wrong
//! macro arguments and trees that are too deep (the visitor of cel-go's `parser/parser.go`).
//!
//! The literal `null` replaces each part that could not be parsed. No macro mistakes it for a name, a selection or a number.

use super::builder::Builder;
use super::grammar::{Rule, RuleShape};
use super::macros::{MacroError, Macros};
use super::parser::{calc_operator, relation_operator, unescaped};
use super::recovery::Halt;
use super::syntax_tree::{NodeId, SyntaxNode, SyntaxTree};
use super::token::{Token, TokenKind};
use super::{MAX_DEPTH, ParserOptions, is_reserved, literal};
use crate::ast::named;
use crate::ast::{Ast, Constant, ExprId, MAX_NODES, NOWHERE, Name};
use crate::issues::Issues;
use crate::source::{Location, Offset, Source};

/// Builds the tree of an expression, and adds the errors to `issues`.
pub(super) fn visit(
    source: &Source,
    options: &ParserOptions,
    macros: &Macros,
    (tree, root): (&SyntaxTree, NodeId),
    issues: &mut Issues,
) -> Result<Option<Ast>, Halt> {
    let mut visitor = Visitor {
        source,
        options,
        tree,
        issues,
        builder: Builder::new(source.clone(), macros, 0),
        depth: 0,
    };
    let root = tree.node(root).and_then(|start| start.nodes().next());
    visitor.expr(root)?;
    Ok(visitor.builder.finish().ok())
}

/// Visits one syntax tree. Each function that visits a node leaves its expression on the builder's stack.
struct Visitor<'a> {
    source: &'a Source,
    options: &'a ParserOptions,
    tree: &'a SyntaxTree,
    issues: &'a mut Issues,
    builder: Builder<'a>,
    /// The number of enclosing nodes that count towards the height of the tree.
    depth: u32,
}

type Visited = Result<(), Halt>;

impl<'a> Visitor<'a> {
    /// Visits a node. Skips rules that only wrap another rule.
    fn expr(&mut self, id: Option<NodeId>) -> Visited {
        let mut id = id;
        loop {
            let Some(node) = id.and_then(|id| self.tree.node(id)) else {
                break self.gap(NOWHERE);
            };
            match (node.rule, node.shape) {
                (Rule::Expr, _) if node.token(TokenKind::QuestionMark).is_some() => {
                    return self.nested(node, Self::conditional);
                }
                (Rule::Or, _) if node.token(TokenKind::LogicalOr).is_some() => {
                    return self.chain(node, named::LOGICAL_OR);
                }
                (Rule::And, _) if node.token(TokenKind::LogicalAnd).is_some() => {
                    return self.chain(node, named::LOGICAL_AND);
                }
                (Rule::Relation | Rule::Calc, RuleShape::Operation) => {
                    return self.nested(node, Self::operation);
                }
                (Rule::Unary, RuleShape::LogicalNot) => {
                    return self.unary(node, named::LOGICAL_NOT);
                }
                (Rule::Unary, RuleShape::Negate) => {
                    return self.unary(node, named::NEGATE);
                }
                (Rule::Member, RuleShape::Select) => return self.nested(node, Self::select),
                (Rule::Member, RuleShape::MemberCall) => {
                    return self.nested(node, Self::member_call);
                }
                (Rule::Member, RuleShape::Index) => return self.nested(node, Self::index),
                (Rule::Primary, RuleShape::Ident) => break self.ident(node),
                (Rule::Primary, RuleShape::GlobalCall) => return self.global_call(node),
                (Rule::Primary, RuleShape::List) => return self.list(node),
                (Rule::Primary, RuleShape::Map) => return self.map(node),
                (Rule::Primary, RuleShape::Struct) => return self.structure(node),
                (Rule::Literal, RuleShape::Literal) => break self.literal(node),
                (Rule::Unary, RuleShape::Plain) => break self.gap(node.start),
                _ => id = node.nodes().next(),
            }
        }
        Ok(())
    }

    /// Visits a node that counts towards the height of the tree.
    fn nested(
        &mut self,
        node: &'a SyntaxNode,
        visit: fn(&mut Self, &'a SyntaxNode) -> Visited,
    ) -> Visited {
        self.depth = self.depth.saturating_add(1);
        if self.depth > MAX_DEPTH {
            return Err(Halt::Limit("max recursion depth exceeded".to_owned()));
        }
        visit(self, node)?;
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    fn text(&self, token: Token) -> &'a str {
        token.text(self.source.text())
    }

    fn id(&mut self, token: Option<Token>) -> ExprId {
        self.builder
            .nodes
            .id(token.map_or(NOWHERE, |token| token.offset))
    }

    /// Pushes the constant `null` in place of an expression that could not be parsed.
    fn gap(&mut self, offset: Offset) {
        self.builder.constant(offset, Constant::Null);
    }

    fn report(&mut self, offset: Offset, message: impl Into<String>) {
        // Like upstream, a problem of a node without a position gets column -1, which messages print as 0.
        let location = match offset {
            NOWHERE => Location {
                line: 1,
                column: -1,
            },
            _ => self.source.location(offset),
        };
        self.issues.report(location, message);
    }

    /// Reports an error in an expression and pushes `null` in place of the expression.
    fn refuse(&mut self, offset: Offset, message: impl Into<String>) {
        self.report(offset, message);
        self.gap(offset);
    }

    fn conditional(&mut self, node: &'a SyntaxNode) -> Visited {
        let mut operands = node.nodes();
        self.expr(operands.next())?;
        let id = self.id(node.token(TokenKind::QuestionMark));
        self.expr(operands.next())?;
        self.expr(operands.next())?;
        self.builder.operator(id, named::CONDITIONAL, 3);
        Ok(())
    }

    fn chain(&mut self, node: &'a SyntaxNode, name: Name) -> Visited {
        let (mark, mut operators) = (self.builder.mark(), Vec::new());
        let mut tokens = node.tokens();
        for (index, term) in node.nodes().enumerate() {
            self.expr(Some(term))?;
            if index > 0 {
                operators.push(self.id(tokens.next()));
            }
        }
        self.builder.chain(name, &operators, mark);
        Ok(())
    }

    fn operation(&mut self, node: &'a SyntaxNode) -> Visited {
        let mut operands = node.nodes();
        self.expr(operands.next())?;
        let operator = node.tokens().next();
        let id = self.id(operator);
        self.expr(operands.next())?;
        let kind = operator.map_or(TokenKind::Eof, |token| token.kind);
        if let Some(name) =
            relation_operator(kind).or_else(|| calc_operator(kind).map(|(name, _)| name))
        {
            self.builder.operator(id, name, 2);
        }
        Ok(())
    }

    fn unary(&mut self, node: &'a SyntaxNode, name: Name) -> Visited {
        let operand = node.nodes().next();
        if node.tokens().count().is_multiple_of(2) {
            return self.expr(operand);
        }
        let id = self.id(node.tokens().next());
        self.expr(operand)?;
        self.builder.operator(id, name, 1);
        Ok(())
    }

    fn select(&mut self, node: &'a SyntaxNode) -> Visited {
        let mark = self.builder.mark();
        let mut parts = node.nodes();
        self.expr(parts.next())?;
        let field = parts.next().and_then(|id| self.tree.node(id));
        let (Some(dot), Some(field)) = (node.token(TokenKind::Dot), field) else {
            self.builder.discard(mark);
            self.gap(node.start);
            return Ok(());
        };
        let name = self.field_name(Some(field)).unwrap_or_else(|complaint| {
            self.report(field.start, complaint);
            ""
        });
        if node.token(TokenKind::QuestionMark).is_none() {
            let name = self.builder.nodes.name(name);
            self.builder.select(dot.offset, name);
        } else if self.options.optional_syntax {
            let name = self.builder.nodes.name(name);
            self.builder.optional_select(dot.offset, name, field.start);
        } else {
            self.builder.discard(mark);
            self.refuse(dot.offset, "unsupported syntax '.?'");
        }
        Ok(())
    }

    /// The name of a field. The error is the message for an invalid name.
    fn field_name(&self, field: Option<&'a SyntaxNode>) -> Result<&'a str, &'static str> {
        let token = field.and_then(|field| field.tokens().next());
        match (field.map(|field| field.shape), token) {
            (Some(RuleShape::Simple), Some(token)) => Ok(self.text(token)),
            (Some(RuleShape::Escaped), Some(token)) if self.options.escaped_identifiers => {
                Ok(unescaped(self.text(token)))
            }
            (Some(RuleShape::Escaped), Some(_)) => Err("unsupported syntax: '`'"),
            _ => Err("unsupported ident kind"),
        }
    }

    fn member_call(&mut self, node: &'a SyntaxNode) -> Visited {
        let mut parts = node.nodes();
        self.expr(parts.next())?;
        let name = node
            .token(TokenKind::Identifier)
            .map_or("", |name| self.text(name));
        let id = self.id(node.token(TokenKind::LeftParen));
        self.call(id, name, true, parts.next())
    }

    fn call(&mut self, id: ExprId, name: &str, receiver: bool, args: Option<NodeId>) -> Visited {
        let mark = self.builder.mark();
        let args = args.and_then(|args| self.tree.node(args));
        for arg in args.into_iter().flat_map(SyntaxNode::nodes) {
            self.expr(Some(arg))?;
        }
        let offset = self.builder.nodes.offset(id);
        let name = self.builder.nodes.name(name);
        match self.builder.call(id, name, receiver, mark) {
            Ok(()) => Ok(()),
            Err(MacroError::Argument { id, message }) => {
                self.refuse(self.builder.nodes.offset(id), message);
                Ok(())
            }
            Err(MacroError::TooManyNodes) => {
                self.report(
                    offset,
                    format!("macros expand the expression to more than {MAX_NODES} nodes"),
                );
                Err(Halt::Reported)
            }
        }
    }

    fn index(&mut self, node: &'a SyntaxNode) -> Visited {
        let mark = self.builder.mark();
        let mut parts = node.nodes();
        self.expr(parts.next())?;
        let open = node
            .token(TokenKind::LeftBracket)
            .map_or(NOWHERE, |open| open.offset);
        let id = self.builder.nodes.id(open);
        self.expr(parts.next())?;
        if node.token(TokenKind::QuestionMark).is_none() {
            self.builder.operator(id, named::INDEX, 2);
        } else if self.options.optional_syntax {
            self.builder.operator(id, named::OPT_INDEX, 2);
        } else {
            self.builder.discard(mark);
            self.refuse(open, "unsupported syntax '[?'");
        }
        Ok(())
    }

    /// The name of a node with its leading dot, and the name's position; `None` after an error.
    fn name(&mut self, node: &'a SyntaxNode) -> Option<(String, Offset)> {
        let Some(token) = node.token(TokenKind::Identifier) else {
            self.gap(node.start);
            return None;
        };
        let name = self.text(token);
        if is_reserved(name) {
            self.refuse(node.start, format!("reserved identifier: {name}"));
            return None;
        }
        let dot = if node.token(TokenKind::Dot).is_some() {
            "."
        } else {
            ""
        };
        Some((format!("{dot}{name}"), token.offset))
    }

    fn ident(&mut self, node: &'a SyntaxNode) {
        if let Some((name, offset)) = self.name(node) {
            let name = self.builder.nodes.name(&name);
            self.builder.ident(offset, name);
        }
    }

    fn global_call(&mut self, node: &'a SyntaxNode) -> Visited {
        let Some((name, _)) = self.name(node) else {
            return Ok(());
        };
        let id = self.id(node.token(TokenKind::LeftParen));
        self.call(id, &name, false, node.nodes().next())
    }

    fn list(&mut self, node: &'a SyntaxNode) -> Visited {
        let id = self.id(node.token(TokenKind::LeftBracket));
        let (mark, mut optional_indices) = (self.builder.mark(), Vec::new());
        let list = node.nodes().next().and_then(|list| self.tree.node(list));
        let elements = list
            .into_iter()
            .flat_map(SyntaxNode::nodes)
            .filter_map(|element| self.tree.node(element));
        for (index, element) in (0u32..).zip(elements) {
            self.expr(element.nodes().next())?;
            match element.token(TokenKind::QuestionMark) {
                Some(mark) if !self.options.optional_syntax => {
                    self.report(mark.offset, "unsupported syntax '?'")
                }
                Some(_) => optional_indices.push(index),
                None => {}
            }
        }
        self.builder.list(id, mark, &optional_indices);
        Ok(())
    }

    fn map(&mut self, node: &'a SyntaxNode) -> Visited {
        let id = self.id(node.token(TokenKind::LeftBrace));
        let (mark, mut entries) = (self.builder.mark(), Vec::new());
        for init in self.inits(node) {
            let id = self.builder.nodes.id(init.colon);
            if !self.may_be_optional(&init) {
                continue;
            }
            self.expr(init.left.nodes().next())?;
            self.expr(Some(init.value))?;
            entries.push((id, init.optional));
        }
        self.builder.map(id, mark, &entries);
        Ok(())
    }

    fn structure(&mut self, node: &'a SyntaxNode) -> Visited {
        let names = node
            .tokens()
            .take_while(|token| token.kind != TokenKind::LeftBrace);
        let type_name: String = names.map(|token| self.text(token)).collect();
        let id = self.id(node.token(TokenKind::LeftBrace));
        let (mark, mut fields) = (self.builder.mark(), Vec::new());
        for init in self.inits(node) {
            let id = self.builder.nodes.id(init.colon);
            if !self.may_be_optional(&init) {
                continue;
            }
            match self.field_name(
                init.left
                    .nodes()
                    .next()
                    .and_then(|field| self.tree.node(field)),
            ) {
                Ok(name) => {
                    self.expr(Some(init.value))?;
                    let name = self.builder.nodes.name(name);
                    fields.push((id, name, init.optional));
                }
                Err(complaint) => {
                    // Like upstream, reports the error at the position of the first field, whichever field is wrong.
                    let list = node.nodes().next().and_then(|list| self.tree.node(list));
                    self.report(list.map_or(node.start, |list| list.start), complaint);
                }
            }
        }
        let type_name = self.builder.nodes.name(&type_name);
        self.builder.structure(id, type_name, mark, &fields);
        Ok(())
    }

    fn may_be_optional(&mut self, init: &Init<'a>) -> bool {
        if init.optional && !self.options.optional_syntax {
            self.report(init.left.start, "unsupported syntax '?'");
            return false;
        }
        true
    }

    /// The complete `left: value` pairs of a map or struct.
    fn inits(&self, node: &'a SyntaxNode) -> Vec<Init<'a>> {
        let Some(list) = node.nodes().next().and_then(|list| self.tree.node(list)) else {
            return Vec::new();
        };
        let mut inits = Vec::new();
        let mut colons = list.tokens().filter(|token| token.kind == TokenKind::Colon);
        let mut parts = list.nodes();
        while let Some(left) = parts.next().and_then(|left| self.tree.node(left))
            && let (Some(colon), Some(value)) = (colons.next(), parts.next())
        {
            let optional = left.token(TokenKind::QuestionMark).is_some();
            inits.push(Init {
                left,
                optional,
                colon: colon.offset,
                value,
            });
        }
        inits
    }

    fn literal(&mut self, node: &'a SyntaxNode) {
        let negative = node.token(TokenKind::Minus).is_some();
        let Some(token) = node.tokens().find(|token| token.kind != TokenKind::Minus) else {
            return self.gap(node.start);
        };
        let text = self.text(token);
        let (string, bytes);
        let value = match token.kind {
            TokenKind::Int => literal::int(text, negative)
                .map(Constant::Int)
                .ok_or("invalid int literal"),
            TokenKind::Uint => literal::uint(text)
                .map(Constant::Uint)
                .ok_or("invalid uint literal"),
            TokenKind::Float => literal::double(text, negative)
                .map(Constant::Double)
                .ok_or("invalid double literal"),
            TokenKind::String => {
                string = literal::string(text);
                string
                    .as_deref()
                    .map(Constant::String)
                    .map_err(|error| *error)
            }
            TokenKind::Bytes => {
                bytes = literal::bytes(text);
                bytes
                    .as_deref()
                    .map(Constant::Bytes)
                    .map_err(|error| *error)
            }
            TokenKind::True => Ok(Constant::Bool(true)),
            TokenKind::False => Ok(Constant::Bool(false)),
            _ => Ok(Constant::Null),
        };
        match value {
            Ok(value) => self.builder.constant(node.start, value),
            Err(complaint) => self.refuse(node.start, complaint),
        }
    }
}

/// A `left: value` pair of a map or struct.
struct Init<'a> {
    left: &'a SyntaxNode,
    optional: bool,
    colon: Offset,
    value: NodeId,
}
