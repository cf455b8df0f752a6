//! The validation of an object: its type, metadata and schema, then its rules (apiextensions-apiserver
//! `pkg/registry/customresource/{strategy,status_strategy,validator}.go`).

use std::sync::atomic::{AtomicBool, Ordering};

use gavel_apimachinery::field::{Error, Path};
use gavel_apimachinery::meta::{self, GroupVersion, MetadataView};
use gavel_apimachinery::names;
use gavel_engine::value::Json;
use gavel_golang::work::{Interrupt, Interrupted, Work};
use gavel_schema::correlate::{Correlated, Correlation};
use gavel_schema::{JsonSchema, embedded, validate};

use super::compile::{CompiledCrd, CompiledVersion, UnknownVersion};
use super::scale;
use crate::rule::{COST_BUDGET, RuleObserver};

/// How an object is validated.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use gavel_crd::resource::ValidateOptions;
///
/// let deadline = Instant::now() + Duration::from_millis(50);
/// let is_over = || Instant::now() >= deadline;
/// let update_of_status = ValidateOptions { status: true, interrupt: Some(&is_over), ..ValidateOptions::default() };
/// ```
#[derive(Clone, Copy)]
pub struct ValidateOptions<'a> {
    /// The cost budget of all rules together, in cost units. Default: [`COST_BUDGET`].
    pub budget: i64,
    /// Whether the metadata is validated. Default: true.
    pub metadata: bool,
    /// Whether only the status is updated, through its subresource. Default: false.
    pub status: bool,
    /// Whether the rules run even if an earlier error would keep an API server from running them. Default: false.
    pub force_rules: bool,
    /// A callback for the host's deadline or cancellation flag. It is called from time to time; if it returns true, the validation ends,
    /// and its outcome is invalid and [`interrupted`](Outcome::interrupted). Default: `None`, no interrupt.
    pub interrupt: Interrupt<'a>,
    /// A callback for the rules that are evaluated. Default: `None`.
    pub observer: RuleObserver<'a>,
}

impl Default for ValidateOptions<'_> {
    fn default() -> Self {
        ValidateOptions {
            budget: COST_BUDGET,
            metadata: true,
            status: false,
            force_rules: false,
            interrupt: None,
            observer: None,
        }
    }
}

impl std::fmt::Debug for ValidateOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ValidateOptions")
            .field("budget", &self.budget)
            .field("metadata", &self.metadata)
            .field("status", &self.status)
            .field("force_rules", &self.force_rules)
            .finish_non_exhaustive()
    }
}

/// The result of a validation.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "the object may be invalid"]
pub struct Outcome {
    /// All errors except those of rules: the errors of `apiVersion`, `kind`, metadata, values, list types and scale.
    pub schema_errors: Vec<Error>,
    /// The errors of rules.
    pub rule_errors: Vec<Error>,
    /// Warnings for clients: the rule errors that the object already had before the update.
    pub warnings: Vec<String>,
    /// The errors of messageExpressions that failed; at most 100. The API server logs them and uses the rule's `message` instead.
    pub notes: Vec<String>,
    /// The remaining budget, in cost units; negative if the evaluation of the rules was stopped, for example because they exceeded the
    /// budget.
    pub remaining_budget: i64,
    /// Whether the rules ran.
    pub rules: RuleRun,
    /// Whether the host interrupted the validation. The errors then include `operation interrupted`, and say little about the object.
    pub interrupted: bool,
}

/// Whether the `x-kubernetes-validations` of a definition ran for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleRun {
    /// There are no rules.
    None,
    /// The rules did not run because of earlier errors.
    Skipped,
    /// The rules ran.
    Run,
}

impl Outcome {
    /// The outcome of a validation that was interrupted.
    fn of_interrupt(budget: i64) -> Self {
        let error = Error::internal(&Path::root(), Interrupted.to_string());
        Outcome {
            schema_errors: vec![error],
            rule_errors: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
            remaining_budget: budget,
            rules: RuleRun::Skipped,
            interrupted: true,
        }
    }

    /// Whether there are no errors.
    pub fn is_valid(&self) -> bool {
        self.schema_errors.is_empty() && self.rule_errors.is_empty()
    }

    /// All errors, in the API server's order.
    pub fn errors(&self) -> impl Iterator<Item = &Error> {
        self.schema_errors.iter().chain(&self.rule_errors)
    }
}

impl CompiledCrd {
    /// Validates an object that is created or, with an old object, updated. Both objects must have been [decoded](CompiledCrd::decode).
    /// `budget` is the cost budget of all rules together, in cost units: usually [`COST_BUDGET`].
    ///
    /// # Errors
    ///
    /// The definition does not have this version.
    pub fn validate(
        &self,
        version: &str,
        object: &Json,
        old: Option<&Json>,
        budget: i64,
    ) -> Result<Outcome, UnknownVersion> {
        let options = ValidateOptions {
            budget,
            ..ValidateOptions::default()
        };
        self.validate_with(version, object, old, &options)
    }

