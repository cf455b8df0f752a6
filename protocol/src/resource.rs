//! `op=validate`: validates a custom resource as the API server does.

use gavel_crd::CompiledCrd;
use gavel_crd::decode::Source;
use gavel_crd::resource::{COST_BUDGET, DecodeError, DecodeOptions, RuleRun, ValidateOptions};
use gavel_engine::value::Json;
use gavel_libraries::Server;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::answer::Problem;
use crate::field_error::{FieldError, written};
use crate::request::{Fields, RequestError};

/// A `validate` request.
#[derive(Debug)]
pub(crate) struct ValidateRequest {
    /// The API server.
    pub(crate) server: Server,
    /// The version of the definition; by default the storage version.
    version: Option<String>,
    object: Json,
    old: Option<Json>,
    budget: i64,
    decoding: DecodeOptions,
    prepare: bool,
    status: bool,
    metadata: bool,
    force_rules: bool,
    return_object: bool,
}

/// The answer to a `validate` request.
#[derive(Debug, Serialize)]
pub(crate) struct ValidateAnswer<'a> {
    id: &'a Json,
    ok: bool,
    #[serde(flatten)]
    verdict: ValidateOutcome,
}

/// The outcome of a `validate` request.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum ValidateOutcome {
    /// The object or the old object cannot be decoded.
    Refused {
        /// The reason.
        error: Problem,
    },
    /// The object was validated.
    Validated(Box<Validated>),
}

/// The answer about an object that was validated. Keys that do not apply are absent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Validated {
    #[serde(skip)]
    is_valid: bool,
    schema_errors: Vec<FieldError>,
    cel_errors: Vec<FieldError>,
    remaining_budget: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cel_cost: Option<i64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cel_skipped: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    no_rules: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown_fields: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<Box<RawValue>>,
}

impl<'a> ValidateAnswer<'a> {
    /// The answer to the request with this id.
    pub(crate) fn new(id: &'a Json, verdict: ValidateOutcome) -> Self {
        let ok = matches!(&verdict, ValidateOutcome::Validated(validated) if validated.is_valid);
        ValidateAnswer { id, ok, verdict }
    }
}

impl ValidateRequest {
    /// Reads the keys of a `validate` request.
    pub(crate) fn read(mut fields: Fields) -> Result<Self, RequestError> {
        let missing = |what: &str| RequestError(format!("{what} must be set"));
        let status = fields.text("subresource")?.as_deref() == Some("status");
        let old = fields.take("oldObject");
        if status && old.is_none() {
            let message = "oldObject must be set where subresource is \"status\"";
            return Err(RequestError(message.to_owned()));
        }
        Ok(ValidateRequest {
            server: fields.server()?,
            version: fields.text("version")?.filter(|name| !name.is_empty()),
            object: fields.take("object").ok_or_else(|| missing("object"))?,
            old,
            budget: fields.integer("costBudget")?.unwrap_or(COST_BUDGET),
            decoding: DecodeOptions {
                source: Source::Request,
                prune: fields.optional_flag("prune")?.unwrap_or(true),
                default: fields.optional_flag("default")?.unwrap_or(true),
            },
            prepare: fields.flag("prepare")?,
            status,
            metadata: fields.flag("validateMeta")?,
            force_rules: fields.flag("forceCEL")?,
            return_object: fields.flag("returnObject")?,
        })
    }

    /// Validates the object against the definition.
    pub(crate) fn verdict(self, crd: &CompiledCrd) -> Result<ValidateOutcome, RequestError> {
        let how = self.decoding;
        let refused = |what: &str, error: DecodeError| ValidateOutcome::Refused {
            error: Problem {
                phase: "decode",
                message: format!("{what}: {error}"),
            },
        };
        let decoded = match crd.decode(self.object, how) {
            Ok(decoded) => decoded,
            Err(error) => return Ok(refused("object", error)),
        };
        let (mut object, mut unknown_fields) = (decoded.object, decoded.unknown_fields);
        let stored = DecodeOptions {
            source: Source::Storage,
            ..how
        };
        let old = match self.old.map(|old| crd.decode(old, stored)).transpose() {
            Ok(old) => old.map(|decoded| decoded.object),
            Err(error) => return Ok(refused("oldObject", error)),
        };
        let version = self.version.as_deref();
        let version = version.or(crd.storage_version());
        let version = version.unwrap_or_default();
        let prepared = match self.prepare {
            true => crd.prepare(version, &mut object, old.as_ref(), self.status),
            false => Ok(()),
        };
        let options = ValidateOptions {
            budget: self.budget,
            metadata: self.metadata,
            status: self.status,
            force_rules: self.force_rules,
            ..ValidateOptions::default()
        };
        let outcome = prepared
            .and_then(|()| crd.validate_with(version, &object, old.as_ref(), &options))
            .map_err(|error| RequestError(format!("crd: {error}")))?;
        let remaining = outcome.remaining_budget;
        let mut warnings = outcome.warnings.clone();
        warnings.sort();
        unknown_fields.sort();
        Ok(ValidateOutcome::Validated(Box::new(Validated {
            is_valid: outcome.is_valid(),
            schema_errors: FieldError::sorted(&outcome.schema_errors),
            cel_errors: FieldError::sorted(&outcome.rule_errors),
            remaining_budget: remaining,
            cel_cost: (remaining >= 0).then(|| self.budget.saturating_sub(remaining)),
            cel_skipped: outcome.rules == RuleRun::Skipped,
            no_rules: outcome.rules == RuleRun::None,
            warnings,
            unknown_fields,
            object: self.return_object.then(|| written(&object)).flatten(),
        })))
    }
}
