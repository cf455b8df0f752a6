//! An authorizer that decides by RBAC manifests (kubernetes `plugin/pkg/auth/authorizer/rbac`,
//! `pkg/registry/rbac/validation/rule.go`).
//!
//! Other authorizers of a cluster, which `docs/rbac.md` lists, are not consulted.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use gavel_apimachinery::labels::Selector;
use gavel_engine::value::Json;
use gavel_golang::quote::quote;

use super::{
    Authorizer, AuthorizerAttributes, AuthorizerRequest, Decision, ResourceAttributes, UserInfo,
    Verdict,
};

mod manifest;

pub use manifest::RbacError;

/// Roles and bindings, read from manifests.
#[derive(Debug, Clone, Default)]
pub struct Rbac {
    /// The roles, by namespace and name.
    roles: HashMap<(String, String), Vec<Rule>>,
    cluster_roles: BTreeMap<String, ClusterRole>,
    cluster_role_bindings: Vec<Binding>,
    role_bindings: Vec<Binding>,
}

#[derive(Debug, Clone, Default)]
struct Rule {
    verbs: Vec<String>,
    api_groups: Vec<String>,
    resources: Vec<String>,
    resource_names: Vec<String>,
    non_resource_urls: Vec<String>,
}

#[derive(Debug, Clone, Default)]
struct ClusterRole {
    labels: HashMap<String, String>,
    rules: Vec<Rule>,
    /// The selectors of an aggregated role, which has the rules of the selected roles instead of its own. `None` if the role is not
    /// aggregated.
    aggregates: Option<Vec<Selector>>,
}

#[derive(Debug, Clone)]
struct Binding {
    name: String,
    /// The namespace; empty for a ClusterRoleBinding.
    namespace: String,
    role_kind: String,
    role_name: String,
    subjects: Vec<Subject>,
}

#[derive(Debug, Clone)]
struct Subject {
    kind: String,
    name: String,
    namespace: String,
}

impl Rbac {
    /// Reads manifests and lists of them; objects of other kinds are ignored.
    ///
    /// # Errors
    ///
    /// A field of a manifest has the wrong type.
    pub fn from_manifests<'m>(
        manifests: impl IntoIterator<Item = &'m Json>,
    ) -> Result<Self, RbacError> {
        let mut rbac = Rbac::default();
        for manifest in manifests {
            rbac.add(manifest)?;
        }
        for role in rbac.cluster_roles.clone().into_keys() {
            let rules = rbac.aggregated(&role);
            if let (Some(role), Some(rules)) = (rbac.cluster_roles.get_mut(&role), rules) {
                role.rules = rules;
            }
        }
        Ok(rbac)
    }

    /// The rules of an aggregated role: the rules of all roles that it selects, directly or through other aggregated roles, in the order of
    /// the roles' names. `None` if the role does not exist or is not aggregated.
    fn aggregated(&self, name: &str) -> Option<Vec<Rule>> {
        self.cluster_roles.get(name)?.aggregates.as_ref()?;
        let (mut pending, mut seen) = (vec![name], BTreeSet::from([name]));
        while let Some(aggregating) = pending.pop() {
            let role = self.cluster_roles.get(aggregating);
            let selectors = role.and_then(|role| role.aggregates.as_ref());
            for selector in selectors.into_iter().flatten() {
                for (selected, role) in &self.cluster_roles {
                    let label = |key: &str| role.labels.get(key).map(String::as_str);
                    if selector.matches(label) && seen.insert(selected) {
                        pending.push(selected);
                    }
                }
            }
        }
        let contributing = seen
            .into_iter()
            .filter_map(|name| self.cluster_roles.get(name));
        let contributing = contributing.filter(|role| role.aggregates.is_none());
        Some(contributing.flat_map(|role| role.rules.clone()).collect())
    }

    fn rules(&self, binding: &Binding) -> Result<&[Rule], String> {
        let name = &binding.role_name;
        let missing = |resource: &str| {
            format!(
                "{resource}.rbac.authorization.k8s.io {} not found",
                quote(name)
            )
        };
        match binding.role_kind.as_str() {
            "ClusterRole" => match self.cluster_roles.get(name) {
                Some(role) => Ok(&role.rules),
                None => Err(missing("clusterrole")),
            },
            "Role" => match self.roles.get(&(binding.namespace.clone(), name.clone())) {
                Some(rules) => Ok(rules),
                None => Err(missing("role")),
            },
            kind => Err(format!("unsupported role reference kind: {}", quote(kind))),
        }
    }
}

