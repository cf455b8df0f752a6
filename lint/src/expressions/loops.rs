//! Loops within loops over the same list.

use gavel_manifest::Problem;

use super::Subject;
use super::path::{Aliases, Reads};
use crate::kinds::is_definition;
use crate::rules::QUADRATIC_LOOP;

pub(super) fn check(subject: &Subject<'_>, problems: &mut Vec<Problem>) {
    let reads = Reads::of(subject.checked, &Aliases::new());
    if let Some((inner, list)) = reads.nested.first() {
        let message = format!(
            "loops over `{}` within a loop over it: the cost grows with the square of its size",
            super::optional::shown(list)
        );
        let found = subject.problem(&QUADRATIC_LOOP, *inner, message);
        // Only the author of a definition can change the schema.
        problems.push(match is_definition(subject.document) {
            true => found.with_help(
                "for unique elements, set x-kubernetes-list-type to set, or to map with x-kubernetes-list-map-keys",
            ),
            false => found,
        });
    }
}
