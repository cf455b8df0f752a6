//! Resolves plain and tagged YAML scalars like `go.yaml.in/yaml/v2/resolve.go`: YAML 1.1 without sexagesimal numbers.

use gavel_apimachinery::json;
use gavel_golang::base64::{self, Encoding};
use gavel_golang::{float, utf8};
use serde_json::{Number, Value as Json};

/// The value of a scalar.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(String),
}

/// The value of a plain scalar.
pub(crate) fn resolve(text: &str) -> Scalar {
    named(text)
        .or_else(|| number(text))
        .unwrap_or_else(|| Scalar::Text(text.to_owned()))
}

/// The value of a scalar with a standard YAML tag, such as `!!int`; `None` if the scalar does not fit the tag. Timestamps stay strings.
pub(crate) fn resolve_tagged(tag: &str, text: &str) -> Option<Scalar> {
    let resolved = match tag {
        "str" | "timestamp" => return Some(Scalar::Text(text.to_owned())),
        "binary" => {
            let bytes = base64::decode(text, Encoding::Standard).ok()?;
            return Some(Scalar::Text(utf8::lossy(&bytes)));
        }
        "bool" | "int" | "float" | "null" => resolve(text),
        _ => return Some(Scalar::Text(text.to_owned())),
    };
    match (tag, resolved) {
        ("float", Scalar::Int(value)) => value.to_string().parse().ok().map(Scalar::Float),
        ("null", resolved @ Scalar::Null)
        | ("bool", resolved @ Scalar::Bool(_))
        | ("int", resolved @ (Scalar::Int(_) | Scalar::Uint(_)))
        | ("float", resolved @ Scalar::Float(_)) => Some(resolved),
        _ => None,
    }
}

impl Scalar {
    /// The JSON value; `None` for a number that is not finite. A double without a fraction becomes an integer, because upstream's
    /// conversion to JSON writes no decimal point.
    pub(crate) fn into_json(self) -> Option<Json> {
        Some(match self {
            Scalar::Null => Json::Null,
            Scalar::Bool(value) => Json::Bool(value),
            Scalar::Int(value) => Json::from(value),
            Scalar::Uint(value) => Json::from(value),
            Scalar::Float(value) => match json::double_to_int(value) {
                Some(integer) => Json::from(integer),
                None => Json::Number(Number::from_f64(value)?),
            },
            Scalar::Text(text) => Json::String(text),
        })
    }

    /// The value as a key of an object; `None` if Kubernetes does not accept it as a key.
    pub(crate) fn into_key(self) -> Option<String> {
        match self {
            Scalar::Null | Scalar::Uint(_) => None,
            Scalar::Bool(value) => Some(value.to_string()),
            Scalar::Int(value) => Some(value.to_string()),
            Scalar::Float(value) => Some(float_key(value)),
            Scalar::Text(text) => Some(text),
        }
    }
}

/// A double as a key: with the digits of a float of 32 bits.
fn float_key(value: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "upstream converts to 32 bits"
    )]
    let value = value as f32;
    let digits = value.to_string();
    match float::format_shortest(digits.parse().unwrap_or_default()).as_str() {
        "+Inf" => ".inf".to_owned(),
        "-Inf" => "-.inf".to_owned(),
        "NaN" => ".nan".to_owned(),
        text => text.to_owned(),
    }
}

fn named(text: &str) -> Option<Scalar> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

fn number(text: &str) -> Option<Scalar> {
    match text.bytes().next()? {
        b'.' => float(text),
        b'0'..=b'9' | b'+' | b'-' => {
            let plain = text.replace('_', "");
            integer(&plain).or_else(|| float(&plain))
        }
        _ => None,
    }
}

/// Reads an integer in Go's notation: hexadecimal, octal (`0o17`, `017`), binary or decimal, with an optional sign.
fn integer(text: &str) -> Option<Scalar> {
    let (negative, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (text.starts_with('-'), digits),
        None => (false, text),
    };
    let signed = digits.len() < text.len();
    let (radix, digits) = match digits.strip_prefix('0').filter(|rest| !rest.is_empty()) {
        None => (10, digits),
        Some(rest) => match rest.strip_prefix(['x', 'X', 'o', 'O', 'b', 'B']) {
            Some(hexadecimal) if rest.starts_with(['x', 'X']) => (16, hexadecimal),
            Some(octal) if rest.starts_with(['o', 'O']) => (8, octal),
            Some(binary) => (2, binary),
            None => (8, rest),
        },
    };
    if !digits.bytes().all(|digit| digit.is_ascii_alphanumeric()) {
        return None;
    }
    let magnitude = i128::from(u64::from_str_radix(digits, radix).ok()?);
    let value = if negative {
        magnitude.checked_neg()?
    } else {
        magnitude
    };
    match (i64::try_from(value), u64::try_from(value)) {
        (Ok(value), _) => Some(Scalar::Int(value)),
        (Err(_), Ok(value)) if !signed => Some(Scalar::Uint(value)),
        _ => None,
    }
}

/// A number that matches `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?` and fits into a double.
fn float(text: &str) -> Option<Scalar> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !digits.is_empty() && is_digits(digits)
    });
    let fits = is_digits(whole) && is_digits(fraction) && exponent_fits;
    if !fits || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    value.is_finite().then_some(Scalar::Float(value))
}
