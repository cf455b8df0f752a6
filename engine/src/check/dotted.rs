//! The dotted names that selections spell, such as `a.b.c`. Each beginning of such a name may be declared too, so the checker looks up
//! `a.b.c`, then `a.b`.

use std::borrow::Cow;

use super::names::{Declared, Scopes};
use crate::ast::{Expr, ExprId, ExprKind, Select};
use crate::decl::{Declarations, NamesBelow};

/// The dotted name that the checker looked up last, without the parts that turned out to be fields.
#[derive(Debug, Default)]
pub(super) struct DottedName<'c> {
    /// The node that spells the name; `None` before the first lookup.
    id: Option<ExprId>,
    /// The first part of the name; `None` before the first lookup.
    first: Option<&'c str>,
    /// What names with this first part may refer to.
    below: NamesBelow,
    /// The name, possibly with a leading dot. Empty if nothing has such a name.
    text: Cow<'c, str>,
}

impl<'c> DottedName<'c> {
    /// The declaration that a selection refers to, if it spells a dotted name that is declared.
    pub(super) fn find(
        &mut self,
        expr: Expr<'c>,
        scopes: &Scopes<'_>,
        env: &Declarations,
    ) -> Option<Declared> {
        let found = match self.spell(expr, env)? {
            NamesBelow::None => None,
            NamesBelow::OfHost if !self.is_host_type(env) => None,
            NamesBelow::OfHost | NamesBelow::Declared => scopes.find(env, &self.text),
        };
        match expr.kind() {
            ExprKind::Select(select) if found.is_none() => self.shorten(&select),
            _ => self.id = None,
        }
        found
    }

    /// Calls `find` with the name of a function: the name that `receiver` spells, a dot, and `function`. Returns `None` if no function has
    /// such a name.
    pub(super) fn find_function<T>(
        &mut self,
        receiver: Expr<'c>,
        function: &str,
        env: &Declarations,
        find: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        if self.spell(receiver, env)? != NamesBelow::Declared {
            return None;
        }
        find(&format!("{}.{function}", self.text))
    }

    /// Stores the dotted name that an expression spells, and returns what the name may refer to; `None` if the expression spells no dotted
    /// name. A name that is stored already, such as the one that `shorten` left, is not spelled again.
    fn spell(&mut self, expr: Expr<'c>, env: &Declarations) -> Option<NamesBelow> {
        if self.id != Some(expr.id) {
            let first = expr.first_name()?;
            let first = first.strip_prefix('.').unwrap_or(first);
            if self.first != Some(first) {
                self.first = Some(first);
                self.below = env.names_below(first);
            }
            self.text = match self.below {
                NamesBelow::None => Cow::default(),
                NamesBelow::OfHost | NamesBelow::Declared => expr.dotted_name()?,
            };
            self.id = Some(expr.id);
        }
        Some(self.below)
    }

    fn is_host_type(&self, env: &Declarations) -> bool {
        let absolute = self.text.strip_prefix('.').unwrap_or(&self.text);
        env.provider().find_type(absolute).is_some()
    }

    /// Removes the last part, which is a field of the operand.
    fn shorten(&mut self, select: &Select<'_>) {
        self.id = Some(select.operand.id);
        let length = self.text.len().saturating_sub(select.field.len());
        let length = length.saturating_sub(1);
        match &mut self.text {
            Cow::Borrowed(text) => *text = text.get(..length).unwrap_or_default(),
            Cow::Owned(text) => text.truncate(length),
        }
    }
}
