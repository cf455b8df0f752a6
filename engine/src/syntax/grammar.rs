//! The grammar as data, and the graph of states that it unfolds to (`parser/gen/CEL.g4`).
//!
//! Only texts with a fault are read by it. What a message says is expected depends on the state in which the fault was found,
//! so that the states are those of the parser that ANTLR makes of the grammar.

use std::sync::LazyLock;

use super::token::TokenKind::{self, *};
use super::token::TokenSet;

/// A rule of the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Rule {
    Start,
    Expr,
    Or,
    And,
    Relation,
    Calc,
    Unary,
    Member,
    Primary,
    ExprList,
    ListInit,
    FieldInits,
    OptField,
    MapInits,
    EscapeIdent,
    OptExpr,
    Literal,
}

/// The number of rules.
pub(super) const RULES: usize = 17;

/// Which alternative of its rule a part of the text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// The only one, or none yet.
    Plain,
    LogicalNot,
    Negate,
    Operand,
    Operation,
    Select,
    MemberCall,
    Index,
    Ident,
    GlobalCall,
    Nested,
    List,
    Map,
    Struct,
    Literal,
    Simple,
    Escaped,
}

/// How one of several alternatives is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// By the next token.
    Next,
    /// By the next token: at a comma, whether an element follows it.
    Elements,
    /// The forms of `unary`, of which two begin with `-`.
    Unary,
    /// Whether another `-` is an operator.
    Dashes,
    /// The forms of `.` after an operand.
    Member,
    /// The forms that begin with a name.
    Primary,
    /// The literals, of which two begin with `-`.
    Literal,
}

