//! Semantic versions (apiserver `pkg/cel/library/semverlib.go`).

use std::borrow::Cow;
use std::cmp::Ordering;

use gavel_engine::body;
use gavel_engine::cost::Cost;
use gavel_engine::decl::{CallContext, Form, Overload, row};
use gavel_engine::error::EvalError;
use gavel_engine::value::{Opaque, OpaqueKey, Value};

use super::values::semver::{ParseVersionError, Version};
use crate::cost::PARSING;

/// The functions of semantic versions.
#[rustfmt::skip] // One row per line.
pub const SEMVER: &[Overload] = &[
    row("semver", "string_to_semver", "(string) -> kubernetes.Semver", body!(semver), "semver('1.2.3-rc.1') != semver('1.2.3')").form(Form::Parse).cost(PARSING),
    row("semver", "string_bool_to_semver", "(string, bool) -> kubernetes.Semver", body!(semver_of), "semver('v01.2', true) == semver('1.2.0')").cost(PARSING),
    row("isSemver", "is_semver_string", "(string) -> bool", body!(is_semver), "isSemver('1.0.0') && !isSemver('v1.0')").cost(PARSING),
    row("isSemver", "is_semver_string_bool", "(string, bool) -> bool", body!(is_semver_of), "isSemver('v1.0', true)").cost(PARSING),
    row("major", "semver_major", "kubernetes.Semver.() -> int", body!(major), "semver('1.2.3').major() == 1").cost(Cost::ONE.of_name()),
    row("minor", "semver_minor", "kubernetes.Semver.() -> int", body!(minor), "semver('1.2.3').minor() == 2").cost(Cost::ONE.of_name()),
    row("patch", "semver_patch", "kubernetes.Semver.() -> int", body!(patch), "semver('1.2.3').patch() == 3").cost(Cost::ONE.of_name()),
    row("isLessThan", "semver_is_less_than", "kubernetes.Semver.(kubernetes.Semver) -> bool", body!(is_less_than), "semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))").cost(Cost::ONE.of_name()),
    row("isGreaterThan", "semver_is_greater_than", "kubernetes.Semver.(kubernetes.Semver) -> bool", body!(is_greater_than), "semver('1.10.0').isGreaterThan(semver('1.9.0'))").cost(Cost::ONE.of_name()),
    row("compareTo", "semver_compare_to", "kubernetes.Semver.(kubernetes.Semver) -> int", body!(compare_to), "semver('1.2.3+a').compareTo(semver('1.2.3+b')) == 0").cost(Cost::ONE.of_name()),
];

impl Opaque for Version {
    fn type_name(&self) -> &'static str {
        "kubernetes.Semver"
    }

    fn key(&self) -> OpaqueKey {
        OpaqueKey::Unhashable
    }

    fn wrapped_go_type(&self) -> Option<&'static str> {
        Some("semver.Version")
    }

    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        let other = other.as_opaque().ok_or_else(EvalError::no_such_overload)?;
        Ok(self.compare(other).is_eq())
    }

    fn bytes(&self) -> usize {
        Version::bytes(self)
    }

    fn to_text(&self) -> Cow<'_, str> {
        Cow::Owned(self.to_string())
    }
}

/// Parses a text; leniently if `normalized` is true.
fn parse(text: &str, normalized: bool) -> Result<Version, ParseVersionError> {
    match normalized {
        true => Version::parse_normalized(text),
        false => Version::parse(text),
    }
}

fn semver<'a>(call: &CallContext<'a>, text: &str) -> Result<Value<'a>, EvalError> {
    semver_of(call, text, false)
}

fn semver_of<'a>(
    call: &CallContext<'a>,
    text: &str,
    normalized: bool,
) -> Result<Value<'a>, EvalError> {
    let version = parse(text, normalized).map_err(|error| EvalError::new(error.to_string()))?;
    Ok(call.arena.opaque(version))
}

fn is_semver(text: &str) -> bool {
    parse(text, false).is_ok()
}

fn is_semver_of(text: &str, normalized: bool) -> bool {
    parse(text, normalized).is_ok()
}

// As upstream, these functions wrap numbers above the greatest int around.

fn major(version: &Version) -> i64 {
    version.major.cast_signed()
}

fn minor(version: &Version) -> i64 {
    version.minor.cast_signed()
}

fn patch(version: &Version) -> i64 {
    version.patch.cast_signed()
}

fn is_less_than(
    call: &CallContext<'_>,
    left: &Version,
    right: &Version,
) -> Result<bool, EvalError> {
    compare(call, left, right).map(Ordering::is_lt)
}

fn is_greater_than(
    call: &CallContext<'_>,
    left: &Version,
    right: &Version,
) -> Result<bool, EvalError> {
    compare(call, left, right).map(Ordering::is_gt)
}

fn compare_to(call: &CallContext<'_>, left: &Version, right: &Version) -> Result<i64, EvalError> {
    compare(call, left, right).map(|order| order as i64)
}

fn compare(call: &CallContext<'_>, left: &Version, right: &Version) -> Result<Ordering, EvalError> {
    call.work(left.bytes())?;
    Ok(left.compare(right))
}
