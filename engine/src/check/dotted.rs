//! The dotted names that selections spell, such as `a.b.c`. Each beginning of such a name may be declared too, so the checker looks up
//! `a.b.c`, then `a.b`.

use super::names::{Declared, Scopes};
use crate::ast::{Expr, ExprId, ExprKind, Select};
use crate::decl::{Declarations, NamesBelow};

/// Most dotted names are at most this long, in bytes.
const USUAL_LENGTH: usize = 64;

/// The dotted name that the checker looked up last, without the parts that turned out to be fields.
#[derive(Debug, Default)]
pub(super) struct DottedName {
    /// The node that spells the name; `None` before the first lookup.
    id: Option<ExprId>,
    /// What the name may refer to.
    below: NamesBelow,
    /// The name, possibly with a leading dot. Empty if nothing has such a name.
    text: String,
}

impl DottedName {
    /// The declaration that a selection refers to, if it spells a dotted name that is declared.
    pub(super) fn find(
        &mut self,
        expr: &Expr,
        scopes: &Scopes,
        env: &Declarations,
    ) -> Option<Declared> {
        let found = match self.spell(expr, env)? {
            NamesBelow::None => None,
            NamesBelow::OfHost if !self.is_host_type(env) => None,
            NamesBelow::OfHost | NamesBelow::Declared => scopes.find(env, &self.text),
        };
        match &expr.kind {
            ExprKind::Select(select) if found.is_none() => self.shorten(select),
            _ => self.id = None,
        }
        found
    }

    /// Calls `find` with the name of a function: the name that `receiver` spells, a dot, and `function`. Returns `None` if no function has
    /// such a name.
    pub(super) fn find_function<T>(
        &mut self,
        receiver: &Expr,
        function: &str,
        env: &Declarations,
        find: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        if self.spell(receiver, env)? != NamesBelow::Declared {
            return None;
        }
        let length = self.text.len();
        self.text.push('.');
        self.text.push_str(function);
        let found = find(&self.text);
        self.text.truncate(length);
        found
    }

    /// Stores the dotted name that an expression spells, and returns what the name may refer to; `None` if the expression spells no dotted
    /// name. A name that is stored already, such as the one that `shorten` left, is not spelled again.
    fn spell(&mut self, expr: &Expr, env: &Declarations) -> Option<NamesBelow> {
        if self.id != Some(expr.id) {
            self.below = env.names_below(root(expr)?);
            self.text.clear();
            if self.below != NamesBelow::None {
                self.text.reserve(USUAL_LENGTH);
                push_name(expr, &mut self.text);
            }
            self.id = Some(expr.id);
        }
        Some(self.below)
    }

    fn is_host_type(&self, env: &Declarations) -> bool {
        let absolute = self.text.strip_prefix('.').unwrap_or(&self.text);
        env.provider().find_type(absolute).is_some()
    }

    /// Removes the last part, which is a field of the operand.
    fn shorten(&mut self, select: &Select) {
        self.id = Some(select.operand.id);
        let length = self.text.len().saturating_sub(select.field.len());
        self.text.truncate(length.saturating_sub(1));
    }
}

/// The first identifier, without a leading dot, of an expression that spells a dotted name; `None` for other expressions.
fn root(expr: &Expr) -> Option<&str> {
    let mut expr = expr;
    loop {
        match &expr.kind {
            ExprKind::Ident(name) => return Some(name.strip_prefix('.').unwrap_or(name)),
            ExprKind::Select(select) if !select.test_only => expr = &select.operand,
            _ => return None,
        }
    }
}

/// Appends the dotted name that an expression spells.
fn push_name(expr: &Expr, text: &mut String) {
    match &expr.kind {
        ExprKind::Ident(name) => text.push_str(name),
        ExprKind::Select(select) => {
            push_name(&select.operand, text);
            text.push('.');
            text.push_str(&select.field);
        }
        _ => {}
    }
}
