//! The grammar of CEL as data (`parser/gen/CEL.g4`), and the state graph that is built from it.
//!
//! The grammar is only used for texts with a syntax error. The expected tokens that a message lists depend on the state in which the
//! error was found. The states are therefore the same as in the parser that ANTLR generates.

use std::sync::LazyLock;

use super::token::{TokenKind, TokenSet};

mod rules;

use rules::{GRAMMAR, Item};

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

/// The alternative by which a grammar rule matched a part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleShape {
    /// The only alternative, or an alternative that is not known yet.
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

/// How the parser chooses one of several alternatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// The next token decides.
    Next,
    /// The next token decides. If it is a comma, the token after the comma decides whether another element follows.
    Elements,
    /// Chooses an alternative of the rule `unary`, where two alternatives begin with `-`.
    Unary,
    /// Decides whether a further `-` is an operator or begins a literal.
    Dashes,
    /// Chooses an alternative for a `.` after an operand.
    Member,
    /// Chooses an alternative that begins with a name.
    Primary,
    /// Chooses the kind of a literal. Two kinds can begin with `-`.
    Literal,
}

/// Identifies a state: a position in a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StateId(u32);

/// The action of the parser at a position in a rule.
#[derive(Debug)]
pub(super) enum State {
    /// Accepts one of these tokens.
    Token { set: TokenSet, next: StateId },
    /// Parses another rule.
    Call {
        rule: Rule,
        precedence: u8,
        next: StateId,
    },
    /// Continues at one of several states. For an optional or repeated part, the last state is the one after the part.
    Choice {
        kind: ChoiceKind,
        decision: Decision,
        ways: Vec<StateId>,
    },
    /// The alternative is now known.
    Is { shape: RuleShape, next: StateId },
    /// The node parsed so far becomes the first child of an alternative with this precedence.
    Extends {
        shape: RuleShape,
        precedence: u8,
        next: StateId,
    },
    /// The rule is complete.
    End,
}

/// The position of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChoiceKind {
    /// At the start of alternatives; one of them must follow.
    Block,
    /// At the start of an optional part, or before the first repetition of a repeated part.
    Entry,
    /// After each repetition.
    Again,
}

/// The states of all rules.
pub(super) struct Grammar {
    states: Vec<State>,
    starts: Vec<StateId>,
    /// For each state, the tokens that may come next within its rule.
    next: Vec<TokenSet>,
}

/// The grammar of CEL.
pub(super) static CEL: LazyLock<Grammar> = LazyLock::new(Grammar::new);

impl Grammar {
    fn new() -> Self {
        let mut grammar = Grammar {
            states: Vec::new(),
            starts: Vec::new(),
            next: Vec::new(),
        };
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

    /// Adds the states of `items` and returns the first state. The last state continues at `next`.
    fn sequence(&mut self, items: &[Item], next: StateId) -> StateId {
        items
            .iter()
            .rev()
            .fold(next, |next, item| self.item(item, next))
    }

    fn item(&mut self, item: &Item, next: StateId) -> StateId {
        match *item {
            Item::Token(kind) => self.add(State::Token {
                set: TokenSet::one(kind),
                next,
            }),
            Item::AnyOf(kinds) => self.add(State::Token {
                set: TokenSet::of(kinds),
                next,
            }),
            Item::Call(rule) => self.add(State::Call {
                rule,
                precedence: 0,
                next,
            }),
            Item::Operand(rule, precedence) => self.add(State::Call {
                rule,
                precedence,
                next,
            }),
            Item::Is(shape) => self.add(State::Is { shape, next }),
            Item::Extends(shape, precedence) => self.add(State::Extends {
                shape,
                precedence,
                next,
            }),
            Item::OneOf(decision, alternatives) => {
                let ways = alternatives
                    .iter()
                    .map(|items| self.sequence(items, next))
                    .collect();
                self.add(State::Choice {
                    kind: ChoiceKind::Block,
                    decision,
                    ways,
                })
            }
            Item::Optional(items) => {
                let ways = vec![self.sequence(items, next), next];
                self.add(State::Choice {
                    kind: ChoiceKind::Entry,
                    decision: Decision::Next,
                    ways,
                })
            }
            Item::Repeated(decision, items) => {
                let (ways, _) = self.repetition(decision, items, next);
                self.add(State::Choice {
                    kind: ChoiceKind::Entry,
                    decision,
                    ways,
                })
            }
            Item::AtLeastOnce(decision, items) => {
                let (_, body) = self.repetition(decision, items, next);
                self.add(State::Choice {
                    kind: ChoiceKind::Entry,
                    decision: Decision::Next,
                    ways: vec![body],
                })
            }
        }
    }

    /// Adds a repeated part. Returns the states at which the parser can continue after each repetition, and the part's first state.
    fn repetition(
        &mut self,
        decision: Decision,
        items: &[Item],
        next: StateId,
    ) -> (Vec<StateId>, StateId) {
        let again = self.add(State::End);
        let body = self.sequence(items, again);
        let ways = vec![body, next];
        if let Some(state) = self.states.get_mut(again.0 as usize) {
            *state = State::Choice {
                kind: ChoiceKind::Again,
                decision,
                ways: ways.clone(),
            };
        }
        (ways, body)
    }

    /// The tokens that may come next at a state. For a rule call, these are the first tokens of the rule: every rule matches at least one
    /// token, so the state after the call does not matter.
    fn first(&self, id: StateId) -> TokenSet {
        match self.state(id) {
            State::Token { set, .. } => *set,
            State::Call { rule, .. } => self.first(self.start(*rule)),
            State::Choice { ways, .. } => ways
                .iter()
                .fold(TokenSet::EMPTY, |set, way| set.union(self.first(*way))),
            State::Is { next, .. } | State::Extends { next, .. } => self.first(*next),
            State::End => TokenSet::END_OF_RULE,
        }
    }

    /// The first state of a rule.
    pub(super) fn start(&self, rule: Rule) -> StateId {
        self.starts
            .get(rule as usize)
            .copied()
            .unwrap_or(StateId(0))
    }

    /// The action at a state.
    pub(super) fn state(&self, id: StateId) -> &State {
        self.states.get(id.0 as usize).unwrap_or(&State::End)
    }

    /// The tokens that may come next within the rule, and whether the rule may end.
    pub(super) fn next(&self, id: StateId) -> TokenSet {
        self.next
            .get(id.0 as usize)
            .copied()
            .unwrap_or(TokenSet::END_OF_RULE)
    }

    /// Whether the parser can continue at `way` if this token comes next and the rule was called with this precedence.
    pub(super) fn can_take(&self, way: StateId, token: TokenKind, precedence: u8) -> bool {
        match self.state(way) {
            State::Choice {
                kind: ChoiceKind::Block,
                ways,
                ..
            } => ways
                .iter()
                .any(|way| self.can_take(*way, token, precedence)),
            State::Extends {
                precedence: own,
                next,
                ..
            } => *own >= precedence && self.can_take(*next, token, precedence),
            _ => self.next(way).contains(token),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_listed_in_the_order_of_their_numbers() {
        for (index, (rule, _)) in GRAMMAR.iter().enumerate() {
            assert_eq!(*rule as usize, index);
        }
    }
}
