//! Errors of values, and their messages (kube-openapi `pkg/validation/errors`, apiextensions-apiserver
//! `pkg/apiserver/validation/validation.go`).

use std::collections::HashSet;
use std::fmt::{self, Write};

use gavel_apimachinery::field::{BadValue, Error, Errors, MAX_ERROR_BYTES, Path};
use gavel_apimachinery::json;
use gavel_engine::value::Json;
use gavel_golang::float;
use gavel_golang::quote::quote;
use serde_json::Number;

use super::pattern::Pattern;
use super::trail::{Place, Places, Trail};
use crate::equal::Numeric;

/// The result of validating a value.
#[derive(Debug, Default)]
pub(super) struct Outcome<'f> {
    pub(super) faults: Vec<Fault<'f>>,
    /// How well the value matches: the number of successful checks, as upstream counts them; upstream also counts some failed checks. If
    /// all alternatives fail, the errors of the alternative with the highest number are reported.
    pub(super) matches: usize,
}

impl<'f> Outcome<'f> {
    pub(super) fn is_valid(&self) -> bool {
        self.faults.is_empty()
    }

    pub(super) fn merge(&mut self, other: Outcome<'f>) {
        self.faults.extend(other.faults);
        self.count(other.matches);
    }

    /// Adds a fault. Beyond the maximum number of faults, only the first fault of each outcome is added, because it makes the value invalid.
    pub(super) fn add(&mut self, trail: &Trail<'_, 'f>, cause: Cause<'f>) {
        if trail.admits_fault() || self.is_valid() {
            let place = trail.place();
            self.faults.push(Fault { place, cause });
        }
    }

    pub(super) fn count(&mut self, matches: usize) {
        self.matches = self.matches.saturating_add(matches);
    }
}

/// An error and the path of the invalid value.
#[derive(Debug)]
pub(super) struct Fault<'f> {
    place: Option<Place>,
    cause: Cause<'f>,
}

/// An error in a value.
#[derive(Debug)]
pub(super) enum Cause<'f> {
    /// The value has the wrong type or format. `found` is the type or the format of the value; if a string does not have the expected
    /// format, `found` is the string itself.
    Type {
        expected: &'f str,
        found: &'f str,
    },
    Required,
    Enumeration {
        value: &'f Json,
        allowed: &'f [Json],
    },
    TooLong {
        most: i64,
    },
    TooShort {
        least: i64,
        text: &'f str,
    },
    Pattern {
        pattern: &'f Pattern,
        text: &'f str,
    },
    /// A number, or a limit of the schema, does not fit the schema's type and format.
    Range {
        what: &'static str,
        kind: &'static str,
        format: &'static str,
    },
    FactorNotPositive {
        factor: Numeric,
    },
    NotMultiple {
        factor: Numeric,
        number: Numeric,
    },
    TooLarge {
        most: Numeric,
        exclusive: bool,
        number: Numeric,
    },
    TooSmall {
        least: Numeric,
        exclusive: bool,
        number: Numeric,
    },
    TooManyItems {
        most: i64,
        actual: i64,
    },
    TooFewItems {
        least: i64,
        actual: i64,
    },
    NotUnique,
    TooManyProperties {
        most: i64,
        actual: i64,
    },
    TooFewProperties {
        least: i64,
        actual: i64,
    },
    UnknownProperty {
        name: &'f str,
    },
    AnyOf,
    OneOf {
        valid: usize,
    },
    AllOf {
        valid: usize,
    },
    Not,
}

/// Converts faults to errors with field paths, and removes duplicates. Stops when the messages, with those of duplicates, or the errors
/// reach the size limit of errors.
pub(super) fn errors(base: &Path<'_>, places: &Places<'_>, faults: &[Fault<'_>]) -> Vec<Error> {
    let mut seen = HashSet::new();
    let mut errors = Errors::default();
    let mut bytes: usize = 0;
    for Fault { place, cause } in faults {
        if bytes > MAX_ERROR_BYTES || errors.is_full() {
            break;
        }
        let path = places.text(*place);
        let message = Message { path: &path, cause }.to_string();
        bytes = bytes.saturating_add(message.len());
        if faults.len() > 1 && !seen.insert(message.clone()) {
            continue;
        }
        errors.push(cause.error(base, &path, &message));
    }
    errors.into_vec()
}

impl Cause<'_> {
    /// Converts the cause to an error with a field path.
    fn error(&self, base: &Path<'_>, path: &str, message: &str) -> Error {
        let name = match path.strip_prefix('.') {
            // Upstream reports these errors without their path.
            _ if self.is_of_whole() => "",
            None => path,
            Some(name) => name,
        };
        let child = base.child(name);
        let path = if name.is_empty() { base } else { &child };
        let invalid = |value: BadValue| Error::invalid(path, value, message);
        match *self {
            Cause::Required => Error::required(path, ""),
            Cause::Type { found, .. } => Error::type_invalid(path, found, message),
            Cause::Enumeration { value, allowed } => {
                let allowed: Vec<String> = allowed.iter().map(allowed_text).collect();
                Error::not_supported(path, value, &allowed)
            }
            Cause::TooLong { most } => Error::too_long(path, most),
            Cause::TooManyItems { most, actual } | Cause::TooManyProperties { most, actual } => {
                Error::too_many(path, actual, most)
            }
            Cause::TooFewItems { actual, .. } | Cause::TooFewProperties { actual, .. } => {
                invalid(actual.into())
            }
            Cause::TooShort { text, .. } | Cause::Pattern { text, .. } => invalid(text.into()),
            Cause::UnknownProperty { name } => invalid(name.into()),
            Cause::FactorNotPositive { factor: number }
            | Cause::NotMultiple { number, .. }
            | Cause::TooLarge { number, .. }
            | Cause::TooSmall { number, .. } => invalid(number.into()),
            Cause::NotUnique
            | Cause::Range { .. }
            | Cause::AnyOf
            | Cause::OneOf { .. }
            | Cause::AllOf { .. }
            | Cause::Not => invalid("".into()),
        }
    }

    fn is_of_whole(&self) -> bool {
        matches!(
            self,
            Cause::Range { .. }
                | Cause::AnyOf
                | Cause::OneOf { .. }
                | Cause::AllOf { .. }
                | Cause::Not
        )
    }
}

