//! Decodes, prepares and validates custom resources.

use std::ptr::NonNull;

use gavel_crd::decode::Source;
use gavel_crd::resource::{COST_BUDGET, DecodeOptions, Outcome, RuleRun, ValidateOptions};
use gavel_crd::rule::RuleFindings;
use gavel_protocol::FieldError;
use serde::Serialize;

use crate::arguments;
use crate::definition::{GavelCrd, document};
use crate::error::{GavelError, GavelErrorKind, guard};
use crate::json_value::GavelValue;
use crate::memory::{self, GavelBytes};
use crate::options::{GavelOptions, Limits};

/// Options for decoding an object. If all fields are false, the object is decoded as an API server decodes the body of a request.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct GavelDecode {
    /// Whether the object comes from storage, not from a request.
    pub from_storage: bool,
    /// Whether unknown fields are kept.
    pub keep_unknown: bool,
    /// Whether absent fields stay absent instead of receiving their defaults.
    pub no_defaults: bool,
}

/// Options for validating an object. If all fields are false, the object is validated as in an API server.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct GavelValidate {
    /// Whether metadata is not validated.
    pub skip_metadata: bool,
    /// Whether the request is an update of the status subresource.
    pub status: bool,
    /// Whether rules run even if an API server would skip them because of schema errors.
    pub force_rules: bool,
}

/// The outcome of validating an object.
#[repr(C)]
#[derive(Debug)]
pub struct GavelValidation {
    /// Whether the object is valid.
    pub valid: bool,
    /// Whether the definition has no rules.
    pub no_rules: bool,
    /// Whether the rules were skipped because of schema errors.
    pub rules_skipped: bool,
    /// The remaining budget in cost units. Negative if a rule exceeded a limit, which ends the validation.
    pub remaining_budget: i64,
    /// A JSON object: `schemaErrors` and `ruleErrors` (lists of errors with `type`, `field`, `badValue`, `detail` and `string`), `warnings`
    /// and `notes`. Empty if the object is valid and has no warnings. The host frees the bytes.
    pub findings: GavelBytes,
}

/// The errors and warnings of a validation, which are serialized as JSON for the host.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Findings<'o> {
    schema_errors: Vec<FieldError>,
    rule_errors: Vec<FieldError>,
    warnings: &'o [String],
    notes: &'o [String],
}

impl From<Outcome> for GavelValidation {
    fn from(outcome: Outcome) -> Self {
        let is_silent = outcome.is_valid() && outcome.warnings.is_empty();
        let findings = || {
            let findings = Findings {
                schema_errors: FieldError::list(&outcome.schema_errors),
                rule_errors: FieldError::list(&outcome.rule_errors),
                warnings: &outcome.warnings,
                notes: &outcome.notes,
            };
            document(&findings).map_or(GavelBytes::NONE, GavelBytes::from)
        };
        GavelValidation {
            valid: outcome.is_valid(),
            no_rules: outcome.rules == RuleRun::None,
            rules_skipped: outcome.rules == RuleRun::Skipped,
            remaining_budget: outcome.remaining_budget,
            findings: match is_silent {
                true => GavelBytes::NONE,
                false => findings(),
            },
        }
    }
}

impl From<RuleFindings> for GavelValidation {
    fn from(found: RuleFindings) -> Self {
        Outcome {
            schema_errors: Vec::new(),
            rule_errors: found.errors,
            warnings: found.warnings,
            notes: found.notes,
            remaining_budget: found.remaining_budget,
            rules: RuleRun::Run,
            interrupted: false,
        }
        .into()
    }
}

