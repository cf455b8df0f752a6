//! The validation of the fields that the scale subresource reads (apiextensions-apiserver
//! `pkg/registry/customresource/validator.go`).

use gavel_apimachinery::field::{Error, Path};
use gavel_engine::value::Json;

use super::accessor;
use crate::definition::Scale;

/// Appends the errors of the desired number of replicas.
pub(super) fn validate_spec(object: &Json, scale: &Scale, errors: &mut Vec<Error>) {
    validate_replicas(object, &scale.spec_replicas_path, errors);
}

/// Appends the errors of the current number of replicas and of the selector.
pub(super) fn validate_status(object: &Json, scale: &Scale, errors: &mut Vec<Error>) {
    validate_replicas(object, &scale.status_replicas_path, errors);
    if let Some(path) = &scale.label_selector_path
        && let Err(detail) = accessor::text(object, path)
    {
        errors.push(Error::invalid(&Path::new(path), "", detail));
    }
}

fn validate_replicas(object: &Json, path: &str, errors: &mut Vec<Error>) {
    let (value, detail) = match accessor::integer(object, path) {
        Err(detail) => (0, detail),
        Ok(Some(count)) if count < 0 => (count, "should be a non-negative integer".to_owned()),
        Ok(Some(count)) if count > i64::from(i32::MAX) => {
            let detail = format!("should be less than or equal to {}", i32::MAX);
            (count, detail)
        }
        Ok(_) => return,
    };
    errors.push(Error::invalid(&Path::new(path), value, detail));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn replicas_are_numbers_of_32_bits_and_selectors_texts() {
        let check = |object: Json, expected: &[&str]| {
            let scale = Scale {
                spec_replicas_path: ".spec.replicas".to_owned(),
                status_replicas_path: ".status.replicas".to_owned(),
                label_selector_path: Some(".status.selector".to_owned()),
            };
            let mut errors = Vec::new();
            validate_spec(&object, &scale, &mut errors);
            validate_status(&object, &scale, &mut errors);
            let found: Vec<_> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(found, expected);
        };
        check(json!({"spec": {"replicas": 1}, "status": null}), &[]);
        check(json!({}), &[]);
        check(
            json!({"spec": {"replicas": -1}, "status": {"replicas": 2_147_483_648_u32, "selector": 1}}),
            &[
                ".spec.replicas: Invalid value: -1: should be a non-negative integer",
                ".status.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647",
                r#".status.selector: Invalid value: "": .status.selector accessor error: 1 is of the type int64, expected string"#,
            ],
        );
        check(
            json!({"spec": {"replicas": 1.5}}),
            &[
                ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: 1.5 is of the type float64, expected int64",
            ],
        );
    }
}
