//! The API types of match constraints: which requests a policy, a binding or a webhook matches.

use gavel_apimachinery::api_types;
use gavel_apimachinery::labels::LabelSelector;

api_types! {
    /// The requests that a policy or a binding matches.
    pub struct MatchResources(".MatchResources") {
        /// `namespaceSelector`: selects requests by the labels of their namespace.
        "namespaceSelector" omit "" namespace_selector: Option<LabelSelector>;
        /// `objectSelector`: selects requests by the labels of the object or the old object.
        "objectSelector" omit "" object_selector: Option<LabelSelector>;
        /// `resourceRules`: at least one rule must match. Without rules, every request matches.
        "resourceRules" omit "" resource_rules: Vec<NamedRuleWithOperations>;
        /// `excludeResourceRules`: requests that match one of these rules are excluded.
        "excludeResourceRules" omit "" exclude_resource_rules: Vec<NamedRuleWithOperations>;
        /// `matchPolicy`: `Exact` or `Equivalent`.
        "matchPolicy" omit ".MatchPolicyType" match_policy: Option<String>;
    }

    /// A rule that may be restricted to named objects.
    pub struct NamedRuleWithOperations(".NamedRuleWithOperations") {
        /// `resourceNames`: the names; empty matches all names.
        "resourceNames" omit "" resource_names: Vec<String>;
        /// The rule, in the same JSON object.
        "RuleWithOperations" embed "" rule: RuleWithOperations;
    }

    /// The operations and resources that a policy or webhook matches.
    pub struct RuleWithOperations("v1.RuleWithOperations") {
        /// `operations`: `CREATE`, `UPDATE`, `DELETE`, `CONNECT` or `*`.
        "operations" omit "v1.OperationType" operations: Vec<String>;
        /// `apiGroups`: groups, or `*`.
        "apiGroups" omit "" api_groups: Vec<String>, of "Rule";
        /// `apiVersions`: versions, or `*`.
        "apiVersions" omit "" api_versions: Vec<String>, of "Rule";
        /// `resources`: resources (`pods`), subresources (`pods/status`), `*`, `*/*`, `pods/*`, `*/scale`.
        "resources" omit "" resources: Vec<String>, of "Rule";
        /// `scope`: `Cluster`, `Namespaced` or `*`.
        "scope" omit "v1.ScopeType" scope: Option<String>, of "Rule";
    }

    /// An expression that must be true for a policy or webhook to apply.
    pub struct MatchCondition(".MatchCondition") {
        /// `name`
        "name" keep "" name: String;
        /// `expression`
        "expression" keep "" expression: String;
    }
}
