//! Whether literals that are used as regular expressions are such.

use super::{literal_arguments, report};
use crate::ast::Constant;
use crate::check::CheckedAst;
use crate::issues::Issues;
use gavel_golang::regex::Regex;

/// Reports the literals that are no regular expressions where they are the first argument of `matches`. In a global call
/// `matches(text, pattern)` that is the text, as upstream has it.
pub fn regex_literals(checked: &CheckedAst, issues: &mut Issues) {
    for (_, id, literal) in literal_arguments(checked, "matches") {
        if let Constant::String(pattern) = literal
            && Regex::validate(pattern).is_err()
        {
            report(checked, issues, id, "invalid matches argument".to_owned());
        }
    }
}
