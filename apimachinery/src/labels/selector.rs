//! Label selectors as they are written in objects.

use std::collections::BTreeMap;
use std::slice;

use gavel_golang::quote::quote;
use serde_json::Value as Json;

use crate::field::{self, Error, Path};
use crate::names;

crate::api_types! {
    /// A label selector as it is written in an object. It selects objects that satisfy all requirements; an empty selector selects
    /// everything.
    pub struct LabelSelector("v1.LabelSelector") {
        /// `matchLabels`: labels and their values.
        "matchLabels" omit "" match_labels: BTreeMap<String, String>;
        /// `matchExpressions`: requirements in addition to `matchLabels`.
        "matchExpressions" omit "" match_expressions: Vec<LabelSelectorRequirement>;
    }

    /// A requirement of a [`LabelSelector`].
    pub struct LabelSelectorRequirement("v1.LabelSelectorRequirement") {
        /// `key`: the label.
        "key" keep "" key: String;
        /// `operator`: `In`, `NotIn`, `Exists` or `DoesNotExist`. Before validation, it may be any text.
        "operator" keep "v1.LabelSelectorOperator" operator: String;
        /// `values`: the values with which `In` and `NotIn` compare the label.
        "values" omit "" values: Vec<String>;
    }
}

/// A compiled label selector.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Selector {
    requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Operator {
    Equals,
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl LabelSelector {
    /// Compiles the selector.
    ///
    /// # Errors
    ///
    /// A requirement is invalid. The message describes the first invalid requirement in upstream's words; labels are checked in the order
    /// of their keys.
    pub fn compile(&self) -> Result<Selector, String> {
        let mut requirements = Vec::new();
        for (key, value) in &self.match_labels {
            requirements.push(Requirement::new(
                key,
                Operator::Equals,
                slice::from_ref(value),
            )?);
        }
        for expression in &self.match_expressions {
            let operator = match expression.operator.as_str() {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                other => {
                    let text = quote(other);
                    return Err(format!("{text} is not a valid label selector operator"));
                }
            };
            requirements.push(Requirement::new(
                &expression.key,
                operator,
                &expression.values,
            )?);
        }
        Ok(Selector { requirements })
    }
}

impl Selector {
    /// Whether the selector selects everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether the selector matches an object; `label` returns the value of the object's label.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = label(&requirement.key);
            let listed =
                value.is_some_and(|value| requirement.values.iter().any(|other| other == value));
            match requirement.operator {
                Operator::Equals | Operator::In => listed,
                Operator::NotIn => !listed,
                Operator::Exists => value.is_some(),
                Operator::DoesNotExist => value.is_none(),
            }
        })
    }
}

impl Requirement {
    fn new(key: &str, operator: Operator, values: &[String]) -> Result<Self, String> {
        let mut errors = Vec::new();
        let path = Path::new("values");
        let faults = names::qualified_name(key);
        if !faults.is_empty() {
            errors.push(Error::invalid(&Path::new("key"), key, faults.join("; ")));
        }
        let detail = match operator {
            Operator::In | Operator::NotIn if values.is_empty() => {
                Some("for 'in', 'notin' operators, values set can't be empty")
            }
            Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
                Some("values set must be empty for exists and does not exist")
            }
            _ => None,
        };
        if let Some(detail) = detail {
            // In Go, an empty list is nil, which is printed as `null`.
            let shown = match values {
                [] => Json::Null,
                values => Json::from(values),
            };
            errors.push(Error::invalid(&path, shown, detail));
        }
        for (n, value) in values.iter().enumerate() {
            let faults = names::label_value(value);
            if !faults.is_empty() {
                let element = path.index(n);
                errors.push(Error::invalid(
                    &element.key(key),
                    value.as_str(),
                    faults.join("; "),
                ));
            }
        }
        match field::aggregate(&errors) {
            Some(error) => Err(error),
            None => Ok(Requirement {
                key: key.to_owned(),
                operator,
                values: values.to_vec(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serializer::decode;

    fn compiled(selector: serde_json::Value) -> Result<Selector, String> {
        decode::<LabelSelector>(&selector.to_string(), "v1")
            .unwrap()
            .object
            .compile()
    }

    #[test]
    fn all_requirements_must_hold() {
        let check = |selector: serde_json::Value, expected: bool| {
            let labels = BTreeMap::from([("a", "1"), ("b", "2")]);
            let matches = compiled(selector.clone())
                .unwrap()
                .matches(|key| labels.get(key).copied());
            assert_eq!(matches, expected, "{selector}");
        };
        let expression = |key: &str, operator: &str, values: &[&str]| serde_json::json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
        check(serde_json::json!({}), true);
        check(
            serde_json::json!({"matchLabels": {"a": "1", "b": "2"}}),
            true,
        );
        check(
            serde_json::json!({"matchLabels": {"a": "1", "b": "3"}}),
            false,
        );
        check(expression("a", "In", &["2", "1"]), true);
        check(expression("c", "In", &["1"]), false);
        check(expression("a", "NotIn", &["1"]), false);
        check(expression("c", "NotIn", &["1"]), true);
        check(expression("c", "Exists", &[]), false);
        check(expression("c", "DoesNotExist", &[]), true);
    }

    #[test]
    fn errors_name_the_fault() {
        let expression = |key: &str, operator: &str, values: &[&str]| {
            compiled(serde_json::json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]})).unwrap_err()
        };
        assert_eq!(
            expression("a", "in", &["b"]),
            "\"in\" is not a valid label selector operator"
        );
        let detail =
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty";
        assert_eq!(expression("a", "In", &[]), detail);
        assert!(
            expression("", "In", &["b c"])
                .starts_with("[key: Invalid value: \"\": name part must be non-empty; ")
        );
    }
}
