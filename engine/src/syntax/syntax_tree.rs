//! The syntax tree: for each part of the text, the grammar rule that matched it. The tree also contains the parts with errors.
//! [`visitor`](super::visitor) converts it to an expression.

use super::grammar::{Rule, RuleShape};
use super::token::{Token, TokenKind};
use crate::source::Offset;

/// Identifies a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NodeId(usize);

/// A part of the text that a rule matched.
#[derive(Debug)]
pub(super) struct SyntaxNode {
    /// The rule.
    pub(super) rule: Rule,
    /// The alternative of the rule.
    pub(super) shape: RuleShape,
    /// The position at which the node begins.
    pub(super) start: Offset,
    /// The tokens and nodes of this part. They do not include skipped tokens, but include missing tokens that a recovery inserted.
    children: Vec<Child>,
}

#[derive(Debug, Clone, Copy)]
enum Child {
    Token(Token),
    Node(NodeId),
}

/// All nodes of a text.
#[derive(Debug, Default)]
pub(super) struct SyntaxTree {
    nodes: Vec<SyntaxNode>,
}

impl SyntaxTree {
    /// Adds a node without children.
    pub(super) fn add(&mut self, rule: Rule, start: Offset) -> NodeId {
        self.nodes.push(SyntaxNode {
            rule,
            shape: RuleShape::Plain,
            start,
            children: Vec::new(),
        });
        NodeId(self.nodes.len().saturating_sub(1))
    }

    /// A node.
    pub(super) fn node(&self, id: NodeId) -> Option<&SyntaxNode> {
        self.nodes.get(id.0)
    }

    /// Sets the alternative of a node.
    pub(super) fn set_shape(&mut self, id: NodeId, shape: RuleShape) {
        if let Some(node) = self.nodes.get_mut(id.0) {
            node.shape = shape;
        }
    }

    /// Adds a token to a node.
    pub(super) fn push_token(&mut self, id: NodeId, token: Token) {
        self.push(id, Child::Token(token));
    }

    /// Adds a child node to a node.
    pub(super) fn push_node(&mut self, id: NodeId, child: NodeId) {
        self.push(id, Child::Node(child));
    }

    fn push(&mut self, id: NodeId, child: Child) {
        if let Some(node) = self.nodes.get_mut(id.0) {
            node.children.push(child);
        }
    }
}

impl SyntaxNode {
    /// The child nodes, in order.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.children.iter().filter_map(|child| match child {
            Child::Node(id) => Some(*id),
            Child::Token(_) => None,
        })
    }

    /// The child tokens, in order.
    pub(super) fn tokens(&self) -> impl Iterator<Item = Token> {
        self.children.iter().filter_map(|child| match child {
            Child::Token(token) => Some(*token),
            Child::Node(_) => None,
        })
    }

    /// The first child token of a kind.
    pub(super) fn token(&self, kind: TokenKind) -> Option<Token> {
        self.tokens().find(|token| token.kind == kind)
    }
}
