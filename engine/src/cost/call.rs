//! What a call costs: part of a function's row, read by the estimator and by the tracker.

use gavel_golang::utf8;
use smallvec::SmallVec;

use super::{CostEstimate, SizeEstimate};
use crate::error::EvalError;
use crate::types::Type;
use crate::value::{Value, ValueKind};

/// The cost of an overload.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// How it is computed.
    pub formula: Formula,
    /// Whether it belongs to the function's name, so that it also holds for calls of which only the run time tells the
    /// overload. Otherwise such calls cost one unit.
    pub by_name: bool,
    /// Whether cel-go itself has the formula, not a library. The two read sizes differently: only cel-go counts an
    /// optional as the value that it holds, and only a library asks the host again for a size that was not known.
    pub standard: bool,
}

/// How a cost is computed from the arguments, the receiver being the first of them.
#[derive(Debug, Clone, Copy)]
pub enum Formula {
    /// Always the same.
    Fixed(u64),
    /// From the sizes of the arguments: ranges before, exact sizes during an evaluation.
    Sizes(fn(&[SizeEstimate]) -> CallEstimate),
    /// Where upstream estimates and tracks by different formulas.
    Split {
        /// The estimate.
        estimate: fn(&dyn CallSite) -> CallEstimate,
        /// The exact cost.
        track: Track,
    },
}

/// The exact cost of a call, from its arguments and its result. What failed is `None`.
pub type Track = for<'v> fn(&[Option<Value<'v>>], Option<Value<'v>>) -> Result<u64, EvalError>;

/// An estimate of a call: its own cost, without its arguments', and the size of its result where that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallEstimate {
    /// The cost.
    pub cost: CostEstimate,
    /// The size of the result.
    pub result_size: Option<SizeEstimate>,
}

/// A call as the estimator sees it. Arguments are numbered from 0, the receiver of a receiver-style call being 0.
pub trait CallSite {
    /// The number of arguments, the receiver included.
    fn arguments(&self) -> usize;

    /// Whether the call has a receiver.
    fn has_target(&self) -> bool;

    /// The size of an argument, if it is known.
    fn known_size(&self, argument: usize) -> Option<SizeEstimate>;

    /// The size of an argument, 0 to the largest where it is not known.
    fn size(&self, argument: usize) -> SizeEstimate {
        self.known_size(argument).unwrap_or(SizeEstimate::UNKNOWN)
    }

    /// The static type of an argument.
    fn argument_type(&self, argument: usize) -> &Type;

    /// The type of the elements of an argument that is a list; none where its type is `dyn`.
    fn element_type(&self, argument: usize) -> Option<&Type> {
        match self.argument_type(argument) {
            Type::List(element) => Some(element),
            _ => None,
        }
    }

    /// The size of the elements of an argument that is a list, if the host knows it (by the path with `@items`).
    fn element_size(&self, argument: usize) -> Option<SizeEstimate>;

    /// The value of an argument that is an int literal.
    fn int_literal(&self, argument: usize) -> Option<i64>;

    /// Whether the estimate must be a bound. Kubernetes' figures are not always.
    fn is_bound(&self) -> bool {
        false
    }
}

impl Cost {
    /// One unit.
    pub const ONE: Cost = Cost::fixed(1);

    /// Always the same.
    pub const fn fixed(units: u64) -> Cost {
        Cost::of(Formula::Fixed(units))
    }

    /// From the sizes of the arguments.
    pub const fn sizes(formula: fn(&[SizeEstimate]) -> CallEstimate) -> Cost {
        Cost::of(Formula::Sizes(formula))
    }

    /// By different formulas before and during an evaluation.
    pub const fn split(estimate: fn(&dyn CallSite) -> CallEstimate, track: Track) -> Cost {
        Cost::of(Formula::Split { estimate, track })
    }

    const fn of(formula: Formula) -> Cost {
        Cost {
            formula,
            by_name: false,
            standard: false,
        }
    }

    /// The same cost, also where only the run time tells the overload.
    pub const fn of_name(self) -> Cost {
        Cost {
            by_name: true,
            ..self
        }
    }

    /// The same cost, read as cel-go reads its own formulas.
    pub const fn standard(self) -> Cost {
        Cost {
            standard: true,
            ..self
        }
    }

    /// What a call has cost. An argument that failed is `None`, as is a failed result.
    pub fn track<'v>(
        &self,
        arguments: &[Option<Value<'v>>],
        result: Option<Value<'v>>,
    ) -> Result<u64, EvalError> {
        match self.formula {
            Formula::Fixed(units) => Ok(units),
            Formula::Sizes(formula) => {
                let size = |argument: &Option<Value<'v>>| match self.standard {
                    true => SizeEstimate::exact(tracked_held_size(argument.as_ref())),
                    false => SizeEstimate::exact(tracked_size(argument.as_ref())),
                };
                let estimate = match arguments {
                    [only] => formula(&[size(only)]),
                    [first, second] => formula(&[size(first), size(second)]),
                    _ => formula(&arguments.iter().map(size).collect::<SmallVec<[_; 4]>>()),
                };
                Ok(estimate.cost.max)
            }
            Formula::Split { track, .. } => track(arguments, result),
        }
    }
}

impl CallEstimate {
    /// A cost, with a result of unknown size.
    pub fn new(cost: CostEstimate) -> Self {
        CallEstimate {
            cost,
            result_size: None,
        }
    }

    /// The same, with a result of this size.
    pub fn with_result(self, size: SizeEstimate) -> Self {
        CallEstimate {
            result_size: Some(size),
            ..self
        }
    }
}

/// The size of a value as the tracker counts it: code points, bytes, elements or entries, or what an opaque value says;
/// 1 of anything else and of a failure.
#[inline]
pub fn tracked_size(value: Option<&Value<'_>>) -> u64 {
    match value.and_then(|value| value.as_str()) {
        Some(text) => utf8::rune_count(text) as u64,
        None => tracked_size_of_others(value),
    }
}

fn tracked_size_of_others(value: Option<&Value<'_>>) -> u64 {
    let size = match value.map(|value| value.kind()) {
        Some(ValueKind::Bytes(bytes)) => bytes.len(),
        Some(ValueKind::List(list)) => list.len(),
        Some(ValueKind::Map(map)) => map.len(),
        Some(ValueKind::Opaque(opaque)) => return opaque.size().unwrap_or(1),
        Some(ValueKind::Unread(json, shape)) => {
            return shape.look(json, |value| tracked_size(value.ok().as_ref()));
        }
        _ => 1,
    };
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// [`tracked_size`], an optional counting as the value that it holds.
pub(super) fn tracked_held_size(mut value: Option<&Value<'_>>) -> u64 {
    while let Some(Some(Some(held))) = value.map(Value::as_optional) {
        value = Some(held);
    }
    tracked_size(value)
}
