//! Creates the authorizer for `--rbac`.

use std::path::PathBuf;
use std::sync::Arc;

use gavel_check::user;
use gavel_engine::value::Json;
use gavel_libraries::authorizer::{CachingAuthorizer, Rbac};
use gavel_libraries::kubernetes::authorizer::AuthorizerValue;
use gavel_manifest::Document;

use crate::input;

/// The API group of roles and their bindings.
const GROUP: &str = "rbac.authorization.k8s.io";

/// Builds an authorizer for a user from RBAC manifests in files and folders.
pub(crate) fn authorizer(
    paths: &[PathBuf],
    name: &str,
    groups: &[String],
) -> Result<AuthorizerValue, String> {
    let mut manifests: Vec<Json> = Vec::new();
    for path in paths {
        let documents = input::all_documents(path).map_err(|problems| input::lines(&problems))?;
        let objects = documents.into_iter().flat_map(Document::into_objects);
        manifests.extend(objects.map(Document::into_value));
    }
    // Without roles nothing is allowed, which must not look like an answer about the user.
    if !manifests.iter().any(is_rbac) {
        return Err(format!(
            "--rbac must name roles or bindings of {GROUP}, but there is none"
        ));
    }
    let rbac = Rbac::from_manifests(&manifests).map_err(|error| error.to_string())?;
    let caching = CachingAuthorizer::new(Arc::new(rbac));
    Ok(AuthorizerValue::new(
        Arc::new(user(name, groups)),
        Arc::new(caching),
    ))
}

fn is_rbac(object: &Json) -> bool {
    let api_version = object.get("apiVersion").and_then(Json::as_str);
    let group = api_version.and_then(|api_version| api_version.split_once('/'));
    group.is_some_and(|(group, _)| group == GROUP)
}
