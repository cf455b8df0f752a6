//! Validates and compiles CustomResourceDefinitions, and estimates the costs of their rules.

use gavel_apimachinery::server::Server;
use gavel_crd::CompiledCrd;
use gavel_crd::definition::{Definition, SchemaReport};
use gavel_crd::rule::{Age, RuleEnvs};
use gavel_engine::value::Json;
use gavel_protocol::{FieldError, Rule, Total, server_of};
use serde::Serialize;

use crate::arguments;
use crate::environment::options;
use crate::error::{Failure, GavelError, GavelErrorKind, guard, guard_compiling};
use crate::json_value::GavelValue;
use crate::memory::{self, GavelBytes, GavelSlice};

/// A compiled definition.
#[derive(Debug)]
pub struct GavelCrd {
    pub(crate) crd: CompiledCrd,
    storage_version: String,
}

/// The error of a definition that cannot be compiled or read.
pub(crate) fn uncompiled(error: impl std::fmt::Display) -> Failure {
    GavelError::new(GavelErrorKind::Compile, error.to_string())
}

/// The errors and warnings of a created or updated definition, and the costs of its rules.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    errors: Vec<FieldError>,
    warnings: Vec<String>,
    rules: Vec<Rule>,
    totals: Vec<Total>,
    compatibility_version: String,
}

/// The keys of the configuration of a report.
const REPORT_KEYS: &[&str] = &["server", "k8sVersion", "mode"];
/// The keys of configurations that only select an API server.
pub(crate) const SERVER_KEYS: &[&str] = &["server", "k8sVersion"];

const DEFINITION: &str = "the definition must be a JSON object";

/// Validates a created definition, or an updated definition if `old` is neither a null pointer nor JSON null. `out` receives a JSON object:
/// `errors` (each with `type`, `field`, `badValue`, `detail` and `string`, in the API server's order), `warnings`, `rules`, `totals` and
/// `compatibilityVersion`, as in the batch protocol. `config` is JSON with the keys `server`, `k8sVersion` and `mode` ("new" or "stored").
///
/// # Safety
///
/// `definition` must be a value that was not freed. `old` must be null or a value that was not freed. `config` must point to `config_len`
/// bytes, and `out` to memory for bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_definition_validate(
    definition: *const GavelValue,
    old: *const GavelValue,
    config: *const u8,
    config_len: usize,
    out: *mut GavelBytes,
) -> *mut GavelError {
    guard_compiling(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the value.
        let definition = unsafe { arguments::handle(definition) }?;
        // SAFETY: the caller vouches for the value.
        let old = unsafe { arguments::old(old) };
        // SAFETY: the caller vouches for the bytes.
        let config = options(
            unsafe { arguments::bytes(config, config_len) }?,
            REPORT_KEYS,
        )?;
        definition.object(DEFINITION)?;
        let report = report(&definition.0, old, &config)?;
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write(out, document(&report)?.into()) };
        Ok(())
    })
}

fn report(definition: &Json, old: Option<&Json>, config: &Json) -> Result<Report, Failure> {
    let server = server_of(config, Server::compatible)?;
    let envs = RuleEnvs::new(server).map_err(uncompiled)?;
    let read = |json| {
        Definition::read(json)
            .map_err(|error| GavelError::new(GavelErrorKind::Decode, error.to_string()))
    };
    let definition = read(definition)?;
    let old = old
        .map(read)
        .transpose()
        .map_err(|error| error.within("oldCrd"))?;
    let errors = match &old {
        Some(old) => definition.validate_update(old, &envs),
        None => definition.validate(&envs),
    };
    let age = match config.get("mode").and_then(Json::as_str) {
        Some("stored") => Age::Stored,
        _ => Age::New,
    };
    let schemas: Vec<SchemaReport<'_>> = definition.rules(&envs, age);
    Ok(Report {
        errors: FieldError::list(&errors),
        warnings: definition.warnings(old.as_ref(), server),
        rules: schemas.iter().flat_map(Rule::of_schema).collect(),
        totals: schemas.iter().map(Total::of).collect(),
        compatibility_version: server.language().to_string(),
    })
}

/// Serializes an answer as JSON.
pub(crate) fn document(answer: &impl Serialize) -> Result<Vec<u8>, Failure> {
    let text = serde_json::to_vec(answer);
    text.map_err(|error| GavelError::new(GavelErrorKind::Panic, error.to_string()))
}

/// Compiles a definition for the validation of its objects. The definition must be valid, as in the storage of an API server. `config` is
/// JSON with the keys `server` and `k8sVersion`.
///
/// # Safety
///
/// `definition` must be a value that was not freed. `config` must point to `config_len` bytes, and `out` to memory for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_crd_compile(
    definition: *const GavelValue,
    config: *const u8,
    config_len: usize,
    out: *mut *mut GavelCrd,
) -> *mut GavelError {
    guard_compiling(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the value.
        let definition = unsafe { arguments::handle(definition) }?;
        // SAFETY: the caller vouches for the bytes.
        let config = options(
            unsafe { arguments::bytes(config, config_len) }?,
            SERVER_KEYS,
        )?;
        definition.object(DEFINITION)?;
        let definition = Definition::read(&definition.0).map_err(uncompiled)?;
        let server = server_of(&config, |server| server)?;
        let storage = definition.storage_version();
        let crd = GavelCrd {
            storage_version: storage.map_or_else(String::new, |version| version.name.clone()),
            crd: CompiledCrd::compile_for(&definition, server).map_err(uncompiled)?,
        };
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write_handle(out, crd) };
        Ok(())
    })
}

/// Returns the version in which objects are stored. The text lives as long as the definition.
///
/// # Safety
///
/// `crd` must be a definition that was not freed, and `out` must point to memory for the answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_crd_storage_version(
    crd: *const GavelCrd,
    out: *mut GavelSlice,
) -> *mut GavelError {
    guard(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the definition.
        let crd = unsafe { arguments::handle(crd) }?;
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write(out, crd.storage_version.as_bytes().into()) };
        Ok(())
    })
}

/// Frees a definition; null is ignored.
///
/// # Safety
///
/// The definition must come from this library, and no call may use it afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_crd_free(crd: *mut GavelCrd) {
    // SAFETY: the caller gives up the definition.
    unsafe { memory::free(crd) };
}
