//! Values that are listed (kube-openapi `pkg/validation/validate/validator.go`).

use gavel_engine::value::Json;

use super::convert::{character, truncate, widen};
use crate::equal::{Numeric, deep_equal};

/// Whether a value is one of those listed once Go has converted it to their type: an integer is also the double, and
/// the text of the character, of that number, and a double the integer that is left when its fraction is cut off. Null
/// is never listed.
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