/// Upstream's message for an error.
struct Message<'m> {
    path: &'m str,
    cause: &'m Cause<'m>,
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path;
        match self.cause {
            Cause::Type { expected, found } => {
                write!(
                    f,
                    "{path} in body must be of type {expected}: {}",
                    quote(found)
                )
            }
            Cause::Required => write!(f, "{path} in body is required"),
            Cause::Enumeration { allowed, .. } => {
                write!(f, "{path} in body should be one of ")?;
                write_list(f, allowed)
            }
            Cause::TooLong { most } => {
                write!(f, "{path} in body should be at most {most} chars long")
            }
            Cause::TooShort { least, .. } => {
                write!(f, "{path} in body should be at least {least} chars long")
            }
            Cause::Pattern { pattern, .. } => {
                write!(f, "{path} in body should match '{}", pattern.text)?;
                if let Some(error) = pattern.error() {
                    write!(f, ", but pattern is invalid: {error}")?;
                }
                f.write_char('\'')
            }
            Cause::Range { what, kind, format } => {
                write!(f, "{what} value must be of type {kind} ")?;
                match *format {
                    "" => write!(f, "(default format) in {path}"),
                    format => write!(f, "with format {format} in {path}"),
                }
            }
            Cause::FactorNotPositive { factor } => {
                write!(
                    f,
                    "factor MultipleOf declared for {path} must be positive: {factor}"
                )
            }
            Cause::NotMultiple { factor, .. } => {
                write!(f, "{path} in body should be a multiple of {factor}")
            }
            Cause::TooLarge {
                most, exclusive, ..
            } => {
                let or_equal = if *exclusive { "" } else { " or equal to" };
                write!(f, "{path} in body should be less than{or_equal} {most}")
            }
            Cause::TooSmall {
                least, exclusive, ..
            } => {
                let or_equal = if *exclusive { "" } else { " or equal to" };
                write!(f, "{path} in body should be greater than{or_equal} {least}")
            }
            Cause::TooManyItems { most, .. } => {
                write!(f, "{path} in body should have at most {most} items")
            }
            Cause::TooFewItems { least, .. } => {
                write!(f, "{path} in body should have at least {least} items")
            }
            Cause::NotUnique => write!(f, "{path} in body shouldn't contain duplicates"),
            Cause::TooManyProperties { most, .. } => {
                write!(f, "{path} in body should have at most {most} properties")
            }
            Cause::TooFewProperties { least, .. } => {
                write!(f, "{path} in body should have at least {least} properties")
            }
            Cause::UnknownProperty { name } => {
                write!(f, "{path}.{name} in body is a forbidden property")
            }
            Cause::AnyOf => {
                write!(
                    f,
                    "{} must validate at least one schema (anyOf)",
                    quote(path)
                )
            }
            Cause::OneOf { valid } => {
                let path = quote(path);
                write!(f, "{path} must validate one and only one schema (oneOf). ")?;
                match valid {
                    0 => f.write_str("Found none valid"),
                    valid => write!(f, "Found {valid} valid alternatives"),
                }
            }
            Cause::AllOf { valid } => {
                write!(f, "{} must validate all the schemas (allOf)", quote(path))?;
                match valid {
                    0 => f.write_str(". None validated"),
                    _ => Ok(()),
                }
            }
            Cause::Not => write!(f, "{} must not validate the schema (not)", quote(path)),
        }
    }
}

impl fmt::Display for Numeric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Numeric::Int(int) => write!(f, "{int}"),
            Numeric::Double(double) => float::write_shortest(f, *double),
        }
    }
}

impl From<Numeric> for BadValue {
    fn from(number: Numeric) -> Self {
        match number {
            Numeric::Int(int) => int.into(),
            Numeric::Double(double) => double.into(),
        }
    }
}

/// The text of an allowed value in error messages.
fn allowed_text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        value => json::to_string(value),
    }
}

/// Writes values as Go's `%v` prints them. Errors with equal messages are dropped as duplicates, so a different text would keep other
/// errors than upstream.
fn write_list(f: &mut fmt::Formatter<'_>, values: &[Json]) -> fmt::Result {
    f.write_char('[')?;
    for (n, value) in values.iter().enumerate() {
        if n > 0 {
            f.write_char(' ')?;
        }
        write_plain(f, value)?;
    }
    f.write_char(']')
}

fn write_plain(f: &mut fmt::Formatter<'_>, value: &Json) -> fmt::Result {
    match value {
        Json::Null => f.write_str("<nil>"),
        Json::Bool(bool) => write!(f, "{bool}"),
        Json::Number(number) => write_number(f, number),
        Json::String(text) => f.write_str(text),
        Json::Array(_) | Json::Object(_) => f.write_str(&json::to_string(value)),
    }
}

fn write_number(f: &mut fmt::Formatter<'_>, number: &Number) -> fmt::Result {
    write!(f, "{}", Numeric::from(number))
}