    /// Like [`CompiledCrd::validate`], with all options.
    ///
    /// # Errors
    ///
    /// The definition does not have this version.
    pub fn validate_with(
        &self,
        version: &str,
        object: &Json,
        old: Option<&Json>,
        options: &ValidateOptions<'_>,
    ) -> Result<Outcome, UnknownVersion> {
        let version = self.version(version)?;
        let empty = JsonSchema::default();
        let schema = version.schema.as_deref().unwrap_or(&empty);
        let correlation = old.map(|old| Correlation::new(object, old, schema));
        let is_over = AtomicBool::new(false);
        let noted = options.interrupt.map(|ask| {
            let is_over = &is_over;
            move || {
                let stops = ask();
                if stops {
                    is_over.store(true, Ordering::Relaxed);
                }
                stops
            }
        });
        let validation = ObjectValidation {
            crd: self,
            version,
            object,
            was: correlation.as_ref().map(Correlation::root),
            options: &ValidateOptions {
                interrupt: noted.as_ref().map(|noted| noted as _),
                ..*options
            },
        };
        let interrupted = |_| Outcome::of_interrupt(options.budget);
        let mut outcome = validation.run().unwrap_or_else(interrupted);
        outcome.interrupted = is_over.into_inner();
        Ok(outcome)
    }
}

/// The validation of one object.
struct ObjectValidation<'v, 'd> {
    crd: &'v CompiledCrd,
    version: &'d CompiledVersion,
    object: &'d Json,
    /// The object before the update.
    was: Option<Correlated<'v, 'd>>,
    options: &'v ValidateOptions<'v>,
}

impl ObjectValidation<'_, '_> {
    fn run(&self) -> Result<Outcome, Interrupted> {
        let work = Work::new(self.options.interrupt);
        let schema_errors = self.schema_errors(&work)?;
        let mut outcome = Outcome {
            schema_errors,
            rule_errors: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
            remaining_budget: self.options.budget,
            rules: RuleRun::None,
            interrupted: false,
        };
        let Some(rules) = &self.version.rules else {
            return Ok(outcome);
        };
        let blocked = validate::blocked(&outcome.schema_errors);
        if let Some(error) = blocked.filter(|_| !self.options.force_rules) {
            outcome.rule_errors.push(error);
            outcome.rules = RuleRun::Skipped;
            return Ok(outcome);
        }
        let options = self.options;
        let report = rules.run(
            self.object,
            self.was,
            options.budget,
            options.interrupt,
            options.observer,
        );
        outcome.remaining_budget = report.remaining();
        outcome.notes = report.notes;
        outcome.rule_errors = report.errors;
        outcome.warnings = report.warnings;
        outcome.rules = RuleRun::Run;
        Ok(outcome)
    }

    fn schema_errors(&self, work: &Work<'_>) -> Result<Vec<Error>, Interrupted> {
        work.ask()?;
        let mut errors = self.own_errors(work)?;
        work.ask()?;
        if self.version.has_embedded && !self.options.status {
            let structural = self.version.structural();
            errors.extend(embedded::validate(
                self.object,
                structural,
                false,
                &Path::root(),
                self.crd.server,
            ));
        }
        errors.extend(self.list_type_errors(work)?);
        Ok(errors)
    }

    /// The errors of metadata, values and scale. If the object has the wrong `apiVersion` or `kind`, only the errors of these two fields
    /// are returned.
    fn own_errors(&self, work: &Work<'_>) -> Result<Vec<Error>, Interrupted> {
        let expected = GroupVersion {
            group: &self.crd.group,
            version: &self.version.name,
        };
        let mut errors = meta::validate_type(self.object, expected, &self.crd.kind);
        if !errors.is_empty() {
            return Ok(errors);
        }
        if self.options.metadata {
            errors.extend(self.metadata_errors());
        }
        errors.extend(self.value_errors(work)?);
        if let Some(scale) = &self.version.scale {
            if !self.options.status {
                scale::validate_spec(self.object, scale, &mut errors);
            }
            scale::validate_status(self.object, scale, &mut errors);
        }
        Ok(errors)
    }

    fn metadata_errors(&self) -> Vec<Error> {
        let (path, metadata) = (Path::new("metadata"), MetadataView::of(self.object));
        let server = self.crd.server;
        let errors = match self.was {
            Some(was) => {
                let old = MetadataView::of(was.old_value());
                meta::validate_update(metadata, old, &path, server)
            }
            None => meta::validate(
                metadata,
                self.crd.is_namespaced,
                names::subdomain_name,
                &path,
                server,
            ),
        };
        meta::without_repetitions(errors, server)
    }

    fn value_errors(&self, work: &Work<'_>) -> Result<Vec<Error>, Interrupted> {
        let (validator, path, value, was) = match self.options.status {
            false => (
                &self.version.validator,
                Path::root(),
                Some(self.object),
                self.was,
            ),
            true => (
                &self.version.status_validator,
                Path::new("status"),
                self.object.get("status"),
                self.was.and_then(|was| was.key("status")),
            ),
        };
        match (validator, value, was) {
            (None, ..) | (_, None, _) => Ok(Vec::new()),
            (Some(validator), _, Some(was)) => validator.validate_update(&path, was, work),
            (Some(validator), Some(value), None) => validator.validate_within(&path, value, work),
        }
    }

    /// The errors for duplicates in lists of type set and map; empty if the old object had duplicates too.
    fn list_type_errors(&self, work: &Work<'_>) -> Result<Vec<Error>, Interrupted> {
        let Some(validator) = self.version.list_types() else {
            return Ok(Vec::new());
        };
        let errors = validator.validate_list_types(&Path::root(), self.object, work)?;
        if let (false, Some(was)) = (errors.is_empty(), self.was) {
            let old = validator.validate_list_types(&Path::root(), was.old_value(), work)?;
            if !old.is_empty() {
                return Ok(Vec::new());
            }
        }
        Ok(errors)
    }
}
