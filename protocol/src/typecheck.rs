//! `op=typecheck`: checks the types of a policy's expressions against schemas.

use gavel_engine::value::Json;
use gavel_policy::GroupVersionKind;
use gavel_policy::api::{Registration, ValidatingAdmissionPolicy};
use gavel_policy::typecheck::TypeChecker;
use gavel_schema::openapi;
use serde_json::json;

use crate::request::{Fields, RequestError};

/// Answers a `typecheck` request.
pub(crate) fn answer(id: &Json, mut fields: Fields) -> Result<Json, RequestError> {
    let missing = || RequestError("policy must be set".to_owned());
    let policy = fields.take("policy").ok_or_else(missing)?;
    let policy = ValidatingAdmissionPolicy::from_json(&policy)
        .map_err(|error| RequestError(error.to_string()).within("policy"))?;
    let definitions = fields.object("definitions")?;
    let mut checker =
        TypeChecker::new(fields.server()?).map_err(|error| RequestError(error.to_string()))?;
    for (name, schema) in fields.object("schemas")? {
        let schema = openapi::resolve(&schema, &|name| definitions.get(name)).map_err(|error| {
            RequestError(error.to_string()).within(&format!("schemas[{name:?}]"))
        })?;
        checker.add_kind(kind(&name)?, &schema);
    }
    for (resource, name) in fields.object("resources")? {
        let named = name.as_str().unwrap_or_default();
        checker.add_resource(resource, kind(named)?);
    }
    let warnings = checker.check(&policy);
    let warnings = warnings.into_iter();
    let warnings =
        warnings.map(|each| json!({"fieldRef": each.field_ref, "warning": each.warning}));
    Ok(json!({"id": id, "ok": true, "warnings": warnings.collect::<Json>()}))
}

/// Reads `group/version/Kind` or `version/Kind`.
fn kind(text: &str) -> Result<GroupVersionKind, RequestError> {
    match text.split('/').collect::<Vec<_>>().as_slice() {
        [_, kind] | [_, _, kind] => {
            let api_version = text.strip_suffix(kind).unwrap_or(text);
            Ok(GroupVersionKind::new(
                api_version.trim_end_matches('/'),
                kind,
            ))
        }
        _ => Err(RequestError(format!("bad group/version/Kind {text:?}"))),
    }
}