/// A piece of a rule.
enum Item {
    Token(TokenKind),
    AnyOf(&'static [TokenKind]),
    Rule(Rule),
    /// A left-recursive rule, of which only alternatives of at least this precedence may follow the operand.
    Operand(Rule, u8),
    Optional(&'static [Item]),
    OneOf(Decision, &'static [&'static [Item]]),
    Repeated(Decision, &'static [Item]),
    AtLeastOnce(Decision, &'static [Item]),
    /// Begins an alternative.
    Is(Shape),
    /// Begins an alternative of this precedence whose first part is what the rule has read so far.
    Extends(Shape, u8),
}

use Decision as By;
use Item::{AnyOf, AtLeastOnce, Extends, Is, OneOf, Operand, Optional, Repeated, Token};

/// The items of each rule, in the order of [`Rule`].
const GRAMMAR: [(Rule, &[Item]); RULES] = [
    (Rule::Start, &[Item::Rule(Rule::Expr), Token(Eof)]),
    (
        Rule::Expr,
        &[
            Item::Rule(Rule::Or),
            Optional(&[Token(QuestionMark), Item::Rule(Rule::Or), Token(Colon), Item::Rule(Rule::Expr)]),
        ],
    ),
    (Rule::Or, &[Item::Rule(Rule::And), Repeated(By::Next, &[Token(LogicalOr), Item::Rule(Rule::And)])]),
    (Rule::And, &[Operand(Rule::Relation, 0), Repeated(By::Next, &[Token(LogicalAnd), Operand(Rule::Relation, 0)])]),
    (
        Rule::Relation,
        &[
            Operand(Rule::Calc, 0),
            Repeated(
                By::Next,
                &[
                    Extends(Shape::Operation, 1),
                    AnyOf(&[Equals, NotEquals, In, Less, LessEquals, GreaterEquals, Greater]),
                    Operand(Rule::Relation, 2),
                ],
            ),
        ],
    ),
    (
        Rule::Calc,
        &[
            Item::Rule(Rule::Unary),
            Repeated(
                By::Next,
                &[OneOf(
                    By::Next,
                    &[
                        &[Extends(Shape::Operation, 2), AnyOf(&[Star, Slash, Percent]), Operand(Rule::Calc, 3)],
                        &[Extends(Shape::Operation, 1), AnyOf(&[Plus, Minus]), Operand(Rule::Calc, 2)],
                    ],
                )],
            ),
        ],
    ),
    (
        Rule::Unary,
        &[OneOf(
            By::Unary,
            &[
                &[Is(Shape::Operand), Operand(Rule::Member, 0)],
                &[Is(Shape::LogicalNot), AtLeastOnce(By::Next, &[Token(Exclam)]), Operand(Rule::Member, 0)],
                &[Is(Shape::Negate), AtLeastOnce(By::Dashes, &[Token(Minus)]), Operand(Rule::Member, 0)],
            ],
        )],
    ),
    (
        Rule::Member,
        &[
            Item::Rule(Rule::Primary),
            Repeated(
                By::Next,
                &[OneOf(
                    By::Member,
                    &[
                        &[
                            Extends(Shape::Select, 3),
                            Token(Dot),
                            Optional(&[Token(QuestionMark)]),
                            Item::Rule(Rule::EscapeIdent),
                        ],
                        &[
                            Extends(Shape::MemberCall, 2),
                            Token(Dot),
                            Token(Identifier),
                            Token(LeftParen),
                            Optional(&[Item::Rule(Rule::ExprList)]),
                            Token(RightParen),
                        ],
                        &[
                            Extends(Shape::Index, 1),
                            Token(LeftBracket),
                            Optional(&[Token(QuestionMark)]),
                            Item::Rule(Rule::Expr),
                            Token(RightBracket),
                        ],
                    ],
                )],
            ),
        ],
    ),
    (
        Rule::Primary,
        &[OneOf(
            By::Primary,
            &[
                &[Is(Shape::Ident), Optional(&[Token(Dot)]), Token(Identifier)],
                &[
                    Is(Shape::GlobalCall),
                    Optional(&[Token(Dot)]),
                    Token(Identifier),
                    Token(LeftParen),
                    Optional(&[Item::Rule(Rule::ExprList)]),
                    Token(RightParen),
                ],
                &[Is(Shape::Nested), Token(LeftParen), Item::Rule(Rule::Expr), Token(RightParen)],
                &[
                    Is(Shape::List),
                    Token(LeftBracket),
                    Optional(&[Item::Rule(Rule::ListInit)]),
                    Optional(&[Token(Comma)]),
                    Token(RightBracket),
                ],
                &[
                    Is(Shape::Map),
                    Token(LeftBrace),
                    Optional(&[Item::Rule(Rule::MapInits)]),
                    Optional(&[Token(Comma)]),
                    Token(RightBrace),
                ],
                &[
                    Is(Shape::Struct),
                    Optional(&[Token(Dot)]),
                    Token(Identifier),
                    Repeated(By::Next, &[Token(Dot), Token(Identifier)]),
                    Token(LeftBrace),
                    Optional(&[Item::Rule(Rule::FieldInits)]),
                    Optional(&[Token(Comma)]),
                    Token(RightBrace),
                ],
                &[Is(Shape::Literal), Item::Rule(Rule::Literal)],
            ],
        )],
    ),
    (Rule::ExprList, &[Item::Rule(Rule::Expr), Repeated(By::Next, &[Token(Comma), Item::Rule(Rule::Expr)])]),
    (Rule::ListInit, &[Item::Rule(Rule::OptExpr), Repeated(By::Elements, &[Token(Comma), Item::Rule(Rule::OptExpr)])]),
    (
        Rule::FieldInits,
        &[
            Item::Rule(Rule::OptField),
            Token(Colon),
            Item::Rule(Rule::Expr),
            Repeated(By::Elements, &[Token(Comma), Item::Rule(Rule::OptField), Token(Colon), Item::Rule(Rule::Expr)]),
        ],
    ),
    (Rule::OptField, &[Optional(&[Token(QuestionMark)]), Item::Rule(Rule::EscapeIdent)]),
    (
        Rule::MapInits,
        &[
            Item::Rule(Rule::OptExpr),
            Token(Colon),
            Item::Rule(Rule::Expr),
            Repeated(By::Elements, &[Token(Comma), Item::Rule(Rule::OptExpr), Token(Colon), Item::Rule(Rule::Expr)]),
        ],
    ),
    (
        Rule::EscapeIdent,
        &[OneOf(
            By::Next,
            &[&[Is(Shape::Simple), Token(Identifier)], &[Is(Shape::Escaped), Token(EscapedIdentifier)]],
        )],
    ),
    (Rule::OptExpr, &[Optional(&[Token(QuestionMark)]), Item::Rule(Rule::Expr)]),
    (
        Rule::Literal,
        &[OneOf(
            By::Literal,
            &[
                &[Is(Shape::Literal), Optional(&[Token(Minus)]), Token(Int)],
                &[Is(Shape::Literal), Token(Uint)],
                &[Is(Shape::Literal), Optional(&[Token(Minus)]), Token(Float)],
                &[Is(Shape::Literal), Token(String)],
                &[Is(Shape::Literal), Token(Bytes)],
                &[Is(Shape::Literal), Token(True)],
                &[Is(Shape::Literal), Token(False)],
                &[Is(Shape::Literal), Token(Null)],
            ],
        )],
    ),
];

/// A place in a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StateId(u32);

/// What is done at a place.
#[derive(Debug)]
pub(super) enum State {
    /// Reads one of these tokens.
    Token { set: TokenSet, next: StateId },
    /// Reads a rule.
    Call { rule: Rule, precedence: u8, next: StateId },
    /// Takes one of several ways. The last way of an optional part or a loop passes it by.
    Choice { kind: ChoiceKind, decision: Decision, ways: Vec<StateId> },
    /// The alternative is now known.
    Is { shape: Shape, next: StateId },
    /// What has been read becomes the first part of an alternative of this precedence.
    Extends { shape: Shape, precedence: u8, next: StateId },
    /// The rule is complete.
    End,
}

/// Where a choice is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChoiceKind {
    /// Before alternatives, of which one has to follow.
    Block,
    /// Before an optional part, or a part before its first repetition.
    Entry,
    /// After each repetition.
    Again,
}

/// The states of all rules.
pub(super) struct Grammar {
    states: Vec<State>,
    starts: Vec<StateId>,
    /// What may come next at each state, within its rule.
    next: Vec<TokenSet>,
}

/// The grammar of CEL.
pub(super) static CEL: LazyLock<Grammar> = LazyLock::new(Grammar::new);

impl Grammar {
    fn new() -> Self {
        let mut grammar = Grammar { states: Vec::new(), starts: Vec::new(), next: Vec::new() };
        for (_, items) in GRAMMAR {
            let end = grammar.add(State::End);
            let start = grammar.sequence(items, end);
            grammar.starts.push(start);
        }
        let ids = (0..).map(StateId).take(grammar.states.len());
        grammar.next = ids.map(|id| grammar.first(id)).collect();
        grammar
    }

    fn add(&mut self, state: State) -> StateId {
        self.states.push(state);
        StateId(u32::try_from(self.states.len().saturating_sub(1)).unwrap_or(u32::MAX))
    }

    /// Adds the states of items of which the last leads to `next`, and returns the first.
    fn sequence(&mut self, items: &[Item], next: StateId) -> StateId {
        items.iter().rev().fold(next, |next, item| self.item(item, next))
    }

    fn item(&mut self, item: &Item, next: StateId) -> StateId {
        match *item {
            Token(kind) => self.add(State::Token { set: TokenSet::one(kind), next }),
            AnyOf(kinds) => self.add(State::Token { set: TokenSet::of(kinds), next }),
            Item::Rule(rule) => self.add(State::Call { rule, precedence: 0, next }),
            Operand(rule, precedence) => self.add(State::Call { rule, precedence, next }),
            Is(shape) => self.add(State::Is { shape, next }),
            Extends(shape, precedence) => self.add(State::Extends { shape, precedence, next }),
            OneOf(decision, alternatives) => {
                let ways = alternatives.iter().map(|items| self.sequence(items, next)).collect();
                self.add(State::Choice { kind: ChoiceKind::Block, decision, ways })
            }
            Optional(items) => {
                let ways = vec![self.sequence(items, next), next];
                self.add(State::Choice { kind: ChoiceKind::Entry, decision: Decision::Next, ways })
            }
            Repeated(decision, items) => {
                let (ways, _) = self.repetition(decision, items, next);
                self.add(State::Choice { kind: ChoiceKind::Entry, decision, ways })
            }
            AtLeastOnce(decision, items) => {
                let (_, body) = self.repetition(decision, items, next);
                self.add(State::Choice { kind: ChoiceKind::Entry, decision: Decision::Next, ways: vec![body] })
            }
        }
    }

    /// The ways from the end of a repeated part, and the part's first state.
    fn repetition(&mut self, decision: Decision, items: &[Item], next: StateId) -> (Vec<StateId>, StateId) {
        let again = self.add(State::End);
        let body = self.sequence(items, again);
        let ways = vec![body, next];
        if let Some(state) = self.states.get_mut(again.0 as usize) {
            *state = State::Choice { kind: ChoiceKind::Again, decision, ways: ways.clone() };
        }
        (ways, body)
    }

    /// The tokens that may come next; no rule can be empty.
    fn first(&self, id: StateId) -> TokenSet {
        match self.state(id) {
            State::Token { set, .. } => *set,
            State::Call { rule, .. } => self.first(self.start(*rule)),
            State::Choice { ways, .. } => ways.iter().fold(TokenSet::EMPTY, |set, way| set.union(self.first(*way))),
            State::Is { next, .. } | State::Extends { next, .. } => self.first(*next),
            State::End => TokenSet::END_OF_RULE,
        }
    }

    /// The first state of a rule.
    pub(super) fn start(&self, rule: Rule) -> StateId {
        self.starts.get(rule as usize).copied().unwrap_or(StateId(0))
    }

    /// What is done at a state.
    pub(super) fn state(&self, id: StateId) -> &State {
        self.states.get(id.0 as usize).unwrap_or(&State::End)
    }

    /// The tokens that may come next within the rule, and whether it may end.
    pub(super) fn next(&self, id: StateId) -> TokenSet {
        self.next.get(id.0 as usize).copied().unwrap_or(TokenSet::END_OF_RULE)
    }

    /// Whether a way can be taken where this token comes next and the rule was called with this precedence.
    pub(super) fn can_take(&self, way: StateId, token: TokenKind, precedence: u8) -> bool {
        match self.state(way) {
            State::Choice { kind: ChoiceKind::Block, ways, .. } => {
                ways.iter().any(|way| self.can_take(*way, token, precedence))
            }
            State::Extends { precedence: own, next, .. } => *own >= precedence && self.can_take(*next, token, precedence),
            _ => self.next(way).contains(token),
        }
    }
}
