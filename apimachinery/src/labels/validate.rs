//! The validation of label selectors (apimachinery `pkg/apis/meta/v1/validation`).

use super::{LabelSelector, LabelSelectorRequirement};
use crate::field::{Error, Errors, Path};
use crate::meta::validate_labels;
use crate::names;

impl LabelSelector {
    /// Validates the selector and appends its errors. With `lenient`, the values of requirements need not be valid label values.
    pub fn validate(&self, errors: &mut Errors, lenient: bool, path: &Path<'_>) {
        let labels = self.match_labels.iter();
        let labels = labels.map(|(key, value)| (key.as_str(), value.as_str()));
        validate_labels(errors, labels, &path.child("matchLabels"));
        let path = path.child("matchExpressions");
        for (n, requirement) in self.match_expressions.iter().enumerate() {
            requirement.validate(errors, lenient, &path.index(n));
        }
    }
}

impl LabelSelectorRequirement {
    fn validate(&self, errors: &mut Errors, lenient: bool, path: &Path<'_>) {
        let values = path.child("values");
        match self.operator.as_str() {
            "In" | "NotIn" if self.values.is_empty() => errors.push(Error::required(
                &values,
                "must be specified when `operator` is 'In' or 'NotIn'",
            )),
            "Exists" | "DoesNotExist" if !self.values.is_empty() => errors.push(Error::forbidden(
                &values,
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            )),
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => {
                let detail = "not a valid selector operator";
                errors.push(Error::invalid(&path.child("operator"), other, detail));
            }
        }
        for fault in names::qualified_name(&self.key) {
            errors.push(Error::invalid(&path.child("key"), &self.key, fault));
        }
        if lenient {
            return;
        }
        for (n, value) in self.values.iter().enumerate() {
            for fault in names::label_value(value) {
                errors.push(Error::invalid(&values.index(n), value, fault));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serializer::decode;

    #[test]
    fn selectors_are_checked() {
        let check = |selector: serde_json::Value, lenient: bool, expected: &[&str]| {
            let selector = decode::<LabelSelector>(&selector.to_string(), "v1")
                .unwrap()
                .object;
            let mut errors = Errors::default();
            selector.validate(&mut errors, lenient, &Path::new("s"));
            let errors = errors.into_vec();
            let fields: Vec<_> = errors.iter().map(|error| error.field.as_str()).collect();
            assert_eq!(fields, expected);
        };
        let expression = |operator: &str, values: &[&str]| serde_json::json!({"matchExpressions": [{"key": "a b", "operator": operator, "values": values}]});
        let key = "s.matchExpressions[0].key";
        check(
            serde_json::json!({"matchLabels": {"a b": "c d"}}),
            true,
            &["s.matchLabels", "s.matchLabels"],
        );
        check(
            expression("In", &[]),
            false,
            &["s.matchExpressions[0].values", key],
        );
        check(
            expression("Exists", &["a"]),
            false,
            &["s.matchExpressions[0].values", key],
        );
        check(
            expression("", &["a", "b c"]),
            false,
            &[
                "s.matchExpressions[0].operator",
                key,
                "s.matchExpressions[0].values[1]",
            ],
        );
        check(expression("In", &["a", "b c"]), true, &[key]);
    }
}
