//! The problems of a single expression that compiles.

use gavel_engine::ast::Expr;
use gavel_engine::check::CheckedAst;
use gavel_engine::env::Env;
use gavel_manifest::{Document, Problem, Range};

use crate::kinds::pointer;
use crate::rules::{OPTIONAL_FIELD, Rule};

mod constants;
mod loops;
mod optional;
pub(crate) mod path;
mod regexes;
mod same;

pub(crate) use optional::{optional_fields, shown};
pub(crate) use same::{Distinct, is_same};

/// An expression of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'s> {
    pub(crate) document: &'s Document,
    /// The path of the expression in the document.
    pub(crate) field: &'s str,
    pub(crate) checked: &'s CheckedAst,
    /// Whether the expression decides something: it is a rule, a validation or a condition.
    pub(crate) decides: bool,
}

impl Subject<'_> {
    /// A problem with a part of the expression.
    pub(crate) fn problem(&self, rule: &Rule, at: Expr<'_>, message: impl Into<String>) -> Problem {
        let problem = problem(self.document, rule, self.field, message);
        let ast = self.checked.ast();
        let location = ast.source().location(ast.offset(at.id));
        match location.position() {
            Some((line, column)) => {
                let place = self.document.place_within(self.field, line, column);
                problem.at(Range::from(place))
            }
            None => problem,
        }
    }

    /// The problem of a read of an optional field.
    pub(crate) fn optional(&self, read: Expr<'_>, path: &path::FieldPath) -> Problem {
        let path = shown(path);
        let message = format!("`{path}` is optional and may be absent");
        let found = self.problem(&OPTIONAL_FIELD, read, message);
        found.with_help(format!("test with `has({path})` first"))
    }

    /// Reports the problems that follow from the expression alone. `env` has the functions of the expression.
    pub(crate) fn check(&self, env: &Env, problems: &mut Vec<Problem>) {
        constants::check(self, problems);
        constants::check_calls(self, env, problems);
        loops::check(self, problems);
        regexes::check(self, problems);
    }
}

/// Suggests removing an item of a list, to fix a problem.
pub(crate) fn without_item(found: Problem, document: &Document, item: &str) -> Problem {
    match document.without_item(item) {
        Some(suggestion) => found.with_suggestion(suggestion),
        None => found,
    }
}

/// Suggests removing one of two items with the same expression, if the items are equal in all other fields too.
pub(crate) fn without_copy(
    found: Problem,
    document: &Document,
    [known, copy]: [&str; 2],
) -> Problem {
    let item = |field: &str| field.rsplit_once('.').map(|(item, _)| item.to_owned());
    let (Some(known), Some(copy)) = (item(known), item(copy)) else {
        return found;
    };
    let value = |item: &str| document.value().pointer(&pointer(item));
    match value(&known).is_some_and(|known| Some(known) == value(&copy)) {
        true => without_item(found, document, &copy),
        false => found,
    }
}

/// A problem with a field, with the severity of the rule.
pub(crate) fn problem(
    document: &Document,
    rule: &Rule,
    field: &str,
    message: impl Into<String>,
) -> Problem {
    document
        .problem(rule.id, field, message)
        .with_severity(rule.severity)
}
