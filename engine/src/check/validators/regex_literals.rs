//! The validator of regular expressions that are literals.

use super::validate;
use crate::ast::Constant;
use crate::check::CheckedAst;
use crate::decl::LiteralRule;
use crate::issues::Issues;
use gavel_golang::regex::Regex;

/// Reports invalid regular expressions among the literals that are the first argument of `matches`. In a global call
/// `matches(text, pattern)`, the first argument is the text. Like upstream, the validator then checks the text.
///
/// `checked` keeps the parsed expressions, so that planning does not parse them again.
pub fn regex_literals(checked: &CheckedAst, issues: &mut Issues) {
    let mut patterns = Vec::new();
    validate(
        checked,
        issues,
        LiteralRule::Pattern,
        |argument| match argument.literal {
            Constant::String(pattern) => match Regex::deferred(pattern) {
                Ok(regex) => {
                    patterns.push((argument.id, regex));
                    true
                }
                Err(_) => false,
            },
            _ => true,
        },
    );
    if !patterns.is_empty() {
        checked.patterns.get_or_init(|| patterns);
    }
}
