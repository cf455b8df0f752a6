//! The validator of literals that are used as regular expressions.

use super::validate;
use crate::ast::Constant;
use crate::check::CheckedAst;
use crate::decl::LiteralRule;
use crate::issues::Issues;
use gavel_golang::regex::Regex;

/// Reports literals that are the first argument of `matches` and not valid regular expressions. In a global call `matches(text, pattern)`,
/// the first argument is the text; like upstream, the validator then checks the text.
pub fn regex_literals(checked: &CheckedAst, issues: &mut Issues) {
    validate(
        checked,
        issues,
        LiteralRule::Pattern,
        |argument| match argument.literal {
            Constant::String(pattern) => Regex::validate(pattern).is_ok(),
            _ => true,
        },
    );
}
