//! The schemas that the API server publishes, for the type checks of policies (client-go `openapi3`).

use std::collections::{BTreeMap, BTreeSet};

use gavel_libraries::Server;
use gavel_policy::GroupVersionKind;
use gavel_policy::api::{ExpressionWarning, RuleWithOperations, ValidatingAdmissionPolicy};
use gavel_policy::typecheck::TypeChecker;
use gavel_schema::openapi;
use kube::Client;
use kube::core::discovery::v2::{APIGroupDiscoveryList, APIResourceDiscovery};
use serde::Deserialize;
use serde_json::Value as Json;

use crate::access::message;

/// The limit of groups and versions whose types one policy can use.
const MOST_VERSIONS: usize = 10;

/// The schemas of the groups and versions that policies name. The OpenAPI document of a group and version is read once, and again after the
/// API server has published a new one.
pub(crate) struct Schemas {
    client: Client,
    server: Server,
    /// Type-checks policies with the schemas that were read so far.
    checker: Option<TypeChecker>,
    /// The URL of each document that was read; a new version of the document has another URL. `None` means that there is no such document,
    /// or that it could not be read.
    read: BTreeMap<String, Option<String>>,
    /// The resources of all groups except the core group; `None` until a policy names the core group.
    groups: Option<APIGroupDiscoveryList>,
}

/// The documents that a server publishes (kube-openapi `handler3.OpenAPIV3Discovery`).
#[derive(Deserialize)]
struct Published {
    paths: BTreeMap<String, Document>,
}

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "serverRelativeURL")]
    url: String,
}

impl Schemas {
    pub(crate) fn new(client: Client, server: Server) -> Self {
        Schemas {
            client,
            server,
            checker: None,
            read: BTreeMap::new(),
            groups: None,
        }
    }

    /// Drops all schemas.
    pub(crate) fn clear(&mut self) {
        self.checker = None;
        self.read.clear();
        self.groups = None;
    }

    /// Checks the types of a policy, and returns the warnings that kube-controller-manager would write into its status.
    ///
    /// # Errors
    ///
    /// The API server does not return the list of its OpenAPI documents (`/openapi/v3`) or of its resources (`/apis`).
    pub(crate) async fn check(
        &mut self,
        policy: ValidatingAdmissionPolicy,
    ) -> kube::Result<Vec<ExpressionWarning>> {
        let Published { paths } = self.get("/openapi/v3").await?;
        let url = |version: &str| paths.get(version).map(|document| &document.url);
        let changed = |(version, read): (&String, &Option<String>)| url(version) != read.as_ref();
        if self.read.iter().any(changed) {
            self.clear();
        }
        if self.groups.is_none() && rules(&policy).any(names_core_group) {
            self.groups = Some(self.client.list_api_groups_aggregated().await?);
        }
        let (mut documents, mut read) = (Vec::new(), BTreeMap::new());
        for version in versions(&policy, self.groups.as_ref()) {
            if self.read.contains_key(&version) {
                continue;
            }
            let mut url = url(&version).cloned();
            if let Some(from) = &url {
                match self.get(from).await {
                    Ok(document) => documents.push(document),
                    Err(error) => {
                        tracing::debug!(
                            version,
                            error = message(error),
                            "schemas could not be fetched"
                        );
                        url = None;
                    }
                }
            }
            read.insert(version, url);
        }
        let (server, checker) = (self.server, self.checker.take());
        // Checking takes time, so it runs on another thread.
        let checked = tokio::task::spawn_blocking(move || {
            let mut checker = match checker {
                Some(checker) => checker,
                None => TypeChecker::new(server).ok()?,
            };
            for document in &documents {
                add(document, &mut checker);
            }
            let warnings = checker.check(&policy);
            Some((checker, warnings))
        });
        let Some((checker, warnings)) = checked.await.ok().flatten() else {
            self.clear();
            return Ok(Vec::new());
        };
        self.checker = Some(checker);
        self.read.append(&mut read);
        Ok(warnings)
    }

    async fn get<T: for<'de> Deserialize<'de>>(&self, url: &str) -> kube::Result<T> {
        let request = http::Request::get(url).body(Vec::new());
        let request = request.map_err(kube::Error::HttpError)?;
        self.client.request(request).await
    }
}

fn rules(policy: &ValidatingAdmissionPolicy) -> impl Iterator<Item = &RuleWithOperations> {
    let constraints = policy.spec.match_constraints.iter();
    let rules = constraints.flat_map(|constraints| &constraints.resource_rules);
    rules.map(|named| &named.rule)
}

fn names_core_group(rule: &RuleWithOperations) -> bool {
    rule.api_groups.iter().any(String::is_empty)
}

