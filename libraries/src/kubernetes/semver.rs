//! Semantic versions (apiserver `pkg/cel/library/semverlib.go`).

use std::cmp::Ordering;

use gavel_engine::cost::Cost;
use gavel_engine::decl::{CallContext, Overload};
use gavel_engine::error::EvalError;
use gavel_engine::value::{Arena, Opaque, OpaqueKey, Value};

use super::typed;
use super::values::semver::{ParseVersionError, Version};
use crate::cost::PARSING;

/// The functions.
#[rustfmt::skip] // A table: a row a line.
pub const SEMVER: &[Overload] = &[
    typed("semver", "string_to_semver", "(string) -> kubernetes.Semver", semver, PARSING, "semver('1.2.3-rc.1') != semver('1.2.3')"),
    typed("semver", "string_bool_to_semver", "(string, bool) -> kubernetes.Semver", semver, PARSING, "semver('v01.2', true) == semver('1.2.0')"),
    typed("isSemver", "is_semver_string", "(string) -> bool", is_semver, PARSING, "isSemver('1.0.0') && !isSemver('v1.0')"),
    typed("isSemver", "is_semver_string_bool", "(string, bool) -> bool", is_semver, PARSING, "isSemver('v1.0', true)"),
    typed("major", "semver_major", "kubernetes.Semver.() -> int", major, Cost::ONE.of_name(), "semver('1.2.3').major() == 1"),
    typed("minor", "semver_minor", "kubernetes.Semver.() -> int", minor, Cost::ONE.of_name(), "semver('1.2.3').minor() == 2"),
    typed("patch", "semver_patch", "kubernetes.Semver.() -> int", patch, Cost::ONE.of_name(), "semver('1.2.3').patch() == 3"),
    typed("isLessThan", "semver_is_less_than", "kubernetes.Semver.(kubernetes.Semver) -> bool", is_less_than, Cost::ONE.of_name(), "semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))"),
    typed("isGreaterThan", "semver_is_greater_than", "kubernetes.Semver.(kubernetes.Semver) -> bool", is_greater_than, Cost::ONE.of_name(), "semver('1.10.0').isGreaterThan(semver('1.9.0'))"),
    typed("compareTo", "semver_compare_to", "kubernetes.Semver.(kubernetes.Semver) -> int", compare_to, Cost::ONE.of_name(), "semver('1.2.3+a').compareTo(semver('1.2.3+b')) == 0"),
];

impl Opaque for Version {
    fn type_name(&self) -> &'static str {
        "kubernetes.Semver"
    }

    fn key(&self) -> OpaqueKey {
        OpaqueKey::Unhashable
    }

    fn native_error(&self) -> Option<EvalError> {
        Some(EvalError::unsupported_conversion(
            "semver.Version",
            self.to_text(&Arena::new()),
        ))
    }

    fn equals(&self, other: &Value<'_>) -> Result<bool, EvalError> {
        Ok(self.compare(read(Some(other))?).is_eq())
    }

    fn to_text<'a>(&self, arena: &'a Arena) -> &'a str {
        arena.bump().alloc_str(&self.to_string())
    }
}

fn read<'v>(value: Option<&Value<'v>>) -> Result<&'v Version, EvalError> {
    let version = match value {
        Some(Value::Opaque(opaque)) => opaque.downcast_ref::<Version>(),
        _ => None,
    };
    version.ok_or_else(EvalError::no_such_overload)
}

/// Reads a text, as its normal form where the second argument says so.
fn parse(args: &[Value<'_>]) -> Result<Result<Version, ParseVersionError>, EvalError> {
    match *args {
        [Value::String(text)] | [Value::String(text), Value::Bool(false)] => {
            Ok(Version::parse(text))
        }
        [Value::String(text), Value::Bool(true)] => Ok(Version::parse_normalized(text)),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn semver<'a>(call: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    match parse(args)? {
        Ok(version) => Ok(call.arena.opaque(version)),
        Err(error) => Err(EvalError::new(error.to_string())),
    }
}

fn is_semver<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(parse(args)?.is_ok()))
}

// Numbers past the greatest int wrap around, as upstream's do.

fn major<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Int(read(args.first())?.major.cast_signed()))
}

fn minor<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Int(read(args.first())?.minor.cast_signed()))
}

fn patch<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Int(read(args.first())?.patch.cast_signed()))
}

fn order(args: &[Value<'_>]) -> Result<Ordering, EvalError> {
    Ok(read(args.first())?.compare(read(args.get(1))?))
}

fn is_less_than<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(order(args)?.is_lt()))
}

fn is_greater_than<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Bool(order(args)?.is_gt()))
}

fn compare_to<'a>(_: &CallContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
    Ok(Value::Int(order(args)? as i64))
}
