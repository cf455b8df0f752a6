//! Constant templates that put texts together. Planning reads them once.

use bumpalo::collections::String as ArenaString;
use gavel_engine::decl::{CallContext, Specialized};
use gavel_engine::error::EvalError;
use gavel_engine::value::Value;
use smallvec::SmallVec;

use super::template::{Piece, Template, Verb};

/// A template whose clauses are all `%s`.
#[derive(Debug)]
pub(super) struct ConstantTemplate {
    /// The text of the template without its clauses.
    text: String,
    /// The positions of the clauses in `text`, in bytes.
    clauses: SmallVec<[usize; 4]>,
}

/// Reads a template; `None` if it is malformed or has other clauses than `%s`.
pub(super) fn read(template: &str) -> Option<Box<dyn Specialized>> {
    let mut text = String::with_capacity(template.len());
    let mut clauses = SmallVec::new();
    for piece in Template::new(template) {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Clause(Ok(clause)) if clause.verb == Verb::String => clauses.push(text.len()),
            Piece::Clause(_) => return None,
        }
    }
    Some(Box::new(ConstantTemplate { text, clauses }))
}

impl Specialized for ConstantTemplate {
    /// Computes a call whose values are texts.
    fn call<'a>(
        &self,
        context: &CallContext<'a>,
        values: &[Value<'a>],
    ) -> Option<Result<Value<'a>, EvalError>> {
        let [_, values] = values else {
            return None;
        };
        let values = values.as_list()?;
        let mut length = self.text.len();
        for index in 0..self.clauses.len() {
            length = length.saturating_add(values.get(index)?.as_str()?.len());
        }
        if let Err(error) = context.reserve(length) {
            return Some(Err(error));
        }
        let mut text = ArenaString::with_capacity_in(length, context.arena.bump());
        let mut from = 0_usize;
        for (index, clause) in self.clauses.iter().enumerate() {
            text.push_str(self.text.get(from..*clause)?);
            text.push_str(values.get(index)?.as_str()?);
            from = *clause;
        }
        text.push_str(self.text.get(from..)?);
        Some(Ok(Value::from(text.into_bump_str())))
    }
}
