//! Parses invalid texts as ANTLR 4.13's generated parser does with its default error strategy (`error_strategy.go` of ANTLR's runtime). The
//! limits are those of cel-go's `parser/parser.go`.

mod report;

use super::MAX_DEPTH;
use super::grammar::{CEL, ChoiceKind, Decision, RULES, Rule, RuleShape, State, StateId};
use super::lexer::{Lexer, UnknownToken};
use super::syntax_tree::{NodeId, SyntaxTree};
use super::token::{Token, TokenKind, TokenSet};
use crate::issues::Issues;
use crate::source::Source;

/// The maximum number of recoveries. One more recovery ends parsing.
const MAX_RECOVERIES: u32 = 30;
/// The maximum number of tokens that `recover` skips. `synchronise` has no limit.
const MAX_SKIPPED: u32 = 256;

/// The reason why parsing ended before the end of the text.
pub(super) enum Halt {
    /// The error has been reported.
    Reported,
    /// A limit of the whole expression was exceeded.
    Limit(String),
}

/// Parses a text. Returns the syntax tree and its root, and adds the errors to `issues`.
pub(super) fn read(source: &Source, issues: &mut Issues) -> Result<(SyntaxTree, NodeId), Halt> {
    let mut reader = FaultReader {
        source,
        issues,
        lexer: Lexer::new(source),
        tokens: Vec::new(),
        unknown: Vec::new(),
        at: 0,
        tree: SyntaxTree::default(),
        callers: Vec::new(),
        rule: Called {
            rule: Rule::Start,
            precedence: 0,
            node: NodeId::default(),
        },
        state: CEL.start(Rule::Start),
        depth: [0; RULES],
        reports: 0,
        recovering: false,
        recoveries: 0,
        last_error: None,
    };
    reader.rule = reader.enter(Rule::Start, 0)?;
    loop {
        if let Some(root) = reader.step()? {
            return Ok((reader.tree, root));
        }
    }
}

struct FaultReader<'a> {
    source: &'a Source,
    issues: &'a mut Issues,
    lexer: Lexer<'a>,
    /// The tokens read so far.
    tokens: Vec<Token>,
    unknown: Vec<UnknownToken>,
    /// The index of the next token.
    at: usize,
    tree: SyntaxTree,
    /// The rules that called the current rule, the innermost last. Each has the state that made the call.
    callers: Vec<(Called, StateId)>,
    rule: Called,
    state: StateId,
    /// The current nesting depth of each rule.
    depth: [u32; RULES],
    reports: usize,
    /// Whether the parser is still recovering: an error was reported, and no token has been accepted since. Further errors are not reported
    /// until a token is accepted.
    recovering: bool,
    recoveries: u32,
    /// The position of the last recovery, and the states of all recoveries since the last accepted token.
    last_error: Option<(usize, Vec<StateId>)>,
}

/// A rule that is being parsed.
#[derive(Clone, Copy)]
struct Called {
    rule: Rule,
    precedence: u8,
    node: NodeId,
}

/// The fault that ends a rule early.
enum Fault {
    /// The next token is not allowed here.
    Mismatch,
    /// No alternative fits the next token and the `tokens` tokens after it.
    NoAlternative { tokens: usize },
}

/// A reason to stop parsing a rule or the whole text.
enum Stop {
    Fault(Fault),
    Halt(Halt),
}

impl From<Halt> for Stop {
    fn from(halt: Halt) -> Self {
        Stop::Halt(halt)
    }
}

