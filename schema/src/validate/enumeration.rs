//! Enumerations (kube-openapi `pkg/validation/validate/validator.go`).

use gavel_engine::value::Json;

use super::convert::{character, truncate, widen};
use crate::equal::{Numeric, deep_equal};

/// Whether a value equals one of the listed values. Null equals no listed value.
///
/// As in upstream, numbers are first converted to the Go type of the listed value. An integer becomes a double, or a string with the
/// character of this code point. A double becomes an integer, without its fraction.
pub(super) fn lists(allowed: &[Json], value: &Json) -> bool {
    allowed.iter().any(|allowed| is_converted(value, allowed))
}

fn is_converted(value: &Json, allowed: &Json) -> bool {
    match (value, allowed) {
        (Json::Null, _) => false,
        (Json::Number(value), Json::Number(allowed)) => {
            match (Numeric::from(value), Numeric::from(allowed)) {
                (Numeric::Int(value), Numeric::Double(allowed)) => widen(value) == allowed,
                (Numeric::Double(value), Numeric::Int(allowed)) => truncate(value) == allowed,
                (value, allowed) => value == allowed,
            }
        }
        (Json::Number(value), Json::String(allowed)) => match Numeric::from(value) {
            Numeric::Int(value) => {
                let mut text = allowed.chars();
                text.next() == Some(character(value)) && text.next().is_none()
            }
            Numeric::Double(_) => false,
        },
        (value, allowed) => deep_equal(value, allowed),
    }
}
