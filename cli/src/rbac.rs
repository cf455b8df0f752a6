//! The authorizer of `--rbac`: manifests, and the user who asks.

use std::path::PathBuf;
use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_libraries::authorizer::{CachingAuthorizer, Rbac, UserInfo};
use gavel_libraries::kubernetes::authorizer::AuthorizerValue;

use crate::input;

/// Reads the manifests of files and folders, and lets a user ask what they allow.
pub(crate) fn authorizer(
    paths: &[PathBuf],
    name: &str,
    groups: &[String],
) -> Result<AuthorizerValue, String> {
    let mut manifests: Vec<Json> = Vec::new();
    for path in paths {
        for file in gavel_manifest::files(path, false).map_err(|error| error.to_string())? {
            manifests.extend(input::documents(&file).map_err(|error| error.to_string())?);
        }
    }
    let rbac = Rbac::from_manifests(&manifests).map_err(|error| error.to_string())?;
    let caching = CachingAuthorizer::new(Arc::new(rbac));
    Ok(AuthorizerValue::new(
        Arc::new(user(name, groups)),
        Arc::new(caching),
    ))
}

/// The user as an API server that is asked to impersonate somebody takes it: a service account is in its groups unless
/// groups are given, and whoever has logged in is in the group of those.
fn user(name: &str, groups: &[String]) -> UserInfo {
    let service_account = name
        .strip_prefix("system:serviceaccount:")
        .and_then(|account| account.split_once(':'))
        .filter(|_| groups.is_empty());
    let mut user = match service_account {
        Some((namespace, name)) => UserInfo::service_account(namespace, name),
        None => UserInfo {
            name: name.to_owned(),
            groups: groups.to_vec(),
            ..UserInfo::default()
        },
    };
    let everybody = match name {
        "system:anonymous" => "system:unauthenticated",
        _ => "system:authenticated",
    };
    if !user.groups.iter().any(|group| group == everybody) {
        user.groups.push(everybody.to_owned());
    }
    user
}
