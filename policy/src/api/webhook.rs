//! The API types of webhook configurations.

use gavel_apimachinery::api_types;
use gavel_apimachinery::labels::LabelSelector;
use gavel_apimachinery::serializer::Bytes;

use super::{MatchCondition, ObjectMeta, RuleWithOperations, TypeMeta};

api_types! {
    /// A ValidatingWebhookConfiguration.
    pub struct ValidatingWebhookConfiguration(".ValidatingWebhookConfiguration") {
        /// The object's version and kind.
        "TypeMeta" embed "" type_meta: TypeMeta;
        /// `metadata`
        "metadata" keep "" metadata: ObjectMeta;
        /// `webhooks`
        "webhooks" omit "" webhooks: Vec<ValidatingWebhook>;
    }

    /// A MutatingWebhookConfiguration.
    pub struct MutatingWebhookConfiguration(".MutatingWebhookConfiguration") {
        /// The object's version and kind.
        "TypeMeta" embed "" type_meta: TypeMeta;
        /// `metadata`
        "metadata" keep "" metadata: ObjectMeta;
        /// `webhooks`
        "webhooks" omit "" webhooks: Vec<MutatingWebhook>;
    }

    /// How a webhook is called: at a URL or as a service.
    pub struct WebhookClientConfig(".WebhookClientConfig") {
        /// `url`
        "url" omit "" url: Option<String>;
        /// `service`
        "service" omit "" service: Option<ServiceReference>;
        /// `caBundle`: the PEM certificates of the authorities that may sign the webhook's certificate.
        "caBundle" omit "" ca_bundle: Bytes;
    }

    /// A service of the cluster.
    pub struct ServiceReference(".ServiceReference") {
        /// `namespace`
        "namespace" keep "" namespace: String;
        /// `name`
        "name" keep "" name: String;
        /// `path`
        "path" omit "" path: Option<String>;
        /// `port`
        "port" omit "" port: Option<i32>;
    }
}

/// Declares a webhook type. `$more` are the fields that only this type has; they precede `matchConditions`.
macro_rules! webhook {
    ($(#[$doc:meta])* $name:ident($go:literal) { $($more:tt)* }) => {
        api_types! {
            $(#[$doc])*
            pub struct $name($go) {
                /// `name`
                "name" keep "" name: String;
                /// `clientConfig`: how the webhook is called.
                "clientConfig" keep "" client_config: WebhookClientConfig;
                /// `rules`: the operations and resources that the webhook matches. At least one rule must match.
                "rules" omit "" rules: Vec<RuleWithOperations>;
                /// `failurePolicy`: what happens if a call of the webhook fails, `Fail` or `Ignore`.
                "failurePolicy" omit ".FailurePolicyType" failure_policy: Option<String>;
                /// `matchPolicy`: `Exact` or `Equivalent`.
                "matchPolicy" omit ".MatchPolicyType" match_policy: Option<String>;
                /// `namespaceSelector`: selects requests by the labels of their namespace.
                "namespaceSelector" omit "" namespace_selector: Option<LabelSelector>;
                /// `objectSelector`: selects requests by the labels of the object or the old object.
                "objectSelector" omit "" object_selector: Option<LabelSelector>;
                /// `sideEffects`: `None` or `NoneOnDryRun`; formerly also `Some` and `Unknown`.
                "sideEffects" keep ".SideEffectClass" side_effects: Option<String>;
                /// `timeoutSeconds`: the time limit of a call, in seconds.
                "timeoutSeconds" omit "" timeout_seconds: Option<i32>;
                /// `admissionReviewVersions`: the versions of AdmissionReview that the webhook understands.
                "admissionReviewVersions" keep "" admission_review_versions: Option<Vec<String>>;
                $($more)*
                /// `matchConditions`
                "matchConditions" omit_list "" match_conditions: Option<Vec<MatchCondition>>;
            }
        }
    };
}

webhook! {
    /// A webhook that allows or denies.
    ValidatingWebhook(".ValidatingWebhook") {}
}

webhook! {
    /// A webhook that changes objects.
    MutatingWebhook(".MutatingWebhook") {
        /// `reinvocationPolicy`: `Never` or `IfNeeded`.
        "reinvocationPolicy" omit "v1.ReinvocationPolicyType" reinvocation_policy: Option<String>;
    }
}
