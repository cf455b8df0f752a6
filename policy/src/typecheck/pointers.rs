//! Determines which keys of a JSON pointer are known before its expression is evaluated.

use gavel_engine::ast::{Expr, ExprKind, operators};
use gavel_engine::check::{CheckedAst, Reference};
use gavel_engine::types::Type;
use smallvec::SmallVec;

/// The keys of a JSON pointer that are known before the evaluation.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Steps {
    /// The keys before the first computed string that may contain a slash, unescaped; `None` for a computed key that contains no slash.
    pub(super) known: Vec<Option<String>>,
    /// Whether these are all keys of the pointer.
    pub(super) is_whole: bool,
}

/// The keys of the JSON pointer that an expression returns. The expression is a literal string, or a concatenation of literals and computed
/// strings.
pub(super) fn steps(pointer: Expr<'_>, checked: &CheckedAst) -> Steps {
    let mut pieces = Vec::new();
    split(pointer, checked, &mut pieces);
    let mut steps = Steps::default();
    // The key that is being read; `None` before the first slash. The inner `None` stands for a computed key.
    let mut open: Option<Option<String>> = None;
    for piece in pieces {
        match piece {
            Piece::Text(text) => {
                for (n, part) in text.split('/').enumerate() {
                    if n > 0 {
                        steps.known.extend(open.replace(Some(String::new())));
                    }
                    if let Some(Some(name)) = &mut open {
                        name.push_str(part);
                    }
                }
            }
            Piece::Step => open = open.map(|_| None),
            Piece::Unknown => return steps,
        }
    }
    steps.known.extend(open);
    steps.is_whole = true;
    for name in steps.known.iter_mut().flatten() {
        *name = name.replace("~1", "/").replace("~0", "~");
    }
    steps
}

enum Piece<'e> {
    Text(&'e str),
    /// A computed string without a slash, which is part of a single key.
    Step,
    Unknown,
}

/// Splits a concatenation of strings into its operands. The parser limits the depth of the recursion.
fn split<'e>(expr: Expr<'e>, checked: &CheckedAst, pieces: &mut Vec<Piece<'e>>) {
    if let Some(text) = expr.as_text() {
        return pieces.push(Piece::Text(text));
    }
    let (function, args) = match (expr.kind(), checked.reference(expr.id)) {
        (ExprKind::Call(call), Some(Reference::Call { function, .. })) => {
            (function.name.as_str(), call.args.to_vec())
        }
        _ => ("", SmallVec::new()),
    };
    match (function, args.as_slice()) {
        (operators::ADD, &[first, second]) => {
            split(first, checked, pieces);
            split(second, checked, pieces);
        }
        ("string", [number]) if *checked.type_of(number.id) == Type::Int => {
            pieces.push(Piece::Step);
        }
        ("jsonpatch.escapeKey", _) => pieces.push(Piece::Step),
        _ => pieces.push(Piece::Unknown),
    }
}
