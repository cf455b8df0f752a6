//! The rules of the grammar.

use super::{Decision, RULES, Rule, RuleShape};
use crate::syntax::token::TokenKind::{self, *};

/// An item of a rule: a token, a call of another rule, or a combination of items.
pub(super) enum Item {
    Token(TokenKind),
    AnyOf(&'static [TokenKind]),
    Call(Rule),
    /// A right operand. It ends before an operator of a precedence lower than this one.
    Operand(Rule, u8),
    Optional(&'static [Item]),
    OneOf(Decision, &'static [&'static [Item]]),
    Repeated(Decision, &'static [Item]),
    AtLeastOnce(Decision, &'static [Item]),
    /// Begins an alternative.
    Is(RuleShape),
    /// Begins an alternative with this precedence. Its first child is the node that the rule has parsed so far, such as the left operand
    /// of `+`.
    Extends(RuleShape, u8),
}

use Item::{AnyOf, AtLeastOnce, Call, Extends, Is, OneOf, Operand, Optional, Repeated, Token};

/// The items of each rule, in the order of [`Rule`].
#[rustfmt::skip]
pub(super) const GRAMMAR: [(Rule, &[Item]); RULES] = [
    (Rule::Start, &[Call(Rule::Expr), Token(Eof)]),
    (Rule::Expr, &[
        Call(Rule::Or),
        Optional(&[Token(QuestionMark), Call(Rule::Or), Token(Colon), Call(Rule::Expr)]),
    ]),
    (Rule::Or, &[Call(Rule::And), Repeated(Decision::Next, &[Token(LogicalOr), Call(Rule::And)])]),
    (Rule::And, &[Call(Rule::Relation), Repeated(Decision::Next, &[Token(LogicalAnd), Call(Rule::Relation)])]),
    (Rule::Relation, &[
        Call(Rule::Calc),
        Repeated(Decision::Next, &[
            Extends(RuleShape::Operation, 1),
            AnyOf(&[Equals, NotEquals, In, Less, LessEquals, GreaterEquals, Greater]),
            Operand(Rule::Relation, 2),
        ]),
    ]),
    (Rule::Calc, &[
        Call(Rule::Unary),
        Repeated(Decision::Next, &[OneOf(Decision::Next, &[
            &[Extends(RuleShape::Operation, 2), AnyOf(&[Star, Slash, Percent]), Operand(Rule::Calc, 3)],
            &[Extends(RuleShape::Operation, 1), AnyOf(&[Plus, Minus]), Operand(Rule::Calc, 2)],
        ])]),
    ]),
    (Rule::Unary, &[OneOf(Decision::Unary, &[
        &[Is(RuleShape::Operand), Call(Rule::Member)],
        &[Is(RuleShape::LogicalNot), AtLeastOnce(Decision::Next, &[Token(Exclam)]), Call(Rule::Member)],
        &[Is(RuleShape::Negate), AtLeastOnce(Decision::Dashes, &[Token(Minus)]), Call(Rule::Member)],
    ])]),
    (Rule::Member, &[
        Call(Rule::Primary),
        Repeated(Decision::Next, &[OneOf(Decision::Member, &[
            &[Extends(RuleShape::Select, 3), Token(Dot), Optional(&[Token(QuestionMark)]), Call(Rule::EscapeIdent)],
            &[
                Extends(RuleShape::MemberCall, 2), Token(Dot), Token(Identifier),
                Token(LeftParen), Optional(&[Call(Rule::ExprList)]), Token(RightParen),
            ],
            &[
                Extends(RuleShape::Index, 1),
                Token(LeftBracket), Optional(&[Token(QuestionMark)]), Call(Rule::Expr), Token(RightBracket),
            ],
        ])]),
    ]),
    (Rule::Primary, &[OneOf(Decision::Primary, &[
        &[Is(RuleShape::Ident), Optional(&[Token(Dot)]), Token(Identifier)],
        &[
            Is(RuleShape::GlobalCall), Optional(&[Token(Dot)]), Token(Identifier),
            Token(LeftParen), Optional(&[Call(Rule::ExprList)]), Token(RightParen),
        ],
        &[Is(RuleShape::Nested), Token(LeftParen), Call(Rule::Expr), Token(RightParen)],
        &[
            Is(RuleShape::List),
            Token(LeftBracket), Optional(&[Call(Rule::ListInit)]), Optional(&[Token(Comma)]), Token(RightBracket),
        ],
        &[
            Is(RuleShape::Map),
            Token(LeftBrace), Optional(&[Call(Rule::MapInits)]), Optional(&[Token(Comma)]), Token(RightBrace),
        ],
        &[
            Is(RuleShape::Struct), Optional(&[Token(Dot)]), Token(Identifier),
            Repeated(Decision::Next, &[Token(Dot), Token(Identifier)]),
            Token(LeftBrace), Optional(&[Call(Rule::FieldInits)]), Optional(&[Token(Comma)]), Token(RightBrace),
        ],
        &[Is(RuleShape::Literal), Call(Rule::Literal)],
    ])]),
    (Rule::ExprList, &[Call(Rule::Expr), Repeated(Decision::Next, &[Token(Comma), Call(Rule::Expr)])]),
    (Rule::ListInit, &[Call(Rule::OptExpr), Repeated(Decision::Elements, &[Token(Comma), Call(Rule::OptExpr)])]),
    (Rule::FieldInits, &[
        Call(Rule::OptField), Token(Colon), Call(Rule::Expr),
        Repeated(Decision::Elements, &[Token(Comma), Call(Rule::OptField), Token(Colon), Call(Rule::Expr)]),
    ]),
    (Rule::OptField, &[Optional(&[Token(QuestionMark)]), Call(Rule::EscapeIdent)]),
    (Rule::MapInits, &[
        Call(Rule::OptExpr), Token(Colon), Call(Rule::Expr),
        Repeated(Decision::Elements, &[Token(Comma), Call(Rule::OptExpr), Token(Colon), Call(Rule::Expr)]),
    ]),
    (Rule::EscapeIdent, &[OneOf(Decision::Next, &[
        &[Is(RuleShape::Simple), Token(Identifier)],
        &[Is(RuleShape::Escaped), Token(EscapedIdentifier)],
    ])]),
    (Rule::OptExpr, &[Optional(&[Token(QuestionMark)]), Call(Rule::Expr)]),
    (Rule::Literal, &[OneOf(Decision::Literal, &[
        &[Is(RuleShape::Literal), Optional(&[Token(Minus)]), Token(Int)],
        &[Is(RuleShape::Literal), Token(Uint)],
        &[Is(RuleShape::Literal), Optional(&[Token(Minus)]), Token(Float)],
        &[Is(RuleShape::Literal), Token(String)],
        &[Is(RuleShape::Literal), Token(Bytes)],
        &[Is(RuleShape::Literal), Token(True)],
        &[Is(RuleShape::Literal), Token(False)],
        &[Is(RuleShape::Literal), Token(Null)],
    ])]),
];
