//! Manifests of RBAC: `Role`, `ClusterRole`, `RoleBinding`, `ClusterRoleBinding`, and lists of them.

use std::collections::HashMap;

use gavel_apimachinery::labels::{LabelSelector, Selector};
use gavel_apimachinery::serializer;
use gavel_engine::value::Json;

use super::{Binding, ClusterRole, Rbac, Rule, Subject};

/// The error for a manifest that cannot be read. It names the kind and the object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {name:?}: {problem}")]
pub struct RbacError {
    kind: String,
    name: String,
    problem: String,
}

/// The namespace of manifests that do not name one, as with `kubectl`.
const DEFAULT_NAMESPACE: &str = "default";

impl Rbac {
    pub(super) fn add(&mut self, manifest: &Json) -> Result<(), RbacError> {
        let (kind, api) = (text(manifest, "kind"), text(manifest, "apiVersion"));
        // Lists do not contain lists.
        let is_list = kind.ends_with("List") && (api == "v1" || is_rbac(&api));
        let items = match manifest.get("items") {
            Some(Json::Array(items)) if is_list => items.as_slice(),
            _ => std::slice::from_ref(manifest),
        };
        for item in items {
            // Items of typed lists need not say their kind.
            let kind = match text(item, "kind") {
                none if none.is_empty() => kind.trim_end_matches("List").to_owned(),
                kind => kind,
            };
            if is_rbac(&api) || is_rbac(&text(item, "apiVersion")) {
                self.add_one(&kind, item)?;
            }
        }
        Ok(())
    }

    fn add_one(&mut self, kind: &str, item: &Json) -> Result<(), RbacError> {
        let metadata = item.get("metadata").unwrap_or(&Json::Null);
        let name = text(metadata, "name");
        let failed = |problem: String| RbacError {
            kind: kind.to_owned(),
            name: name.clone(),
            problem,
        };
        let namespace = match text(metadata, "namespace") {
            none if none.is_empty() => DEFAULT_NAMESPACE.to_owned(),
            namespace => namespace,
        };
        if !matches!(
            kind,
            "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding"
        ) {
            return Ok(());
        }
        if name.is_empty() {
            return Err(failed("metadata.name must be set".to_owned()));
        }
        match kind {
            "Role" => {
                let rules = rules(item).map_err(failed)?;
                self.roles.insert((namespace, name), rules);
            }
            "ClusterRole" => {
                let role = ClusterRole {
                    labels: labels(metadata.get("labels")),
                    rules: rules(item).map_err(&failed)?,
                    aggregates: aggregates(item).map_err(&failed)?,
                };
                self.cluster_roles.insert(name, role);
            }
            "RoleBinding" => {
                let binding = binding(item, name.clone(), namespace).map_err(failed)?;
                self.role_bindings.push(binding);
            }
            _ => {
                let binding = binding(item, name.clone(), String::new()).map_err(failed)?;
                self.cluster_role_bindings.push(binding);
            }
        }
        Ok(())
    }
}

fn is_rbac(api_version: &str) -> bool {
    api_version.starts_with("rbac.authorization.k8s.io/")
}

fn rules(item: &Json) -> Result<Vec<Rule>, String> {
    let mut rules = Vec::new();
    for rule in list(item, "rules")? {
        rules.push(Rule {
            verbs: texts(rule, "verbs")?,
            api_groups: texts(rule, "apiGroups")?,
            resources: texts(rule, "resources")?,
            resource_names: texts(rule, "resourceNames")?,
            non_resource_urls: texts(rule, "nonResourceURLs")?,
        });
    }
    Ok(rules)
}

fn aggregates(item: &Json) -> Result<Option<Vec<Selector>>, String> {
    let Some(rule) = item.get("aggregationRule").filter(|rule| !rule.is_null()) else {
        return Ok(None);
    };
    let mut selectors = Vec::new();
    for selector in list(rule, "clusterRoleSelectors")? {
        let read = serializer::decode::<LabelSelector>(selector, "v1");
        let read = read.map_err(|error| error.message)?;
        selectors.push(read.object.compile()?);
    }
    Ok(Some(selectors))
}

fn binding(item: &Json, name: String, namespace: String) -> Result<Binding, String> {
    let role = item.get("roleRef").ok_or("roleRef must be set")?;
    let subjects = list(item, "subjects")?.iter().map(|subject| Subject {
        kind: text(subject, "kind"),
        name: text(subject, "name"),
        namespace: text(subject, "namespace"),
    });
    Ok(Binding {
        name,
        namespace,
        role_kind: text(role, "kind"),
        role_name: text(role, "name"),
        subjects: subjects.collect(),
    })
}

fn labels(json: Option<&Json>) -> HashMap<String, String> {
    let entries = json.and_then(Json::as_object).into_iter().flatten();
    let entries =
        entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
    entries.collect()
}

/// The string under a key; empty if there is none.
fn text(json: &Json, key: &str) -> String {
    let text = json.get(key).and_then(Json::as_str);
    text.unwrap_or_default().to_owned()
}

/// The list under a key; empty if the key is absent or null.
///
/// # Errors
///
/// The value is not a list.
fn list<'j>(json: &'j Json, key: &str) -> Result<&'j [Json], String> {
    match json.get(key) {
        None | Some(Json::Null) => Ok(&[]),
        Some(Json::Array(items)) => Ok(items),
        Some(_) => Err(format!("{key} must be a list")),
    }
}

fn texts(json: &Json, key: &str) -> Result<Vec<String>, String> {
    let text = |item: &Json| item.as_str().map(str::to_owned);
    let texts: Option<Vec<String>> = list(json, key)?.iter().map(text).collect();
    texts.ok_or_else(|| format!("{key} must be a list of strings"))
}