impl Authorizer for Rbac {
    fn authorize(&self, attributes: &AuthorizerAttributes) -> Decision {
        let namespace = match &attributes.request {
            AuthorizerRequest::Resource(resource) => resource.namespace.as_str(),
            AuthorizerRequest::Path(_) => "",
        };
        let local = self
            .role_bindings
            .iter()
            .filter(|binding| !namespace.is_empty() && binding.namespace == namespace);
        let mut errors: Vec<String> = Vec::new();
        for binding in self.cluster_role_bindings.iter().chain(local) {
            let Some(subject) = binding.subject(&attributes.user) else {
                continue;
            };
            match self.rules(binding) {
                Ok(rules) if rules.iter().any(|rule| rule.allows(attributes)) => {
                    return Decision {
                        verdict: Verdict::Allow,
                        reason: format!("RBAC: allowed by {}", binding.described(subject)),
                        error: None,
                    };
                }
                Ok(_) => {}
                Err(error) if errors.contains(&error) => {}
                Err(error) => errors.push(error),
            }
        }
        let reason = match errors.as_slice() {
            [] => String::new(),
            [only] => format!("RBAC: {only}"),
            many => format!("RBAC: [{}]", many.join(", ")),
        };
        Decision {
            reason,
            ..Decision::default()
        }
    }
}

impl Binding {
    /// The first subject of the binding that matches the user; `None` if no subject does.
    fn subject(&self, user: &UserInfo) -> Option<&Subject> {
        self.subjects
            .iter()
            .find(|subject| match subject.kind.as_str() {
                "User" => subject.name == user.name,
                "Group" => user.groups.contains(&subject.name),
                "ServiceAccount" => {
                    let namespace = subject.namespace_in(self);
                    !namespace.is_empty()
                        && user.name
                            == format!("system:serviceaccount:{namespace}:{}", subject.name)
                }
                _ => false,
            })
    }

    fn described(&self, subject: &Subject) -> String {
        let (kind, name) = match self.namespace.as_str() {
            "" => ("ClusterRoleBinding", self.name.clone()),
            namespace => ("RoleBinding", format!("{}/{namespace}", self.name)),
        };
        let whom = match subject.kind.as_str() {
            "ServiceAccount" => format!("{}/{}", subject.name, subject.namespace_in(self)),
            _ => subject.name.clone(),
        };
        format!(
            "{kind} {} of {} {} to {} {}",
            quote(name),
            self.role_kind,
            quote(&self.role_name),
            subject.kind,
            quote(whom)
        )
    }
}

impl Subject {
    /// The namespace of a service account: the subject's namespace or, if it has none, the binding's.
    fn namespace_in<'a>(&'a self, binding: &'a Binding) -> &'a str {
        match self.namespace.as_str() {
            "" => &binding.namespace,
            namespace => namespace,
        }
    }
}

impl Rule {
    fn allows(&self, attributes: &AuthorizerAttributes) -> bool {
        has(&self.verbs, &attributes.verb)
            && match &attributes.request {
                AuthorizerRequest::Path(path) => self.has_path(path),
                AuthorizerRequest::Resource(resource) => {
                    has(&self.api_groups, &resource.api_group)
                        && self.has_resource(resource)
                        && (self.resource_names.is_empty()
                            || self.resource_names.contains(&resource.name))
                }
            }
    }

    fn has_resource(&self, wanted: &ResourceAttributes) -> bool {
        let subresource = wanted.subresource.as_str();
        if subresource.is_empty() {
            return has(&self.resources, &wanted.resource);
        }
        has(
            &self.resources,
            &format!("{}/{subresource}", wanted.resource),
        ) || self
            .resources
            .iter()
            .any(|resource| resource.strip_prefix("*/") == Some(subresource))
    }

    fn has_path(&self, path: &str) -> bool {
        self.non_resource_urls.iter().any(|url| {
            url == "*"
                || url == path
                || (url.ends_with('*') && path.starts_with(url.trim_end_matches('*')))
        })
    }
}

/// Whether a list contains a text or `*`.
fn has(list: &[String], text: &str) -> bool {
    list.iter().any(|item| item == "*" || item == text)
}

#[cfg(test)]
mod tests;
