//! An index of admission policies, bindings, params and namespaces.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use gavel_apimachinery::server::Server;
use gavel_engine::value::Json;
use gavel_libraries::EnvSet;
use gavel_policy::api::{GROUP, ParamKind};
use gavel_policy::mutating::ObjectSchemas;
use gavel_policy::{
    EquivalentResources, GroupVersionKind, GroupVersionResource, PolicyIndex, Snapshot,
};
use gavel_protocol::server_of;
use gavel_schema::JsonSchema;
use serde::Deserialize;

use crate::arguments;
use crate::callbacks::GavelConvert;
use crate::definition::{SERVER_KEYS, uncompiled};
use crate::environment::options;
use crate::error::{Failure, GavelError, GavelErrorKind, guard, guard_compiling};
use crate::json_value::GavelValue;
use crate::memory;

/// An index of policies, bindings, params and namespaces. Each call uses the contents that the index had when the call began.
#[derive(Debug)]
pub struct GavelIndex {
    /// Compiles policies while other calls use the index. It remains empty.
    compiler: PolicyIndex,
    changing: Mutex<Changing>,
    /// The contents that calls read. A change of the index sets the field to `None`; the next call builds the contents again.
    current: RwLock<Option<Arc<Current>>>,
}

#[derive(Debug)]
pub(crate) struct Changing {
    pub(crate) index: PolicyIndex,
    schemas: ObjectSchemas,
    convert: GavelConvert,
}

/// The contents of an index, as a call of the library sees them.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) snapshot: Snapshot,
    pub(crate) schemas: ObjectSchemas,
    pub(crate) convert: GavelConvert,
}

impl GavelIndex {
    pub(crate) fn new(server: Server) -> Result<Self, Failure> {
        let environments = EnvSet::new(server).map_err(uncompiled)?;
        let compiler = PolicyIndex::new(&environments);
        Ok(GavelIndex {
            changing: Mutex::new(Changing {
                index: compiler.clone(),
                schemas: ObjectSchemas::new(server).typed(),
                convert: None,
            }),
            compiler,
            current: RwLock::default(),
        })
    }

    /// Adds an object, or replaces its earlier version. Decisions wait only until the compiled object is in the index.
    pub(crate) fn apply(&self, object: Json) -> Result<(), Failure> {
        if !is_policy_or_namespace(&object) {
            return self.change(|changing| {
                changing.index.apply_param(object);
                Ok(())
            });
        }
        let prepared = self.compiler.prepare(object);
        let add =
            prepared.map_err(|error| GavelError::new(GavelErrorKind::Decode, error.to_string()))?;
        self.change(|changing| {
            add(&mut changing.index);
            Ok(())
        })
    }

    /// The current contents of the index.
    pub(crate) fn current(&self) -> Arc<Current> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(current) = &*current {
            return Arc::clone(current);
        }
        drop(current);
        let changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let current = Arc::new(Current {
            snapshot: changing.index.snapshot(),
            schemas: changing.schemas.clone(),
            convert: changing.convert,
        });
        let mut slot = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *slot = Some(Arc::clone(&current));
        current
    }

    /// Changes the index. If the change fails or panics, the contents that calls read are not built again.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Changing) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut changing)?;
        // Cleared under the lock, so that every later snapshot contains the change.
        let mut slot = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *slot = None;
        Ok(changed)
    }
}

/// Creates an empty index. `config` is JSON with the keys `server` and `k8sVersion`.
///
/// # Safety
///
/// `config` must point to `config_len` bytes, and `out` to memory for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_index_new(
    config: *const u8,
    config_len: usize,
    out: *mut *mut GavelIndex,
) -> *mut GavelError {
    guard_compiling(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the bytes.
        let config = options(
            unsafe { arguments::bytes(config, config_len) }?,
            SERVER_KEYS,
        )?;
        let index = GavelIndex::new(server_of(&config, Server::compatible)?)?;
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write_handle(out, index) };
        Ok(())
    })
}

/// Adds an object, or replaces its earlier version. Policies, bindings and namespaces are recognized by their kind; any other object may be
/// a param of policies. An error of kind `Decode` reports a value that is not a JSON object with `apiVersion`, `kind` and `metadata.name`.
///
/// # Safety
///
/// `index` and `object` must be handles that were not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_index_apply(
    index: *const GavelIndex,
    object: *const GavelValue,
) -> *mut GavelError {
    guard_compiling(|| {
        // SAFETY: the caller vouches for the index.
        let index = unsafe { arguments::handle(index) }?;
        // SAFETY: the caller vouches for the value.
        let object = unsafe { arguments::handle(object) }?;
        check_identity(object)?;
        index.apply(object.0.clone())
    })
}

