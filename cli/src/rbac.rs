//! Creates the authorizer for `--rbac`.

use std::path::PathBuf;
use std::sync::Arc;

use gavel_check::user;
use gavel_engine::value::Json;
use gavel_libraries::authorizer::{CachingAuthorizer, Rbac};
use gavel_libraries::kubernetes::authorizer::AuthorizerValue;
use gavel_manifest::Document;

use crate::input;

/// Builds an authorizer for a user from RBAC manifests in files and folders.
pub(crate) fn authorizer(
    paths: &[PathBuf],
    name: &str,
    groups: &[String],
) -> Result<AuthorizerValue, String> {
    let mut manifests: Vec<Json> = Vec::new();
    for path in paths {
        let documents = input::all_documents(path).map_err(|problems| input::lines(&problems))?;
        manifests.extend(documents.into_iter().map(Document::into_value));
    }
    let rbac = Rbac::from_manifests(&manifests).map_err(|error| error.to_string())?;
    let caching = CachingAuthorizer::new(Arc::new(rbac));
    Ok(AuthorizerValue::new(
        Arc::new(user(name, groups)),
        Arc::new(caching),
    ))
}