impl FaultReader<'_> {
    /// Takes the action at the current state. Returns the root once the whole text has been parsed.
    fn step(&mut self) -> Result<Option<NodeId>, Halt> {
        match self.go_on() {
            Ok(root) => Ok(root),
            Err(Stop::Halt(halt)) => Err(halt),
            Err(Stop::Fault(fault)) => {
                self.report_fault(&fault)?;
                self.recover()?;
                Ok(self.leave())
            }
        }
    }

    fn go_on(&mut self) -> Result<Option<NodeId>, Stop> {
        match CEL.state(self.state) {
            State::Token { set, next } => {
                self.expect(*set, *next)?;
                self.state = *next;
            }
            State::Call {
                rule, precedence, ..
            } => {
                let called = self.enter(*rule, *precedence)?;
                self.callers.push((self.rule, self.state));
                self.rule = called;
                self.state = CEL.start(*rule);
            }
            State::Choice {
                kind,
                decision,
                ways,
            } => {
                self.synchronise(*kind)?;
                self.state = self.predict(*kind, *decision, ways)?;
            }
            State::Is { shape, next } => {
                self.tree.set_shape(self.rule.node, *shape);
                self.state = *next;
            }
            State::Extends { shape, next, .. } => {
                self.extend(*shape);
                self.state = *next;
            }
            State::End => return Ok(self.leave()),
        }
        Ok(None)
    }

    fn enter(&mut self, rule: Rule, precedence: u8) -> Result<Called, Halt> {
        let start = self.token(0)?.offset;
        if let Some(depth) = self.depth.get_mut(rule as usize) {
            *depth = depth.saturating_add(1);
            if *depth > MAX_DEPTH {
                return Err(Halt::Limit(format!(
                    "expression recursion limit exceeded: {MAX_DEPTH}"
                )));
            }
        }
        Ok(Called {
            rule,
            precedence,
            node: self.tree.add(rule, start),
        })
    }

    fn leave(&mut self) -> Option<NodeId> {
        if let Some(depth) = self.depth.get_mut(self.rule.rule as usize) {
            *depth = depth.saturating_sub(1);
        }
        let node = self.rule.node;
        let Some((caller, state)) = self.callers.pop() else {
            return Some(node);
        };
        self.tree.push_node(caller.node, node);
        self.rule = caller;
        self.state = follow(state);
        None
    }

    fn extend(&mut self, shape: RuleShape) {
        let operand = self.rule.node;
        let start = self.tree.node(operand).map_or(0, |node| node.start);
        let node = self.tree.add(self.rule.rule, start);
        self.tree.set_shape(node, shape);
        self.tree.push_node(node, operand);
        self.rule.node = node;
    }

    // Functions for tokens.

    /// The token `ahead` tokens after the next one.
    fn token(&mut self, ahead: usize) -> Result<Token, Halt> {
        loop {
            let wanted = self.tokens.get(self.at.saturating_add(ahead)).copied();
            let end = self
                .tokens
                .last()
                .copied()
                .filter(|last| last.kind == TokenKind::Eof);
            if let Some(token) = wanted.or(end) {
                return Ok(token);
            }
            match self.lexer.next() {
                Ok(token) => self.tokens.push(token),
                Err(unknown) => {
                    let text = self
                        .source
                        .text()
                        .get(unknown.start..unknown.end)
                        .unwrap_or_default();
                    let message = format!("token recognition error at: '{text}'");
                    self.unknown.push(unknown);
                    self.report(unknown.offset, &message)?;
                }
            }
        }
    }

    fn kind(&mut self, ahead: usize) -> Result<TokenKind, Halt> {
        Ok(self.token(ahead)?.kind)
    }

    /// Consumes the next token. It becomes a part of the rule's node, unless a recovery skips it.
    fn consume(&mut self) -> Result<(), Halt> {
        let token = self.token(0)?;
        if token.kind != TokenKind::Eof {
            self.at = self.at.saturating_add(1);
        }
        if !self.recovering {
            self.tree.push_token(self.rule.node, token);
        }
        self.token(0).map(|_| ())
    }

    /// Records that the next token was accepted.
    fn accept(&mut self) {
        self.recovering = false;
        self.last_error = None;
    }

    /// Consumes a token of this set, before the parser continues at `next`. If another token comes next, tries to skip it or to insert
    /// the missing token.
    fn expect(&mut self, set: TokenSet, next: StateId) -> Result<(), Stop> {
        if set.contains(self.kind(0)?) {
            self.accept();
            self.consume()?;
            return Ok(());
        }
        self.count_recovery()?;
        if self.delete_token()? {
            self.consume()?;
        } else if self.follows(next).contains(self.kind(0)?) {
            self.report_missing()?;
            self.insert(set)?;
        } else {
            return Err(Stop::Fault(Fault::Mismatch));
        }
        Ok(())
    }

    /// Inserts the missing token.
    fn insert(&mut self, set: TokenSet) -> Result<(), Halt> {
        let next = self.token(0)?;
        let kind = set.first().unwrap_or(TokenKind::Eof);
        self.tree.push_token(
            self.rule.node,
            Token {
                kind,
                end: next.start,
                ..next
            },
        );
        Ok(())
    }

    // Functions for choices.

    /// Chooses one of several states to continue at, by the next tokens. Fails if none of them fits.
    fn predict(
        &mut self,
        kind: ChoiceKind,
        decision: Decision,
        ways: &[StateId],
    ) -> Result<StateId, Stop> {
        use TokenKind::{
            Comma, Dot, EscapedIdentifier, Float, Identifier, Int, LeftParen, Minus, QuestionMark,
        };
        let no_alternative = |tokens| Err(Stop::Fault(Fault::NoAlternative { tokens }));
        let next = self.kind(0)?;
        let chosen = match (decision, next) {
            (Decision::Elements, Comma) => {
                let element = ways
                    .first()
                    .map_or(TokenSet::EMPTY, |way| CEL.next(follow(*way)));
                usize::from(!element.contains(self.kind(1)?))
            }
            (Decision::Unary, Minus) => match self.kind(1)? {
                Int | Float => 0,
                other if CEL.next(CEL.start(Rule::Member)).contains(other) => 2,
                _ => return no_alternative(1),
            },
            (Decision::Dashes, Minus)
                if !CEL.next(CEL.start(Rule::Member)).contains(self.kind(1)?) =>
            {
                return no_alternative(1);
            }
            (Decision::Member, Dot) => match self.kind(1)? {
                QuestionMark | EscapedIdentifier => 0,
                Identifier => usize::from(self.kind(2)? == LeftParen),
                _ => return no_alternative(1),
            },
            (Decision::Primary, Dot) if self.kind(1)? != Identifier => return no_alternative(1),
            (Decision::Primary, Dot) => self.name(2)?,
            (Decision::Primary, Identifier) => self.name(1)?,
            (Decision::Literal, Minus) => match self.kind(1)? {
                Int => 0,
                Float => 2,
                _ => return no_alternative(1),
            },
            _ => {
                let precedence = self.rule.precedence;
                match ways
                    .iter()
                    .position(|way| CEL.can_take(*way, next, precedence))
                {
                    Some(index) => index,
                    None if kind == ChoiceKind::Block => return no_alternative(0),
                    None if decision == Decision::Dashes => return no_alternative(0),
                    None => ways.len().saturating_sub(1),
                }
            }
        };
        ways.get(chosen)
            .copied()
            .map_or_else(|| no_alternative(0), Ok)
    }

    /// Chooses one of the alternatives of `primary` that begin with a name: an identifier, a global call or a struct literal. The first
    /// identifier of the name ends before the token that is `past` tokens ahead.
    fn name(&mut self, past: usize) -> Result<usize, Halt> {
        const IDENT: usize = 0;
        const GLOBAL_CALL: usize = 1;
        const STRUCT: usize = 5;
        let mut past = past;
        if self.kind(past)? == TokenKind::LeftParen {
            return Ok(GLOBAL_CALL);
        }
        while self.kind(past)? == TokenKind::Dot
            && self.kind(past.saturating_add(1))? == TokenKind::Identifier
        {
            past = past.saturating_add(2);
        }
        Ok(if self.kind(past)? == TokenKind::LeftBrace {
            STRUCT
        } else {
            IDENT
        })
    }

    /// Checks that the next token is allowed here. Otherwise skips tokens, or fails.
    fn synchronise(&mut self, kind: ChoiceKind) -> Result<(), Stop> {
        let next = CEL.next(self.state);
        if self.recovering || next.ends_rule() || next.contains(self.kind(0)?) {
            return Ok(());
        }
        if kind == ChoiceKind::Again {
            self.report_unwanted()?;
            let set = self.expected().union(self.recovery_set());
            return Ok(self.skip_until(set, u32::MAX)?);
        }
        if self.delete_token()? {
            Ok(())
        } else {
            Err(Stop::Fault(Fault::Mismatch))
        }
    }

    // Functions for sets of tokens.

    /// The tokens that may come next at the current state. If the rule may end, they include the tokens that may follow it.
    fn expected(&self) -> TokenSet {
        self.follows(self.state)
    }

    /// The tokens that may come next at a state of the current rule. If the rule may end, they include the tokens that may follow it.
    fn follows(&self, state: StateId) -> TokenSet {
        let mut set = CEL.next(state);
        let mut callers = self.callers.iter().rev();
        while set.ends_rule() {
            let next = callers.next().map(|(_, state)| CEL.next(follow(*state)));
            set = set
                .without_end_of_rule()
                .union(next.unwrap_or(TokenSet::one(TokenKind::Eof)));
        }
        set
    }

    /// The tokens that may follow any of the rules that are being parsed.
    fn recovery_set(&self) -> TokenSet {
        let follows = self
            .callers
            .iter()
            .map(|(_, state)| CEL.next(follow(*state)));
        follows
            .fold(TokenSet::EMPTY, TokenSet::union)
            .without_end_of_rule()
    }

    // Functions for recovery.

    /// Skips the next token if the token after it is expected. Returns whether it was skipped.
    fn delete_token(&mut self) -> Result<bool, Halt> {
        if !self.expected().contains(self.kind(1)?) {
            return Ok(false);
        }
        self.report_unwanted()?;
        self.consume()?;
        self.accept();
        Ok(true)
    }

    fn count_recovery(&mut self) -> Result<(), Halt> {
        if self.recoveries >= MAX_RECOVERIES {
            let offset = self.token(0)?.offset;
            self.report(
                offset,
                &format!("error recovery attempt limit exceeded: {MAX_RECOVERIES}"),
            )?;
            return Err(Halt::Reported);
        }
        self.recoveries = self.recoveries.saturating_add(1);
        Ok(())
    }

    /// Skips to a token at which one of the callers can continue.
    fn recover(&mut self) -> Result<(), Halt> {
        self.count_recovery()?;
        let mut allowed = MAX_SKIPPED;
        let (at, mut states) = self.last_error.take().unwrap_or((usize::MAX, Vec::new()));
        // Skips a token if there was no progress since a recovery in the same state. Otherwise recovery would never end.
        if at == self.at && states.contains(&self.state) {
            allowed = allowed.saturating_sub(1);
            self.consume()?;
        }
        states.push(self.state);
        self.last_error = Some((self.at, states));
        self.skip_until(self.recovery_set(), allowed)
    }

    fn skip_until(&mut self, set: TokenSet, allowed: u32) -> Result<(), Halt> {
        let mut allowed = allowed;
        loop {
            let kind = self.kind(0)?;
            if kind == TokenKind::Eof || set.contains(kind) {
                return Ok(());
            }
            if allowed == 0 {
                return Err(Halt::Limit(format!(
                    "error recovery token lookahead limit exceeded: {MAX_SKIPPED}"
                )));
            }
            allowed = allowed.saturating_sub(1);
            self.consume()?;
        }
    }
}

/// The state after the token or rule that the grammar expects at `state`. Returns `state` itself if it expects neither.
fn follow(state: StateId) -> StateId {
    match CEL.state(state) {
        State::Token { next, .. } | State::Call { next, .. } => *next,
        _ => state,
    }
}