/// Checks that a value is an object that an index can find again.
fn check_identity(object: &GavelValue) -> Result<(), Failure> {
    let needed = "the object must be a JSON object with apiVersion, kind and metadata.name";
    let fields = object.object(needed)?;
    let name = fields.get("metadata").and_then(|it| it.get("name"));
    let parts = [
        ("apiVersion", fields.get("apiVersion")),
        ("kind", fields.get("kind")),
        ("metadata.name", name),
    ];
    let is_missing = |part: Option<&Json>| part.and_then(Json::as_str).is_none_or(str::is_empty);
    let Some((missing, _)) = parts.iter().find(|(_, part)| is_missing(*part)) else {
        return Ok(());
    };
    let message = format!("{needed}; {missing} must be a string that is not empty");
    Err(GavelError::new(GavelErrorKind::Decode, message))
}

/// Whether the index uses an object as something other than a param.
fn is_policy_or_namespace(object: &Json) -> bool {
    let text = |key| object.get(key).and_then(Json::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let is_registration = api_version.split('/').next() == Some(GROUP);
    is_registration || (api_version, kind) == ("v1", "Namespace")
}

/// Removes an object. Only the `apiVersion`, kind, name and namespace of the object are read. An error of kind `Decode` reports a value that
/// is not a JSON object with `apiVersion`, `kind` and `metadata.name`.
///
/// # Safety
///
/// `index` and `object` must be handles that were not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_index_delete(
    index: *const GavelIndex,
    object: *const GavelValue,
) -> *mut GavelError {
    guard_compiling(|| {
        // SAFETY: the caller vouches for the index.
        let index = unsafe { arguments::handle(index) }?;
        // SAFETY: the caller vouches for the value.
        let object = unsafe { arguments::handle(object) }?;
        check_identity(object)?;
        index.change(|changing| {
            changing.index.delete(&object.0);
            Ok(())
        })
    })
}

/// Sets what an index must know about kinds besides their objects. `config` is a JSON object with three optional keys. `namespaced`
/// [{`apiVersion`, `kind`, `namespaced`}] says whether kinds of params are namespaced. `equivalents` [[{`resource` {group, version,
/// resource}, `subResource`, `kind` {group, version, kind}}]] lists groups of resources; all resources of a group serve the same objects.
/// `schemas` {"group/version/Kind": schema} contains the schemas that mutations of custom resources use. If any part of `config` is wrong,
/// nothing changes.
///
/// # Safety
///
/// `index` must be an index that was not freed, and `config` must point to `config_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_index_configure(
    index: *const GavelIndex,
    config: *const u8,
    config_len: usize,
) -> *mut GavelError {
    guard_compiling(|| {
        // SAFETY: the caller vouches for the index.
        let index = unsafe { arguments::handle(index) }?;
        // SAFETY: the caller vouches for the bytes.
        let config = options(
            unsafe { arguments::bytes(config, config_len) }?,
            &["namespaced", "equivalents", "schemas"],
        )?;
        index.change(|changing| configure(changing, config))
    })
}

/// Sets the function that converts the objects of requests to the kinds of equivalent resources that policies match, and mutated objects
/// back. Without it, the objects of equivalent resources are assumed to differ only in `apiVersion` and `kind`.
///
/// # Safety
///
/// `index` must be an index that was not freed. `convert` must be callable by all later calls with the index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_index_set_convert(
    index: *const GavelIndex,
    convert: GavelConvert,
) -> *mut GavelError {
    guard(|| {
        // SAFETY: the caller vouches for the index.
        let index = unsafe { arguments::handle(index) }?;
        index.change(|changing| {
            changing.convert = convert;
            Ok(())
        })
    })
}

