//! What is wrong with the types of expressions.

use gavel_manifest::{Problem, Range};
use gavel_policy::cel::TypeFault;
use gavel_policy::typecheck::ExpressionFault;

use super::finding::{Object, TYPES, kind_name};

/// One problem each, with all kinds for which it is one.
pub(super) fn findings<'f>(
    faults: impl Iterator<Item = &'f ExpressionFault>,
    object: &Object<'_>,
) -> Vec<Problem> {
    let document = object.document;
    let mut findings: Vec<Problem> = Vec::new();
    for ExpressionFault { field, kind, fault } in faults {
        let found = match fault {
            TypeFault::Internal(error) => vec![document.problem(TYPES, field, error.as_str())],
            TypeFault::Issues(issues) => issues
                .sorted()
                .into_iter()
                .map(|issue| {
                    let problem = document.problem(TYPES, field, issue.message.as_str());
                    let place = issue.location.position();
                    let place =
                        place.map(|(line, column)| document.place_within(field, line, column));
                    Problem {
                        range: place.map(Range::from).or(problem.range),
                        ..problem
                    }
                })
                .collect(),
        };
        for mut problem in found {
            let same = findings.iter_mut().find(|known| {
                (&known.field, known.range, &known.message)
                    == (&problem.field, problem.range, &problem.message)
            });
            match same {
                Some(known) => known.kinds.push(kind_name(kind)),
                None => {
                    problem.kinds.push(kind_name(kind));
                    findings.push(problem);
                }
            }
        }
    }
    findings
}
