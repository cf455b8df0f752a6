//! The differences, by name.

/// Something that API servers answer differently from those of the version before.
///
/// A difference between versions, named after the newer behavior. Its row in [`super::DIFFERENCES`] describes it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Difference {
    /// Errors of rules show the value, and not the type of the schema.
    RulesShowValues,
    /// Lengths of labels are said to be in bytes.
    LabelsAreMeasuredInBytes,
    /// A format applies only to the type that it belongs to.
    FormatsDependOnTypes,
    /// Type checking declares `params` even if the schema of their kind is unknown.
    UnknownParamsAreDyn,
    /// Names that end with `.static.k8s.io` cause a warning.
    StaticNamesAreWarnedOf,
    /// `lists.range` fails for a size below zero or above a million.
    RangeIsBounded,
    /// `indexOf` and `lastIndexOf` of the empty text fail for a position below zero.
    PositionsStartAtZero,
    /// `duration(int)` is not declared.
    DurationsAreNoNumbers,
    /// Fields between backticks are read.
    IdentifiersAreEscaped,
    /// Loop variables hide longer names, and a leading dot passes them by.
    LoopVariablesComeFirst,
    /// The name of a struct literal is that of a type, whatever variables there are.
    StructNamesAreTypes,
    /// `or` and `orValue` fail if their receiver is not an optional.
    OrNeedsAnOptional,
    /// The value that an optional holds is unchanged when the optional is read.
    OptionalsKeepValues,
    /// `optional_type` is the type of optionals of `dyn`.
    OptionalTypeHasAParameter,
    /// Lists of a schema with others appended hold CEL values.
    JoinedListsHoldValues,
    /// The reserved names cannot be given to new objects.
    StaticNamesAreRefused,
    /// The checks of metadata are worded and placed like those that are generated.
    MetadataIsValidatedAnew,
    /// The cost of `startsWith`, `endsWith` and `matches` follows what they read.
    CostsAreOfWhatIsRead,
    /// `flatten` with a depth below zero costs as much as with one.
    FlatteningCostsOnceAtLeast,
    /// Names of resources have a greatest length where costs are estimated.
    NamesOfResourcesAreBounded,
    /// All audited failures of a request are written into one annotation.
    FailuresAreAuditedTogether,
    /// Defaults of pods, StatefulSets and CSIDrivers.
    WorkloadDefaults,
}

impl Difference {
    /// The bit of this difference in a set.
    pub(super) const fn bit(self) -> u64 {
        1 << self as u32
    }
}
