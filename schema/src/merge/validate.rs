//! Checks whether a value fits a type (structured-merge-diff `typed/validate.go`).

use std::collections::BTreeSet;
use std::fmt;

use super::element::Element;
use super::types::{Atom, List, Map, MergeType, Relationship, Scalar};
use super::value::{Data, MergedKind, go_source, go_text, go_type};

/// An error, with the path of the invalid value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MergeFault {
    path: String,
    message: String,
}

/// The errors of a value; empty if the value is valid.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Faults(Vec<MergeFault>);

/// The maximum number of errors that are collected.
const MAX_FAULTS: usize = 100;

impl Faults {
    fn new(message: impl Into<String>) -> Self {
        Faults(vec![MergeFault {
            path: String::new(),
            message: message.into(),
        }])
    }

    fn add(&mut self, mut more: Faults, prefix: impl fmt::Display) {
        if more.is_empty() {
            return;
        }
        for fault in &mut more.0 {
            fault.path = format!("{prefix}{}", fault.path);
        }
        self.0.append(&mut more.0);
        self.0.truncate(MAX_FAULTS);
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for MergeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.0.as_slice() {
            return only.fmt(f);
        }
        f.write_str("errors:")?;
        self.0.iter().try_for_each(|fault| write!(f, "\n  {fault}"))
    }
}

/// The kinds of errors that are tolerated.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Leniency {
    /// Whether elements of a list may have the same key.
    pub(super) duplicates: bool,
    /// Whether fields may be undeclared.
    pub(super) unknown_fields: bool,
}

/// Validates a value.
///
/// # Errors
///
/// The first 100 errors, in the order of the fields' names. In each map, validation stops at the first undeclared field.
pub(super) fn validate<D: Data>(
    value: &D,
    ty: MergeType<'_>,
    leniency: Leniency,
) -> Result<(), Faults> {
    let faults = validate_value(value, ty, leniency);
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults),
    }
}

fn validate_value<D: Data>(value: &D, ty: MergeType<'_>, leniency: Leniency) -> Faults {
    match choose(ty.atom(), value) {
        Atom { map: Some(map), .. } => validate_map(value, &map, leniency),
        Atom {
            scalar: Some(scalar),
            ..
        } => validate_scalar(value, scalar),
        Atom {
            list: Some(list), ..
        } => validate_list(value, &list, leniency),
        _ => Faults::new("schema error: invalid atom: inlined"),
    }
}

/// The allowed type that fits the value; all allowed types if no type fits.
pub(super) fn choose<'s>(atom: Atom<'s>, value: &impl Data) -> Atom<'s> {
    let none = Atom::default();
    match value.kind() {
        MergedKind::Bool(_)
        | MergedKind::Int(_)
        | MergedKind::Double(_)
        | MergedKind::String(_)
            if atom.scalar.is_some() =>
        {
            Atom {
                scalar: atom.scalar,
                ..none
            }
        }
        MergedKind::List if atom.list.is_some() => Atom {
            list: atom.list,
            ..none
        },
        MergedKind::Map if atom.map.is_some() => Atom {
            map: atom.map,
            ..none
        },
        _ => atom,
    }
}

fn validate_scalar<D: Data>(value: &D, scalar: Scalar) -> Faults {
    let kind = value.kind();
    match (scalar, kind) {
        (_, MergedKind::Null)
        | (Scalar::Numeric | Scalar::Untyped, MergedKind::Int(_) | MergedKind::Double(_))
        | (Scalar::String | Scalar::Untyped, MergedKind::String(_))
        | (Scalar::Boolean | Scalar::Untyped, MergedKind::Bool(_)) => Faults::default(),
        (Scalar::Numeric, _) => {
            let found = go_type(value);
            Faults::new(format!("expected numeric (int or float), got {found}"))
        }
        (Scalar::String, _) => {
            let found = go_source(value);
            Faults::new(format!(
                "expected string, got &value.valueUnstructured{{Value:{found}}}"
            ))
        }
        (Scalar::Boolean, _) => unexpected("boolean", value),
        (Scalar::Untyped, _) => unexpected("any scalar", value),
    }
}

fn unexpected(expected: &str, value: &impl Data) -> Faults {
    Faults::new(format!("expected {expected}, got &{{{}}}", go_text(value)))
}

fn validate_list<D: Data>(value: &D, list: &List<'_>, leniency: Leniency) -> Faults {
    match value.kind() {
        MergedKind::Null => return Faults::default(),
        MergedKind::List => {}
        _ => return unexpected("list", value),
    }
    let mut faults = Faults::default();
    let mut seen = BTreeSet::new();
    for (n, item) in value.items().iter().enumerate() {
        let has_key = list.relationship == Relationship::Associative;
        if let Some(error) = has_key.then(|| Element::fault(list, item)).flatten() {
            faults.add(Faults::new(format!("element {n}: {error}")), "");
            return faults;
        }
        let inner = validate_value(item, list.element, leniency);
        if inner.is_empty() && (leniency.duplicates || !has_key) {
            continue;
        }
        let element = Element::of(list, item).unwrap_or(Element::Index(n));
        let prefix = element.to_string();
        if !seen.insert(element) && !leniency.duplicates {
            let message = format!("duplicate entries for key {prefix}");
            faults.add(Faults::new(message), "");
        }
        faults.add(inner, prefix);
    }
    faults
}

fn validate_map<D: Data>(value: &D, map: &Map<'_>, leniency: Leniency) -> Faults {
    match value.kind() {
        MergedKind::Null => return Faults::default(),
        MergedKind::Map => {}
        _ => return unexpected("map", value),
    }
    let mut faults = Faults::default();
    for (name, value) in value.fields() {
        let Some(ty) = map.any_field(name) else {
            if leniency.unknown_fields {
                continue;
            }
            let fault = Faults::new("field not declared in schema");
            faults.add(fault, format_args!(".{name}"));
            break;
        };
        let inner = validate_value(value, ty, leniency);
        faults.add(inner, format_args!(".{name}"));
    }
    faults
}
