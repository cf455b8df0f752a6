//! What the API server fills in (kubernetes `pkg/apis/admissionregistration/{v1,v1beta1,v1alpha1}/defaults.go`).

use gavel_engine::value::Json;
use serde::de::DeserializeOwned;

use super::{
    MatchResources, MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding,
    NamedRuleWithOperations, ParamRef, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};

/// An object that registers something with admission.
pub trait Registration: DeserializeOwned {
    /// Fills in what is absent, as the version of the API (`v1`) does.
    fn set_defaults(&mut self, version: &str);

    /// Reads an object and fills in what is absent, as the version of the API that it names does.
    ///
    /// # Errors
    ///
    /// A field that is of another type.
    fn from_json(object: &Json) -> Result<Self, String> {
        let version = object
            .get("apiVersion")
            .and_then(Json::as_str)
            .unwrap_or_default();
        let mut read: Self = Self::deserialize(object).map_err(|error| error.to_string())?;
        read.set_defaults(version.rsplit('/').next().unwrap_or_default());
        Ok(read)
    }
}

impl Registration for ValidatingAdmissionPolicy {
    fn set_defaults(&mut self, _: &str) {
        or_set(&mut self.spec.failure_policy, "Fail");
        set_match_defaults(&mut self.spec.match_constraints);
    }
}

impl Registration for MutatingAdmissionPolicy {
    fn set_defaults(&mut self, _: &str) {
        or_set(&mut self.spec.failure_policy, "Fail");
        set_match_defaults(&mut self.spec.match_constraints);
    }
}

impl Registration for ValidatingAdmissionPolicyBinding {
    fn set_defaults(&mut self, version: &str) {
        set_param_defaults(&mut self.spec.param_ref, version);
        set_match_defaults(&mut self.spec.match_resources);
    }
}

impl Registration for MutatingAdmissionPolicyBinding {
    fn set_defaults(&mut self, version: &str) {
        set_param_defaults(&mut self.spec.param_ref, version);
        set_match_defaults(&mut self.spec.match_resources);
    }
}

fn set_match_defaults(resources: &mut Option<MatchResources>) {
    let Some(resources) = resources else {
        return;
    };
    or_set(&mut resources.match_policy, "Equivalent");
    resources.namespace_selector.get_or_insert_default();
    resources.object_selector.get_or_insert_default();
    let rules = resources.resource_rules.iter_mut();
    for NamedRuleWithOperations { rule, .. } in rules.chain(&mut resources.exclude_resource_rules) {
        or_set(&mut rule.scope, "*");
    }
}

fn set_param_defaults(param: &mut Option<ParamRef>, version: &str) {
    if let Some(param) = param.as_mut().filter(|_| version == "v1alpha1") {
        or_set(&mut param.parameter_not_found_action, "Deny");
    }
}

fn or_set(field: &mut Option<String>, value: &str) {
    field.get_or_insert_with(|| value.to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_is_filled_in() {
        let policy = ValidatingAdmissionPolicy::from_json(&serde_json::json!({
            "spec": {"matchConstraints": {"resourceRules": [{"operations": ["CREATE"], "resourceNames": ["x"], "scope": null}]}}
        }));
        let spec = policy.unwrap().spec;
        assert_eq!(spec.failure_policy.as_deref(), Some("Fail"));
        let constraints = spec.match_constraints.unwrap();
        assert_eq!(constraints.match_policy.as_deref(), Some("Equivalent"));
        let NamedRuleWithOperations {
            resource_names,
            rule,
        } = &constraints.resource_rules[0];
        assert_eq!(resource_names, &["x"]);
        assert_eq!(rule.operations, ["CREATE"]);
        assert_eq!(rule.scope.as_deref(), Some("*"));
    }

    #[test]
    fn only_v1alpha1_denies_without_params() {
        let check = |version: &str, expected: Option<&str>| {
            let object =
                serde_json::json!({"apiVersion": version, "spec": {"paramRef": {"name": "x"}}});
            let binding = ValidatingAdmissionPolicyBinding::from_json(&object).unwrap();
            let action = binding.spec.param_ref.unwrap().parameter_not_found_action;
            assert_eq!(action.as_deref(), expected, "{version}");
        };
        check("admissionregistration.k8s.io/v1alpha1", Some("Deny"));
        check("admissionregistration.k8s.io/v1beta1", None);
        check("admissionregistration.k8s.io/v1", None);
    }
}
