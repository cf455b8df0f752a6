//! The cost of a call. Each overload declares one; the estimator and the tracker read it.

use gavel_golang::utf8;
use smallvec::SmallVec;

use super::range::scale;
use super::{CostEstimate, SizeEstimate, TRAVERSAL_FACTOR};
use crate::error::EvalError;
use crate::types::Type;
use crate::value::{Value, ValueKind};

/// The cost of an overload.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// The formula.
    pub formula: Formula,
    /// Whether the cost also applies to calls of the function whose overload is only known at run time. If no overload of the function has
    /// such a cost, these calls cost one unit.
    pub by_name: bool,
    /// Whether the formula is cel-go's own, not a library's. For a formula of cel-go, the size of an optional is the size of the value that
    /// it holds. For a library's formula, the estimator asks the host again for a size that was unknown.
    pub standard: bool,
}

/// How a cost is computed from the arguments. The receiver is the first argument.
#[derive(Debug, Clone, Copy)]
pub enum Formula {
    /// The same number of units for every call.
    Fixed(u64),
    /// Computed from the sizes of the arguments: ranges in an estimate, exact sizes during an evaluation.
    Sizes(fn(&[SizeEstimate]) -> CallEstimate),
    /// The cost of reading one argument. During an evaluation, a call costs a tenth of the argument's size, rounded up.
    Traversal {
        /// The estimate.
        estimate: fn(&dyn CallSite) -> CallEstimate,
        /// The argument that the evaluation reads.
        argument: usize,
    },
    /// Different formulas for the estimate and the evaluation, for the functions that have different formulas upstream.
    Split {
        /// The estimate.
        estimate: fn(&dyn CallSite) -> CallEstimate,
        /// The exact cost.
        track: Track,
    },
}

/// The exact cost of a call, from its arguments and its result. Failed arguments and a failed result are `None`.
pub type Track = for<'v> fn(&[Option<&Value<'v>>], Option<&Value<'v>>) -> Result<u64, EvalError>;

/// An estimate of a call: its cost without the costs of its arguments, and the size of its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallEstimate {
    /// The cost.
    pub cost: CostEstimate,
    /// The size of the result; `None` if it is unknown.
    pub result_size: Option<SizeEstimate>,
}

/// A call as the estimator sees it. Arguments are numbered from 0; the receiver of a receiver-style call is number 0.
pub trait CallSite {
    /// The number of arguments, including the receiver.
    fn arguments(&self) -> usize;

    /// Whether the call has a receiver.
    fn has_target(&self) -> bool;

    /// The size of an argument, if it is known.
    fn known_size(&self, argument: usize) -> Option<SizeEstimate>;

    /// The size of an argument; [`SizeEstimate::UNKNOWN`] if it is not known.
    fn size(&self, argument: usize) -> SizeEstimate {
        self.known_size(argument).unwrap_or(SizeEstimate::UNKNOWN)
    }

    /// The static type of an argument.
    fn argument_type(&self, argument: usize) -> &Type;

    /// The type that upstream uses for the elements of an argument: the first parameter of the argument's static type, so the type of the
    /// elements of a list or of the keys of a map. `None` if the argument's type has no parameters.
    fn element_type(&self, argument: usize) -> Option<&Type> {
        match self.argument_type(argument) {
            Type::List(element) => Some(element),
            Type::Map(entry) => Some(&entry.0),
            Type::Opaque(opaque) => opaque.parameters.first(),
            Type::Type(of) => of.as_deref(),
            _ => None,
        }
    }

    /// The size of the elements of an argument; `None` if it is unknown. The host gives the size for the argument's path followed by
    /// `@items`.
    fn element_size(&self, argument: usize) -> Option<SizeEstimate>;

    /// The value of an argument that is an int literal; `None` for every other argument.
    fn int_literal(&self, argument: usize) -> Option<i64>;

    /// Whether the estimate must be an upper bound. An evaluation may cost more than Kubernetes' estimate, but not more than the bound.
    fn is_bound(&self) -> bool {
        false
    }
}

