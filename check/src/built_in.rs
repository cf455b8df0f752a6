//! Checks objects of Kubernetes' own kinds.

use gavel_libraries::Server;
use gavel_lint::Linter;
use gavel_manifest::Document;
use gavel_manifest::problem::rule;

use crate::custom::Checked;

/// Checks that an API server can decode an object of a built-in kind. Objects of other kinds have no problems. A field that the kind does
/// not have is only a warning, because a Kubernetes version that is newer than `server` may have the field.
pub fn check(document: &Document, server: Server, checked: &mut Checked) {
    for problem in Linter::decoding_problems(document, server) {
        match problem.rule {
            rule::UNKNOWN_FIELD => checked.warnings.push(problem.as_warning()),
            _ => checked.problems.push(problem),
        }
    }
}