/// Decodes an object as an API server decodes it: drops unknown fields and sets defaults. `unknown` receives a JSON list of the paths of
/// unknown fields, or no bytes if all fields are known.
///
/// # Safety
///
/// `crd` and `object` must be handles that were not freed. `out` must point to memory for a handle. `unknown` must be null or point to
/// memory for bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_crd_decode(
    crd: *const GavelCrd,
    object: *const GavelValue,
    how: GavelDecode,
    out: *mut *mut GavelValue,
    unknown: *mut GavelBytes,
) -> *mut GavelError {
    guard(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the definition.
        let crd = unsafe { arguments::handle(crd) }?;
        // SAFETY: the caller vouches for the value.
        let object = unsafe { arguments::handle(object) }?;
        let how = DecodeOptions {
            source: match how.from_storage {
                true => Source::Storage,
                false => Source::Request,
            },
            prune: !how.keep_unknown,
            default: !how.no_defaults,
        };
        let decoded = crd.crd.decode(object.0.clone(), how);
        let decoded =
            decoded.map_err(|error| GavelError::new(GavelErrorKind::Decode, error.to_string()))?;
        let fields = match decoded.unknown_fields.as_slice() {
            [] => Vec::new(),
            fields => document(&fields)?,
        };
        if let Some(unknown) = NonNull::new(unknown) {
            // SAFETY: the caller vouches for `unknown`, and it is not null.
            unsafe { memory::write(unknown, fields.into()) };
        }
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write_handle(out, GavelValue(decoded.object)) };
        Ok(())
    })
}

/// Prepares an object for validation, as an API server does after admission: resets the fields that the request cannot set. `status` says
/// whether the request is an update of the status subresource. For a created object, `old` is a null pointer or JSON null.
///
/// # Safety
///
/// `crd` and `object` must be handles that were not freed. `old` must be null or a handle that was not freed. `version` must point to
/// `version_len` bytes, and `out` to memory for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_crd_prepare(
    crd: *const GavelCrd,
    version: *const u8,
    version_len: usize,
    object: *const GavelValue,
    old: *const GavelValue,
    status: bool,
    out: *mut *mut GavelValue,
) -> *mut GavelError {
    guard(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the definition.
        let crd = unsafe { arguments::handle(crd) }?;
        // SAFETY: the caller vouches for the text.
        let version = unsafe { arguments::text(version, version_len) }?;
        // SAFETY: the caller vouches for the value.
        let object = unsafe { arguments::handle(object) }?;
        // SAFETY: the caller vouches for the value.
        let old = unsafe { arguments::old(old) };
        let mut object = object.0.clone();
        let prepared = crd.crd.prepare(version, &mut object, old, status);
        prepared.map_err(|error| GavelError::new(GavelErrorKind::Argument, error.to_string()))?;
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write_handle(out, GavelValue(object)) };
        Ok(())
    })
}

/// Validates a created object, or an updated object if `old` is neither a null pointer nor JSON null. `object` and `old` must be decoded
/// objects.
///
/// # Safety
///
/// `crd` and `object` must be handles that were not freed. `old` must be null or a handle that was not freed. `version` must point to
/// `version_len` bytes, and `out` to memory for the answer. `options` must be null or point to options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gavel_crd_validate(
    crd: *const GavelCrd,
    version: *const u8,
    version_len: usize,
    object: *const GavelValue,
    old: *const GavelValue,
    how: GavelValidate,
    options: *const GavelOptions,
    out: *mut GavelValidation,
) -> *mut GavelError {
    guard(|| {
        let out = arguments::out(out)?;
        // SAFETY: the caller vouches for the definition.
        let crd = unsafe { arguments::handle(crd) }?;
        // SAFETY: the caller vouches for the text.
        let version = unsafe { arguments::text(version, version_len) }?;
        // SAFETY: the caller vouches for the value.
        let object = unsafe { arguments::handle(object) }?;
        // SAFETY: the caller vouches for the value.
        let old = unsafe { arguments::old(old) };
        // SAFETY: the caller vouches for the options.
        let limits = unsafe { Limits::read(options) };
        let interrupt = || limits.is_over();
        let options = ValidateOptions {
            budget: limits.cost.unwrap_or(COST_BUDGET),
            metadata: !how.skip_metadata,
            status: how.status,
            force_rules: how.force_rules,
            interrupt: limits.interrupt(&interrupt),
            observer: None,
        };
        let outcome = crd.crd.validate_with(version, &object.0, old, &options);
        let outcome = outcome
            .map_err(|error| GavelError::new(GavelErrorKind::Argument, error.to_string()))?;
        limits.check()?;
        // SAFETY: the caller vouches for `out`.
        unsafe { memory::write(out, outcome.into()) };
        Ok(())
    })
}
