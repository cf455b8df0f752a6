//! The differences, by name.

/// A difference between the answers of two successive versions of the API server.
///
/// It is named after the newer behavior. Its row in [`super::DIFFERENCES`] describes it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Difference {
    /// Errors of rules show the value instead of the type in the schema.
    RulesShowValues,
    /// Messages give the length limits of labels in bytes.
    LabelsAreMeasuredInBytes,
    /// A format applies only to the type that it belongs to.
    FormatsDependOnTypes,
    /// Type checking declares `params` even if the schema of their kind is unknown.
    UnknownParamsAreDyn,
    /// Names of policies, bindings and webhook configurations that end with `.static.k8s.io` cause a warning.
    StaticNamesAreWarnedOf,
    /// `lists.range` fails for a size below zero or above a million.
    RangeIsBounded,
    /// `indexOf` and `lastIndexOf` of an empty text fail for a position below zero.
    PositionsStartAtZero,
    /// `duration(int)` is not declared.
    DurationsAreNoNumbers,
    /// Expressions may select fields whose names are written between backticks.
    IdentifiersAreEscaped,
    /// A loop variable `a` hides declared names that begin with it, such as `a.b`. It does not hide names with a leading dot, such as `.a`.
    LoopVariablesComeFirst,
    /// The name of a struct literal is looked up only among types, not among variables.
    StructNamesAreTypes,
    /// `or` and `orValue` fail if their receiver is not an optional.
    OrNeedsAnOptional,
    /// Reading an optional returns the value that it holds unchanged, without converting it to a Go value and back.
    OptionalsKeepValues,
    /// `optional_type` is the type of optionals of `dyn`.
    OptionalTypeHasAParameter,
    /// A list with a schema holds CEL values after another list is appended to it.
    JoinedListsHoldValues,
    /// New policies, bindings and webhook configurations must not have names that end with `.static.k8s.io`.
    StaticNamesAreRefused,
    /// Schemas with `x-kubernetes-list-type: set` whose items are objects or lists cause a warning.
    SetsOfObjectsAreWarnedOf,
    /// The checks of metadata have the wording and order of generated validation code.
    MetadataIsValidatedAnew,
    /// The cost of `startsWith`, `endsWith` and `matches` depends on the bytes that they read.
    CostsAreOfWhatIsRead,
    /// `flatten` with a depth below zero costs as much as with a depth of one.
    FlatteningCostsOnceAtLeast,
    /// Cost estimates use a maximum length for names of resources.
    NamesOfResourcesAreBounded,
    /// All audited failures of a request are written into one annotation.
    FailuresAreAuditedTogether,
    /// Some defaults of Pods, StatefulSets and CSIDrivers are different.
    WorkloadDefaults,
}

impl Difference {
    /// The bit of this difference in a set.
    pub(super) const fn bit(self) -> u64 {
        1 << self as u32
    }
}
