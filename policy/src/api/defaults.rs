//! The defaults that the API server sets (kubernetes `pkg/apis/admissionregistration/{v1,v1beta1,v1alpha1}/defaults.go`).

use gavel_apimachinery::labels::LabelSelector;

use super::{
    MatchResources, MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding,
    MutatingWebhookConfiguration, NamedRuleWithOperations, ObjectMeta, ParamRef, Registration,
    RuleWithOperations, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
    ValidatingWebhookConfiguration, Version, WebhookClientConfig,
};

macro_rules! registration {
    ($ty:ident, |$object:ident, $version:ident| $defaults:block) => {
        impl Registration for $ty {
            const KIND: &'static str = stringify!($ty);

            fn metadata(&self) -> &ObjectMeta {
                &self.metadata
            }

            fn set_defaults(&mut self, $version: Version) {
                let $object = self;
                $defaults
            }
        }
    };
}

registration!(ValidatingAdmissionPolicy, |object, _version| {
    or_set(&mut object.spec.failure_policy, "Fail");
    set_match_defaults(&mut object.spec.match_constraints);
});

registration!(MutatingAdmissionPolicy, |object, _version| {
    or_set(&mut object.spec.failure_policy, "Fail");
    set_match_defaults(&mut object.spec.match_constraints);
});

registration!(ValidatingAdmissionPolicyBinding, |object, version| {
    set_param_defaults(&mut object.spec.param_ref, version);
    set_match_defaults(&mut object.spec.match_resources);
});

registration!(MutatingAdmissionPolicyBinding, |object, version| {
    set_param_defaults(&mut object.spec.param_ref, version);
    set_match_defaults(&mut object.spec.match_resources);
});

/// The defaults that both kinds of webhooks share.
macro_rules! set_webhook_defaults {
    ($webhook:ident, $version:ident) => {
        let is_beta = $version == Version::V1Beta1;
        or_set(
            &mut $webhook.failure_policy,
            if is_beta { "Ignore" } else { "Fail" },
        );
        or_set(
            &mut $webhook.match_policy,
            if is_beta { "Exact" } else { "Equivalent" },
        );
        set_selector_defaults(
            &mut $webhook.namespace_selector,
            &mut $webhook.object_selector,
        );
        $webhook
            .timeout_seconds
            .get_or_insert(if is_beta { 30 } else { 10 });
        if is_beta {
            or_set(&mut $webhook.side_effects, "Unknown");
            let versions = $webhook.admission_review_versions.get_or_insert_default();
            if versions.is_empty() {
                versions.push("v1beta1".to_owned());
            }
        }
        $webhook.rules.iter_mut().for_each(set_rule_defaults);
        set_client_defaults(&mut $webhook.client_config);
    };
}

registration!(ValidatingWebhookConfiguration, |object, version| {
    for webhook in &mut object.webhooks {
        set_webhook_defaults!(webhook, version);
    }
});

registration!(MutatingWebhookConfiguration, |object, version| {
    for webhook in &mut object.webhooks {
        set_webhook_defaults!(webhook, version);
        or_set(&mut webhook.reinvocation_policy, "Never");
    }
});

fn set_match_defaults(resources: &mut Option<MatchResources>) {
    let Some(resources) = resources else {
        return;
    };
    or_set(&mut resources.match_policy, "Equivalent");
    set_selector_defaults(
        &mut resources.namespace_selector,
        &mut resources.object_selector,
    );
    let rules = resources.resource_rules.iter_mut();
    for NamedRuleWithOperations { rule, .. } in rules.chain(&mut resources.exclude_resource_rules) {
        set_rule_defaults(rule);
    }
}

fn set_selector_defaults(
    namespace: &mut Option<LabelSelector>,
    object: &mut Option<LabelSelector>,
) {
    namespace.get_or_insert_default();
    object.get_or_insert_default();
}

fn set_rule_defaults(rule: &mut RuleWithOperations) {
    or_set(&mut rule.scope, "*");
}

fn set_client_defaults(client: &mut WebhookClientConfig) {
    if let Some(service) = &mut client.service {
        service.port.get_or_insert(443);
    }
}

fn set_param_defaults(param: &mut Option<ParamRef>, version: Version) {
    if let Some(param) = param.as_mut().filter(|_| version == Version::V1Alpha1) {
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
    fn absent_fields_are_defaulted() {
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
