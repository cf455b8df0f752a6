//! Ranges of sizes and costs, with upstream's saturating arithmetic.

/// The smallest and the largest size that a value can have. A size is a number of code points, bytes, elements or entries; a scalar has
/// size 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeEstimate {
    /// The smallest size.
    pub min: u64,
    /// The largest size.
    pub max: u64,
}

/// The lowest and the highest cost that an expression can have, in cost units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CostEstimate {
    /// The lowest cost.
    pub min: u64,
    /// The highest cost.
    pub max: u64,
}

impl SizeEstimate {
    /// An unknown size: from 0 to the largest number.
    pub const UNKNOWN: SizeEstimate = SizeEstimate {
        min: 0,
        max: u64::MAX,
    };

    /// A known size.
    pub const fn exact(size: u64) -> Self {
        SizeEstimate {
            min: size,
            max: size,
        }
    }

    /// The sum of both sizes.
    #[inline]
    pub fn plus(self, other: SizeEstimate) -> Self {
        SizeEstimate {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    /// The total size of a number of values: `self` is the number, `other` the size of each.
    pub fn times(self, other: SizeEstimate) -> Self {
        SizeEstimate {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    /// The cost of a value of this size if each unit of size costs `factor`, rounded up.
    #[inline]
    pub fn costs(self, factor: f64) -> CostEstimate {
        CostEstimate {
            min: scale(self.min, factor),
            max: scale(self.max, factor),
        }
    }

    /// The cost if each unit of size costs `cost`.
    pub fn costs_each(self, cost: CostEstimate) -> CostEstimate {
        CostEstimate {
            min: self.min.saturating_mul(cost.min),
            max: self.max.saturating_mul(cost.max),
        }
    }

    /// The smallest range that contains both.
    pub fn union(self, other: SizeEstimate) -> Self {
        SizeEstimate {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

impl CostEstimate {
    /// No cost.
    pub const ZERO: CostEstimate = CostEstimate { min: 0, max: 0 };
    /// An unknown cost.
    pub const UNKNOWN: CostEstimate = CostEstimate {
        min: 0,
        max: u64::MAX,
    };

    /// A known cost.
    pub const fn exact(cost: u64) -> Self {
        CostEstimate {
            min: cost,
            max: cost,
        }
    }

    /// The sum of both costs.
    pub fn plus(self, other: CostEstimate) -> Self {
        CostEstimate {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    /// The product of two costs.
    #[inline]
    pub fn times(self, other: CostEstimate) -> Self {
        CostEstimate {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    /// A multiple of the cost, rounded up.
    pub fn scaled(self, factor: f64) -> Self {
        CostEstimate {
            min: scale(self.min, factor),
            max: scale(self.max, factor),
        }
    }

    /// The smallest range that contains both.
    pub fn union(self, other: CostEstimate) -> Self {
        CostEstimate {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

/// `size * factor`, rounded up. Like upstream, it computes in doubles, so results for huge sizes are inexact.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the product was checked to be positive and below 2^64"
)]
#[inline]
pub(crate) fn scale(size: u64, factor: f64) -> u64 {
    const TWO_64: f64 = 18_446_744_073_709_551_616.0;
    // Below this size, integers give the same results as doubles for these factors.
    if size < 1 << 50 {
        if factor == super::TRAVERSAL_FACTOR {
            return size.div_ceil(10);
        }
        if factor == super::REGEX_FACTOR {
            return size.div_ceil(4);
        }
    }
    let size = size as f64;
    if size > 0.0 && size > TWO_64 / factor {
        return u64::MAX;
    }
    let product = (size * factor).ceil();
    if product >= TWO_64 {
        u64::MAX
    } else {
        product as u64
    }
}