/// The configuration of an index. Absent keys are empty.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Configuration {
    namespaced: Vec<Namespaced>,
    equivalents: Vec<Vec<Equivalent>>,
    schemas: BTreeMap<String, Json>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Namespaced {
    api_version: String,
    kind: String,
    namespaced: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Equivalent {
    resource: Resource,
    #[serde(default)]
    sub_resource: String,
    kind: Kind,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Resource {
    #[serde(default)]
    group: String,
    version: String,
    resource: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    #[serde(default)]
    group: String,
    version: String,
    kind: String,
}

/// Applies a configuration. If any part of it is wrong, nothing changes.
fn configure(changing: &mut Changing, config: Json) -> Result<(), Failure> {
    let config: Configuration = serde_json::from_value(config)
        .map_err(|error| GavelError::new(GavelErrorKind::Argument, format!("options: {error}")))?;
    let mut schemas = Vec::with_capacity(config.schemas.len());
    for (name, schema) in &config.schemas {
        let wrong = |error: &str| {
            GavelError::new(GavelErrorKind::Argument, error).within(&format!("schemas[{name:?}]"))
        };
        let (api_version, kind) = name
            .rsplit_once('/')
            .ok_or_else(|| wrong("must be named group/version/Kind"))?;
        let schema = JsonSchema::read(schema).map_err(|error| wrong(&error.to_string()))?;
        schemas.push((GroupVersionKind::new(api_version, kind), Arc::new(schema)));
    }
    for kind in config.namespaced {
        let namespaced = kind.namespaced;
        let kind = ParamKind {
            api_version: kind.api_version,
            kind: kind.kind,
        };
        changing.index.set_namespaced(&kind, namespaced);
    }
    if !config.equivalents.is_empty() {
        changing
            .index
            .set_equivalents(equivalents(config.equivalents));
    }
    for (kind, schema) in schemas {
        changing.schemas.insert(kind, schema);
    }
    Ok(())
}

/// The resources of each group are equivalent.
pub(crate) fn equivalents(groups: Vec<Vec<Equivalent>>) -> EquivalentResources {
    let mut known = EquivalentResources::default();
    for (n, group) in groups.into_iter().enumerate() {
        for Equivalent {
            resource,
            sub_resource,
            kind,
        } in group
        {
            let resource = GroupVersionResource {
                group: resource.group.into(),
                version: resource.version.into(),
                resource: resource.resource.into(),
            };
            let kind = GroupVersionKind {
                group: kind.group.into(),
                version: kind.version.into(),
                kind: kind.kind.into(),
            };
            known.register(&n.to_string(), resource, &sub_resource, kind);
        }
    }
    known
}

/// Frees an index; null is ignored.
///
/// # Safety
///
/// The index must come from this library, and no call may use it afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_index_free(index: *mut GavelIndex) {
    // SAFETY: the caller gives up the index.
    unsafe { memory::free(index) };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_wrong_configuration_is_rejected_and_changes_nothing() {
        let environments = EnvSet::new(Server::default()).unwrap();
        let mut changing = Changing {
            index: PolicyIndex::new(&environments),
            schemas: ObjectSchemas::new(Server::default()),
            convert: None,
        };
        let mut check = |config: Json, expected: &str| {
            let failure = configure(&mut changing, config.clone()).unwrap_err();
            assert_eq!(failure.message(), expected, "{config}");
            let schemas = format!("{:?}", changing.schemas);
            assert!(schemas.contains("custom: {}"), "{schemas}");
        };
        check(
            json!({"namespaced": {}}),
            "options: invalid type: map, expected a sequence",
        );
        check(
            json!({"namespaced": [{"apiVersion": "v1", "kind": "Limit"}]}),
            "options: missing field `namespaced`",
        );
        check(
            json!({"equivalents": [[{"resource": {"version": "v1", "resource": "pods"}, "subresource": "status"}]]}),
            "options: unknown field `subresource`, expected one of `resource`, `subResource`, `kind`",
        );
        check(
            json!({"schemas": {"a.b/v1/Kind": {"type": "object"}, "Kind": {"type": "object"}}}),
            "schemas[\"Kind\"]: must be named group/version/Kind",
        );
    }

    #[test]
    fn what_cannot_be_found_again_is_rejected() {
        let check = |object: Json, expected: Option<&str>| {
            let found = check_identity(&GavelValue(object.clone())).err();
            let message = found.as_ref().map(|error| error.message());
            let needed = "the object must be a JSON object with apiVersion, kind and metadata.name";
            let expected = expected.map(|rest| format!("{needed}{rest}"));
            assert_eq!(message, expected.as_deref(), "{object}");
        };
        let must = |name| format!("; {name} must be a string that is not empty");
        let named = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        check(named, None);
        check(json!(5), Some(", not a number"));
        check(json!(null), Some(", not null"));
        check(json!([]), Some(", not a list"));
        check(
            json!("{}"),
            Some(&format!(", not a string; {}", crate::json_value::JSON_TEXT)),
        );
        check(json!({}), Some(&must("apiVersion")));
        check(json!({"apiVersion": "v1", "kind": 1}), Some(&must("kind")));
        let unnamed = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": ""}});
        check(unnamed, Some(&must("metadata.name")));
    }

    #[test]
    fn decisions_do_not_wait_while_a_policy_is_decoded_and_compiled() {
        let index = GavelIndex::new(Server::default()).unwrap();
        let policy = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": "a"}, "spec": {"nope": 1},
        });
        // A call that locked the index would wait for ever.
        let _changing = index.changing.lock().unwrap();
        assert!(index.apply(policy).is_err());
    }
}
