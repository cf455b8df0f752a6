//! JSON pointers in expressions, as far as their text is known before the evaluation.

use gavel_engine::ast::{Constant, Expr, ExprKind, operators};
use gavel_engine::check::{CheckedAst, Reference};
use gavel_engine::types::Type;

/// The steps of a JSON pointer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Steps {
    /// The known steps, each with its unescaped name if that is known too.
    pub(super) known: Vec<Option<String>>,
    /// Whether the pointer has no further steps.
    pub(super) is_whole: bool,
}

/// The steps of the pointer that an expression returns: a text, or several joined with computed values.
pub(super) fn steps(pointer: &Expr, checked: &CheckedAst) -> Steps {
    let mut pieces = Vec::new();
    split(pointer, checked, &mut pieces);
    let mut steps = Steps::default();
    // The step that is being read; `None` before the first slash.
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
    /// A computed text without a slash: it is part of one step.
    Step,
    Unknown,
}

/// The operands of a text that is concatenated with `+`. The recursion is as deep as the tree; the parser limits this depth.
fn split<'e>(expr: &'e Expr, checked: &CheckedAst, pieces: &mut Vec<Piece<'e>>) {
    if let Some(text) = text_of(expr) {
        return pieces.push(Piece::Text(text));
    }
    let function = match (&expr.kind, checked.reference(expr.id)) {
        (ExprKind::Call(call), Some(Reference::Call { function, .. })) => {
            Some((function.name.as_str(), call.args.as_slice()))
        }
        _ => None,
    };
    match function {
        Some((operators::ADD, [first, second])) => {
            split(first, checked, pieces);
            split(second, checked, pieces);
        }
        Some(("string", [number])) if *checked.type_of(number.id) == Type::Int => {
            pieces.push(Piece::Step);
        }
        Some(("jsonpatch.escapeKey", _)) => pieces.push(Piece::Step),
        _ => pieces.push(Piece::Unknown),
    }
}

/// The text, if the expression is a literal text.
pub(super) fn text_of(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Constant(Constant::String(text)) => Some(text),
        _ => None,
    }
}
