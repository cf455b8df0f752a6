//! What is wrong with the types of expressions.

use gavel_policy::cel::TypeFault;
use gavel_policy::typecheck::ExpressionFault;

use super::finding::{Check, Finding, Object};

/// One finding a problem, with all kinds for which it is one.
pub(super) fn findings<'f>(
    faults: impl Iterator<Item = &'f ExpressionFault>,
    object: &Object<'_>,
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for ExpressionFault { field, kind, fault } in faults {
        let found = match fault {
            TypeFault::Internal(error) => vec![object.finding(Check::Types, field, error.clone())],
            TypeFault::Issues(issues) => issues
                .sorted()
                .into_iter()
                .map(|issue| {
                    let finding = object.finding(Check::Types, field, issue.message.clone());
                    let line = u32::try_from(issue.location.line);
                    let column = u32::try_from(issue.location.column.saturating_add(1));
                    match (line, column) {
                        (Ok(line), Ok(column)) => Finding {
                            place: object.document.place_within(field, line, column),
                            ..finding
                        },
                        _ => finding,
                    }
                })
                .collect(),
        };
        for mut finding in found {
            let same = findings.iter_mut().find(|known| {
                (&known.field, known.place, &known.message)
                    == (&finding.field, finding.place, &finding.message)
            });
            match same {
                Some(known) => known.kinds.push(kind.clone()),
                None => {
                    finding.kinds.push(kind.clone());
                    findings.push(finding);
                }
            }
        }
    }
    findings
}
