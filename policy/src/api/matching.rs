//! What a policy, a binding or a webhook looks at.

use gavel_apimachinery::labels::LabelSelector;
use serde::Deserialize;

use super::or_default;

/// The requests that a policy or a binding looks at.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MatchResources {
    /// `namespaceSelector`: of the request's namespace
    pub namespace_selector: Option<LabelSelector>,
    /// `objectSelector`: of the object or the old object
    pub object_selector: Option<LabelSelector>,
    /// `resourceRules`: one of which must match; where there are none, all do
    #[serde(deserialize_with = "or_default")]
    pub resource_rules: Vec<NamedRuleWithOperations>,
    /// `excludeResourceRules`: none of which may match
    #[serde(deserialize_with = "or_default")]
    pub exclude_resource_rules: Vec<NamedRuleWithOperations>,
    /// `matchPolicy`: `Exact` or `Equivalent`
    pub match_policy: Option<String>,
}

/// A rule that may be about named objects only.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct NamedRuleWithOperations {
    /// `resourceNames`: the names; all where there are none
    #[serde(deserialize_with = "or_default")]
    pub resource_names: Vec<String>,
    /// The rule, in the same JSON object.
    #[serde(flatten)]
    pub rule: RuleWithOperations,
}

/// Operations on resources.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RuleWithOperations {
    /// `operations`: `CREATE`, `UPDATE`, `DELETE`, `CONNECT` or `*`
    #[serde(deserialize_with = "or_default")]
    pub operations: Vec<String>,
    /// `apiGroups`: groups, or `*`
    #[serde(deserialize_with = "or_default")]
    pub api_groups: Vec<String>,
    /// `apiVersions`: versions, or `*`
    #[serde(deserialize_with = "or_default")]
    pub api_versions: Vec<String>,
    /// `resources`: resources (`pods`), subresources (`pods/status`), `*`, `*/*`, `pods/*`, `*/scale`
    #[serde(deserialize_with = "or_default")]
    pub resources: Vec<String>,
    /// `scope`: `Cluster`, `Namespaced` or `*`
    pub scope: Option<String>,
}

/// A condition that must hold for a policy or webhook to be asked.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct MatchCondition {
    /// `name`
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    /// `expression`
    #[serde(deserialize_with = "or_default")]
    pub expression: String,
}
