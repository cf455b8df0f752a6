//! The authorizer of `--rbac`: manifests, and the user who asks.

use std::path::PathBuf;
use std::sync::Arc;

use gavel_check::user;
use gavel_engine::value::Json;
use gavel_libraries::authorizer::{CachingAuthorizer, Rbac};
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