/// The paths of the OpenAPI documents for the groups and versions in a policy's match constraints and `paramKind`. Kubernetes looks for the
/// resources of the core group in all `groups`.
fn versions(
    policy: &ValidatingAdmissionPolicy,
    groups: Option<&APIGroupDiscoveryList>,
) -> BTreeSet<String> {
    let mut versions = BTreeSet::new();
    let mut insert = |version: String| {
        if versions.len() < MOST_VERSIONS {
            versions.insert(version);
        }
    };
    for rule in rules(policy) {
        for group in &rule.api_groups {
            for version in &rule.api_versions {
                match (group.as_str(), version.as_str()) {
                    ("*", _) | (_, "*") => {}
                    ("", version) => insert(path(version)),
                    (group, version) => insert(path(&format!("{group}/{version}"))),
                }
            }
        }
    }
    for rule in rules(policy).filter(|rule| names_core_group(rule)) {
        let with_resources = groups.into_iter().flat_map(|groups| having(groups, rule));
        with_resources.for_each(&mut insert);
    }
    let params = policy.spec.param_kind.iter();
    versions.extend(params.map(|kind| path(&kind.api_version)));
    versions
}

/// The paths of the OpenAPI documents for the groups that have a resource of a rule in a version of the rule.
fn having(groups: &APIGroupDiscoveryList, rule: &RuleWithOperations) -> Vec<String> {
    let mut found = Vec::new();
    for group in &groups.items {
        let name = group
            .metadata
            .as_ref()
            .and_then(|about| about.name.as_ref());
        for version in &group.versions {
            let names = |resource: &APIResourceDiscovery| {
                let names = [&resource.resource, &resource.singular_resource];
                let mut named = rule.resources.iter().map(|named| named.to_lowercase());
                named.any(|named| names.contains(&&Some(named)))
            };
            let is_named = |version: &&String| rule.api_versions.contains(version);
            let version_name = version.version.as_ref().filter(is_named);
            if let (Some(name), Some(version_name)) = (name, version_name)
                && version.resources.iter().any(names)
            {
                found.push(path(&format!("{name}/{version_name}")));
            }
        }
    }
    found
}

/// The path of the OpenAPI document of an `apiVersion`: `apis/apps/v1` for `apps/v1`, `api/v1` for `v1`.
fn path(version: &str) -> String {
    match version.contains('/') {
        true => format!("apis/{version}"),
        false => format!("api/{version}"),
    }
}

/// Adds the resources and the kinds of an OpenAPI document.
fn add(document: &Json, types: &mut TypeChecker) {
    let Some(schemas) = document
        .pointer("/components/schemas")
        .and_then(Json::as_object)
    else {
        return;
    };
    for (name, kind) in openapi::resources(document) {
        types.add_resource(name.to_owned(), GroupVersionKind::read(kind.into()));
    }
    for (kind, schema) in openapi::kinds(schemas) {
        if let Ok(schema) = openapi::resolve(schema, &|name| schemas.get(name)) {
            types.add_kind(GroupVersionKind::read(kind.into()), &schema);
        }
    }
}

#[cfg(test)]
mod tests {
    use gavel_policy::api::Registration as _;
    use serde_json::json;

    use super::*;

    #[test]
    fn resources_of_the_core_group_are_looked_for_in_all_groups() {
        let groups = json!({"items": [
            {"metadata": {"name": "apps"}, "versions": [
                {"version": "v1", "resources": [{"resource": "deployments", "singularResource": "deployment"}]},
            ]},
            {"metadata": {"name": "events.k8s.io"}, "versions": [
                {"version": "v1", "resources": [{"resource": "events", "singularResource": "event"}]},
                {"version": "v1beta1", "resources": [{"resource": "events", "singularResource": "event"}]},
            ]},
        ]});
        let groups: APIGroupDiscoveryList = serde_json::from_value(groups).unwrap();
        let found = |group: &str, resource: &str| {
            let rule = json!({"apiGroups": [group], "apiVersions": ["v1"], "operations": ["*"], "resources": [resource]});
            let spec = json!({"matchConstraints": {"resourceRules": [rule]}, "validations": [{"expression": "true"}]});
            let policy = json!({"metadata": {"name": "p"}, "spec": spec});
            let policy = ValidatingAdmissionPolicy::from_json(&policy).unwrap();
            Vec::from_iter(versions(&policy, Some(&groups)))
        };
        assert_eq!(found("", "pods"), ["api/v1"]);
        assert_eq!(found("", "events"), ["api/v1", "apis/events.k8s.io/v1"]);
        assert_eq!(found("", "Deployment"), ["api/v1", "apis/apps/v1"]);
        assert_eq!(found("apps", "events"), ["apis/apps/v1"]);
    }
}