impl Cost {
    /// One unit per call.
    pub const ONE: Cost = Cost::fixed(1);

    /// A fixed cost.
    pub const fn fixed(units: u64) -> Cost {
        Cost::of(Formula::Fixed(units))
    }

    /// A cost computed from the sizes of the arguments.
    pub const fn sizes(formula: fn(&[SizeEstimate]) -> CallEstimate) -> Cost {
        Cost::of(Formula::Sizes(formula))
    }

    /// The cost of reading the argument with this index once. The tracker uses the argument's size, the estimator calls `estimate`.
    pub const fn traversal(argument: usize, estimate: fn(&dyn CallSite) -> CallEstimate) -> Cost {
        Cost::of(Formula::Traversal { estimate, argument })
    }

    /// A cost with different formulas for the estimate and the evaluation.
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

    /// Applies this cost also to calls of the function whose overload is only known at run time.
    pub const fn of_name(self) -> Cost {
        Cost {
            by_name: true,
            ..self
        }
    }

    /// Marks the formula as cel-go's own, not a library's.
    pub const fn standard(self) -> Cost {
        Cost {
            standard: true,
            ..self
        }
    }

    /// The cost of an evaluated call. Failed arguments and a failed result are `None`.
    ///
    /// # Errors
    ///
    /// The size of an argument cannot be determined.
    pub fn track<'v>(
        &self,
        arguments: &[Option<&Value<'v>>],
        result: Option<&Value<'v>>,
    ) -> Result<u64, EvalError> {
        match self.formula {
            Formula::Fixed(units) => Ok(units),
            Formula::Sizes(formula) => {
                let size = |argument: &Option<&Value<'v>>| match self.standard {
                    true => SizeEstimate::exact(tracked_held_size(*argument)),
                    false => SizeEstimate::exact(tracked_size(*argument)),
                };
                let estimate = match arguments {
                    [only] => formula(&[size(only)]),
                    [first, second] => formula(&[size(first), size(second)]),
                    _ => formula(&arguments.iter().map(size).collect::<SmallVec<[_; 4]>>()),
                };
                Ok(estimate.cost.max)
            }
            Formula::Traversal { argument, .. } => {
                let size = match (arguments.get(argument), self.standard) {
                    (None, _) => u64::MAX,
                    (Some(argument), true) => tracked_held_size(*argument),
                    (Some(argument), false) => tracked_size(*argument),
                };
                Ok(scale(size, TRAVERSAL_FACTOR))
            }
            Formula::Split { track, .. } => track(arguments, result),
        }
    }
}

/// The cost of reading a text once.
#[inline]
pub(crate) fn traversal_of(text: &str) -> u64 {
    scale(utf8::rune_count(text) as u64, TRAVERSAL_FACTOR)
}

/// The cost of a call with two texts, computed from their sizes.
#[inline]
pub(crate) fn of_texts(formula: fn(&[SizeEstimate]) -> CallEstimate, texts: [&str; 2]) -> u64 {
    let sizes = texts.map(|text| SizeEstimate::exact(utf8::rune_count(text) as u64));
    formula(&sizes).cost.max
}

impl CallEstimate {
    /// An estimate with this cost and a result of unknown size.
    pub fn new(cost: CostEstimate) -> Self {
        CallEstimate {
            cost,
            result_size: None,
        }
    }

    /// Sets the size of the result.
    pub fn with_result(self, size: SizeEstimate) -> Self {
        CallEstimate {
            result_size: Some(size),
            ..self
        }
    }
}

/// The size of a value for the tracker: its code points, bytes, elements or entries. An opaque value reports its own size. The size of
/// all other values and of failures is 1.
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

/// Like [`tracked_size`], but an optional counts as the value that it holds.
pub(super) fn tracked_held_size(mut value: Option<&Value<'_>>) -> u64 {
    while let Some(Some(Some(held))) = value.map(Value::as_optional) {
        value = Some(held);
    }
    tracked_size(value)
}
