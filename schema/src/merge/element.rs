//! The identity of list elements (structured-merge-diff `fieldpath/element.go`, `typed/helpers.go`).

use std::cmp::Ordering;
use std::fmt;

use gavel_golang::float;
use gavel_golang::quote::quote;
use smol_str::SmolStr;

use super::types::{List, Relationship};
use super::value::{Data, MergedKind};

/// The identity of an element within its list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Element {
    /// The values of the element's key fields, ordered by name.
    Keys(Vec<(SmolStr, Key)>),
    /// The element itself.
    Value(Key),
    /// The position of the element, in a list that is replaced as a whole.
    Index(usize),
}

/// The value of a key. Equal numbers of different types are the same key.
#[derive(Debug, Clone)]
pub(super) enum Key {
    Int(i64),
    Double(f64),
    String(String),
    Bool(bool),
    /// Any other value, as upstream prints it.
    Other(String),
}

impl Key {
    fn of(value: &impl Data) -> Key {
        match value.kind() {
            MergedKind::Int(value) => Key::Int(value),
            MergedKind::Double(value) => Key::Double(value),
            MergedKind::String(text) => Key::String(text.to_owned()),
            MergedKind::Bool(value) => Key::Bool(value),
            _ => Key::Other(other(value)),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Key::Int(_) | Key::Double(_) => 0,
            Key::String(_) => 1,
            Key::Bool(_) => 2,
            Key::Other(_) => 3,
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "upstream compares integers with doubles as doubles"
    )]
    fn number(&self) -> f64 {
        match self {
            Key::Int(int) => *int as f64,
            Key::Double(double) => *double,
            _ => 0.0,
        }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Key::Int(l), Key::Int(r)) => l.cmp(r),
            (Key::String(l), Key::String(r)) | (Key::Other(l), Key::Other(r)) => l.cmp(r),
            (Key::Bool(l), Key::Bool(r)) => l.cmp(r),
            (l, r) if l.rank() == 0 && r.rank() == 0 => {
                // Adding 0.0 turns -0.0 into 0.0, so that both are the same key.
                (l.number() + 0.0).total_cmp(&(r.number() + 0.0))
            }
            (l, r) => l.rank().cmp(&r.rank()),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

impl Element {
    /// The identity of an element of a valid list; `None` if the element has no identity.
    pub(super) fn of<D: Data>(list: &List<'_>, value: &D) -> Option<Element> {
        if Element::fault(list, value).is_some() {
            return None;
        }
        if list.keys.is_empty() {
            return Some(Element::Value(Key::of(value)));
        }
        let mut keys = Vec::with_capacity(list.keys.len());
        for name in list.keys {
            let key = match value.field(name) {
                Some(value) => Some(Key::of(value)),
                None => list.default(name).map(Key::of),
            };
            keys.extend(key.map(|key| (name.clone(), key)));
        }
        keys.sort();
        Some(Element::Keys(keys))
    }

    /// The error for an element without an identity; `None` if the element has an identity.
    pub(super) fn fault<D: Data>(list: &List<'_>, value: &D) -> Option<String> {
        let fault = match (list.relationship, list.keys, value.kind()) {
            (Relationship::Associative, [], MergedKind::Map) => {
                "associative list without keys has an element that's a map type"
            }
            (Relationship::Associative, [], MergedKind::List) => {
                "not supported: associative list with lists as elements"
            }
            (Relationship::Associative, [], MergedKind::Null) => {
                "associative list without keys has an element that's an explicit null"
            }
            (Relationship::Associative, [], _) => return None,
            (Relationship::Associative, keys, MergedKind::Map) => {
                return missing_keys(list, keys, value);
            }
            (Relationship::Associative, _, MergedKind::Null) => {
                "associative list with keys may not have a null element"
            }
            (Relationship::Associative, ..) => {
                "associative list with keys may not have non-map elements"
            }
            _ => "invalid indexing of non-associative list",
        };
        Some(fault.to_owned())
    }
}

/// The error for an element without any key field; `None` if the element has a key field, or if a key field has a default.
fn missing_keys<D: Data>(list: &List<'_>, keys: &[SmolStr], value: &D) -> Option<String> {
    let mut missing = keys.iter().filter(|name| value.field(name).is_none());
    if let Some(name) = missing.next()
        && list.element.atom().map.is_none()
    {
        return Some(format!(
            "couldn't find default value for {name}: associative list may not have non-map types"
        ));
    }
    let has_key = |name: &SmolStr| value.field(name).is_some() || list.default(name).is_some();
    if keys.iter().any(has_key) {
        return None;
    }
    let names: Vec<String> = keys.iter().map(quote).collect();
    Some(format!(
        "associative list with keys has an element that omits all key fields [{}] (and doesn't have default values for any key fields)",
        names.join(" ")
    ))
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Keys(keys) => {
                for (n, (name, value)) in keys.iter().enumerate() {
                    write!(f, "{}{name}={value}", if n == 0 { "[" } else { "," })?;
                }
                f.write_str("]")
            }
            Element::Value(value) => write!(f, "[={value}]"),
            Element::Index(index) => write!(f, "[{index}]"),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Int(value) => write!(f, "{value}"),
            Key::Double(value) => float::write_shortest(f, *value),
            Key::String(text) => f.write_str(&quote(text)),
            Key::Bool(value) => write!(f, "{value}"),
            Key::Other(text) => f.write_str(text),
        }
    }
}

/// A key that is not a scalar, as upstream prints it.
fn other(value: &impl Data) -> String {
    match value.kind() {
        MergedKind::Null => "null".to_owned(),
        MergedKind::List => {
            let items = value.items().iter();
            let items: Vec<String> = items.map(|item| Key::of(item).to_string()).collect();
            format!("[{}]", items.join(","))
        }
        MergedKind::Map => value
            .fields()
            .map(|(name, value)| format!("{name}={}", Key::of(value)))
            .collect(),
        _ => "{{undefined}}".to_owned(),
    }
}
