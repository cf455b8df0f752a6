//! Validates the bounds of numbers (kube-openapi `pkg/validation/validate/{validator,values}.go`).

use gavel_golang::float;
use smol_str::SmolStr;

use super::convert::{WholeDoubles, truncate, widen};
use super::fault::Cause;
use crate::JsonSchema;
use crate::equal::Numeric;

/// The constraints that a schema sets for numbers.
#[derive(Debug)]
pub(super) struct NumberRules {
    range: Range,
    multiple_of: Option<Limit>,
    maximum: Option<Limit>,
    exclusive_maximum: bool,
    minimum: Option<Limit>,
    exclusive_minimum: bool,
}

/// A numeric constraint that the schema sets.
#[derive(Debug)]
struct Limit {
    value: f64,
    /// Whether the schema's type and format can represent `value`.
    fits: bool,
}

/// The numbers that the type and format allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Range {
    /// Every number.
    Any,
    /// Type `integer` with any format except `int32`. `format` is `int64` or, for any other format, empty.
    Int64 { format: &'static str },
    /// Type `integer` with format `int32`.
    Int32,
    /// Type `number` with format `float`.
    Float,
}

impl Range {
    fn of(types: &[SmolStr], format: &str) -> Self {
        let [kind] = types else {
            return Range::Any;
        };
        match (kind.as_str(), format) {
            ("integer", "int32") => Range::Int32,
            ("integer", "int64") => Range::Int64 { format: "int64" },
            ("integer", _) => Range::Int64 { format: "" },
            ("number", "float") => Range::Float,
            _ => Range::Any,
        }
    }

    /// Whether the type and format can represent a number.
    fn holds(self, number: Numeric) -> bool {
        match (self, number) {
            (Range::Any, _) | (Range::Int64 { .. } | Range::Float, Numeric::Int(_)) => true,
            (Range::Int32, Numeric::Int(int)) => i32::try_from(int).is_ok(),
            (range, Numeric::Double(double)) => {
                let mut text = String::new();
                // Writing to a String does not fail.
                let _ = float::write_plain(&mut text, double);
                match range {
                    Range::Int32 => text.parse::<i32>().is_ok(),
                    Range::Float => text.parse::<f32>().is_ok_and(f32::is_finite),
                    Range::Any | Range::Int64 { .. } => text.parse::<i64>().is_ok(),
                }
            }
        }
    }

    fn cause(self, what: &'static str) -> Cause<'static> {
        let (kind, format) = match self {
            Range::Any => ("", ""),
            Range::Int64 { format } => ("integer", format),
            Range::Int32 => ("integer", "int32"),
            Range::Float => ("number", "float"),
        };
        Cause::Range { what, kind, format }
    }
}

impl NumberRules {
    /// The constraints that a schema sets for numbers; `None` if it sets none.
    pub(super) fn new(schema: &JsonSchema, types: &[SmolStr], format: &str) -> Option<Self> {
        let range = Range::of(types, format);
        let limit = |value: Option<f64>| {
            let value = value?;
            let fits = range.holds(Numeric::Double(value));
            Some(Limit { value, fits })
        };
        let rules = NumberRules {
            range,
            multiple_of: limit(schema.bounds.multiple_of),
            maximum: limit(schema.bounds.maximum),
            exclusive_maximum: schema.bounds.exclusive_maximum,
            minimum: limit(schema.bounds.minimum),
            exclusive_minimum: schema.bounds.exclusive_minimum,
        };
        let bounded = [&rules.multiple_of, &rules.maximum, &rules.minimum]
            .into_iter()
            .any(Option::is_some);
        (bounded || range != Range::Any).then_some(rules)
    }

    /// Passes the errors of a number to `fault`. `wholes` are the doubles that count as integers.
    pub(super) fn check(
        &self,
        number: Numeric,
        wholes: WholeDoubles,
        mut fault: impl FnMut(Cause<'static>),
    ) {
        if !self.range.holds(number) {
            fault(self.range.cause("Checked"));
        }
        if let Some(limit) = &self.multiple_of {
            let (factor, number) = self.comparable(limit, number, "MultipleOf", &mut fault);
            check_multiple(factor, number, wholes, &mut fault);
        }
        if let Some(limit) = &self.minimum {
            let exclusive = self.exclusive_minimum;
            let (least, number) = self.comparable(limit, number, "Minimum boundary", &mut fault);
            if number < least || (exclusive && number == least) {
                fault(Cause::TooSmall {
                    least,
                    exclusive,
                    number,
                });
            }
        }
        if let Some(limit) = &self.maximum {
            let exclusive = self.exclusive_maximum;
            let (most, number) = self.comparable(limit, number, "Maximum boundary", &mut fault);
            if number > most || (exclusive && number == most) {
                fault(Cause::TooLarge {
                    most,
                    exclusive,
                    number,
                });
            }
        }
    }

    /// Converts a limit and a number to the same type. If the number is an integer and the schema's type can represent the limit, both
    /// become integers, and the limit is truncated. Otherwise both become doubles.
    fn comparable(
        &self,
        limit: &Limit,
        number: Numeric,
        what: &'static str,
        fault: &mut impl FnMut(Cause<'static>),
    ) -> (Numeric, Numeric) {
        if !limit.fits {
            fault(self.range.cause(what));
        }
        match number {
            Numeric::Int(_) if limit.fits => (Numeric::Int(truncate(limit.value)), number),
            Numeric::Int(int) => (Numeric::Double(limit.value), Numeric::Double(widen(int))),
            Numeric::Double(_) => (Numeric::Double(limit.value), number),
        }
    }
}

fn check_multiple(
    factor: Numeric,
    number: Numeric,
    wholes: WholeDoubles,
    fault: &mut impl FnMut(Cause<'static>),
) {
    let (positive, divides) = match (factor, number) {
        (Numeric::Int(factor), Numeric::Int(number)) => {
            (factor > 0, number.checked_rem(factor) == Some(0))
        }
        (Numeric::Double(factor), Numeric::Double(number)) => {
            let quotient = match factor < 1.0 {
                true => 1.0 / factor * number,
                false => number / factor,
            };
            (factor > 0.0, wholes.contain(quotient))
        }
        _ => return,
    };
    if !positive {
        fault(Cause::FactorNotPositive { factor });
    } else if !divides {
        fault(Cause::NotMultiple { factor, number });
    }
}
