//! The schemas that the API server publishes, for the type checks of policies (client-go `openapi3`).

use std::collections::{BTreeMap, BTreeSet};

use gavel_libraries::Server;
use gavel_policy::GroupVersionKind;
use gavel_policy::api::{ExpressionWarning, ValidatingAdmissionPolicy};
use gavel_policy::typecheck::TypeChecker;
use gavel_schema::openapi;
use kube::Client;
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
        }
    }

    /// Drops all schemas.
    pub(crate) fn clear(&mut self) {
        self.checker = None;
        self.read.clear();
    }

    /// Checks the types of a policy, and returns the warnings that kube-controller-manager would write into its status.
    ///
    /// # Errors
    ///
    /// The API server does not return the list of its OpenAPI documents (`/openapi/v3`).
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
        let (mut documents, mut read) = (Vec::new(), BTreeMap::new());
        for version in versions(&policy) {
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

/// The paths of the OpenAPI documents for the groups and versions in a policy's match constraints and `paramKind`.
fn versions(policy: &ValidatingAdmissionPolicy) -> BTreeSet<String> {
    let spec = &policy.spec;
    let mut versions = BTreeSet::new();
    let constraints = spec.match_constraints.iter();
    for rule in constraints.flat_map(|constraints| &constraints.resource_rules) {
        let rule = &rule.rule;
        for group in &rule.api_groups {
            for version in &rule.api_versions {
                if group == "*" || version == "*" || versions.len() >= MOST_VERSIONS {
                    continue;
                }
                versions.insert(match group.as_str() {
                    "" => path(version),
                    group => path(&format!("{group}/{version}")),
                });
            }
        }
    }
    versions.extend(spec.param_kind.iter().map(|kind| path(&kind.api_version)));
    versions
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
