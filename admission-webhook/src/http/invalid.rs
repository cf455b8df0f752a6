//! The answer about an invalid custom resource.

use gavel_apimachinery::status::{Status, StatusCause, StatusDetails};
use gavel_apimachinery::{field, json};
use gavel_policy::{AdmissionRequest, AdmissionResponse};
use gavel_state::Findings;

/// The maximum length of all errors, and of all warnings, in an answer, in bytes. The first error and the first warning are always written.
const MAX_BYTES: usize = 1 << 20;

/// The response that rejects an invalid custom resource, in the words of the API server itself. Errors and warnings beyond [`MAX_BYTES`]
/// are only counted.
pub(super) fn invalid(request: &AdmissionRequest<'_>, mut found: Findings) -> AdmissionResponse {
    let more_errors = cut(&mut found.errors, |error| error.to_string().len());
    let more_warnings = cut(&mut found.warnings, String::len);
    found.warnings.extend(left_out(more_warnings, "warnings"));
    let details = |causes: Vec<StatusCause>| {
        let group = request.resource.group.as_str();
        let kind = found.kind.strip_suffix(group).unwrap_or_default();
        StatusDetails {
            name: request.name.to_owned(),
            group: group.to_owned(),
            kind: kind.trim_end_matches('.').to_owned(),
            causes,
            ..StatusDetails::default()
        }
    };
    let status = match (found.unreadable.take(), field::aggregate(&found.errors)) {
        (Some(status), _) => Some(*status),
        (None, Some(errors)) => {
            let causes = found.errors.iter().map(|error| StatusCause {
                reason: error.kind.reason(),
                message: error.body(),
                field: error.field.clone(),
            });
            let name = json::quoted(request.name);
            let more = left_out(more_errors, "errors")
                .map_or_else(String::new, |more| format!("; {more}"));
            let message = format!("{} {name} is invalid: {errors}{more}", found.kind);
            Some(Status {
                details: details(causes.collect()),
                ..Status::failure(422, "Invalid", message)
            })
        }
        (None, None) => None,
    };
    AdmissionResponse {
        warnings: found.warnings,
        ..AdmissionResponse::of(status)
    }
}

/// Removes the texts beyond [`MAX_BYTES`], and returns their number.
fn cut<T>(texts: &mut Vec<T>, length: impl Fn(&T) -> usize) -> usize {
    let (count, mut written) = (texts.len(), 0_usize);
    let fits = |text: &&T| {
        written = written.saturating_add(length(text));
        written <= MAX_BYTES
    };
    let fitting = texts.iter().take_while(fits).count();
    texts.truncate(fitting.max(1));
    count.saturating_sub(texts.len())
}

/// The note about texts that were removed; `None` if none was.
fn left_out(count: usize, what: &str) -> Option<String> {
    (count > 0).then(|| format!("{count} more {what} are left out"))
}

#[cfg(test)]
mod tests {
    use gavel_engine::value::Arena;

    use super::*;
    use crate::http::review::Review;

    #[test]
    fn texts_beyond_the_limit_are_counted() {
        let check = |lengths: &[usize], kept: usize, more: usize| {
            let mut texts: Vec<String> = lengths.iter().map(|length| "x".repeat(*length)).collect();
            assert_eq!(cut(&mut texts, String::len), more);
            assert_eq!(texts.len(), kept);
        };
        check(&[], 0, 0);
        check(&[1, MAX_BYTES - 1], 2, 0);
        check(&[1, MAX_BYTES, 1], 1, 2);
        check(&[MAX_BYTES + 1, 1], 1, 1);
    }

    #[test]
    fn answers_say_how_many_errors_and_warnings_are_left_out() {
        let review = serde_json::json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {
                "uid": "1", "name": "x", "operation": "CREATE", "object": {},
                "kind": {"group": "example.com", "version": "v1", "kind": "Thing"},
                "resource": {"group": "example.com", "version": "v1", "resource": "things"},
            },
        });
        let (body, arena) = (review.to_string().into_bytes(), Arena::default());
        let review = Review::decode(&body, &arena).unwrap();
        let text = "x".repeat(MAX_BYTES / 2);
        let response = |count: usize| {
            let errors = vec![field::Error::required(&field::Path::new("a"), &text); count];
            let found = Findings {
                kind: "Thing.example.com".to_owned(),
                errors,
                warnings: vec![text.clone(); count],
                ..Findings::default()
            };
            invalid(review.request(), found)
        };
        let all = response(1).status.unwrap();
        let expected = format!("Thing.example.com \"x\" is invalid: a: Required value: {text}");
        assert!(all.message == expected);
        let some = response(4);
        let status = some.status.unwrap();
        assert!(status.message == format!("{expected}; 3 more errors are left out"));
        assert_eq!(status.details.causes.len(), 1);
        assert_eq!(some.warnings.len(), 3);
        assert_eq!(
            some.warnings.last().unwrap(),
            "2 more warnings are left out"
        );
    }
}
