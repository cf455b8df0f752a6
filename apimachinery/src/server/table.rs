//! The table of differences.

use super::Difference;
use crate::version::KubeVersion;

/// A difference between versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Which it is.
    pub difference: Difference,
    /// The first version that answers so.
    pub since: KubeVersion,
    /// What it changes.
    pub effect: Effect,
    /// How it is, and how it was before, in a sentence.
    pub what: &'static str,
    /// The change of upstream's code, by its file.
    pub upstream: &'static str,
}

/// What of an answer a difference changes, the gravest of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Whether something is accepted, or what an expression comes to.
    Verdict,
    /// What it costs, or is estimated to.
    Cost,
    /// The words.
    Message,
}

/// A patch release that answers differently from the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatchRelease {
    /// The first release, such as `1.34.2`.
    pub release: &'static str,
    /// What changed.
    pub what: &'static str,
}

/// The patch releases that changed answers.
pub const PATCH_RELEASES: &[PatchRelease] = &[];

/// The differences, the oldest first, those of a version by their effect.
pub const DIFFERENCES: &[Row] = &[row(
    Difference::RangeIsBounded,
    37,
    Effect::Verdict,
    "`lists.range` fails for a size below zero or above 1,000,000; before, the former was an empty list",
    "cel-go ext/lists.go, genRange",
)];

const fn row(
    difference: Difference,
    minor: u32,
    effect: Effect,
    what: &'static str,
    upstream: &'static str,
) -> Row {
    Row {
        difference,
        since: KubeVersion::v1(minor),
        effect,
        what,
        upstream,
    }
}
