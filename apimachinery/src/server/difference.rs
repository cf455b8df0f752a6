//! The names of the differences between versions of the API server.

/// A change in the answers of the API server from one version to the next.
///
/// Names and summaries describe the newer behavior. The rows in [`super::DIFFERENCES`] describe both behaviors exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Difference {
    /// An update of a definition may keep more selectable fields than a new definition can have.
    SelectableFieldsMayStay,
    /// Errors of validation rules show the invalid value instead of its type in the schema.
    RulesShowValues,
    /// Messages give the length limits of labels in bytes instead of characters.
    LengthLimitsAreInBytes,
    /// Messages about unknown kinds name line 111 of `scheme.go` instead of line 110.
    SchemesAreOfLine111,
    /// A schema's `format` applies only to the type to which the format belongs.
    FormatsDependOnTypes,
    /// Internal errors contain a value: an empty object.
    InternalErrorsHaveValues,
    /// The type check of policies declares `params` even if the schema of the params' kind is unknown.
    UnknownParamsAreDyn,
    /// Names of policies, bindings and webhook configurations that end with `.static.k8s.io` cause a warning.
    StaticNamesAreWarnedOf,
    /// `lists.range` fails for a size below zero or above a million.
    RangeIsBounded,
    /// `s.indexOf('', n)` and `s.lastIndexOf('', n)` fail if the position `n` is below zero.
    PositionsStartAtZero,
    /// `duration(int)` is not declared.
    DurationsAreNoNumbers,
    /// Expressions may select fields whose names are written between backticks.
    FieldNamesCanBeQuoted,
    /// A loop variable `a` hides declared names that begin with it, such as `a.b`. It does not hide names with a leading dot, such as `.a`.
    LoopVariablesComeFirst,
    /// The name of a struct literal is looked up only among types, not among variables.
    StructNamesAreTypes,
    /// `or` and `orValue` fail if their receiver is not an optional.
    OrNeedsAnOptional,
    /// Reading an optional returns its value unchanged. Older servers convert the value to a Go value and back.
    OptionalsKeepValues,
    /// The value of the identifier `optional_type` is the type `optional_type(dyn)`.
    OptionalTypeHasAParameter,
    /// The values of the identifiers `list` and `map` are types of dyn.
    ListAndMapAreOfDyn,
    /// Elements that are appended to a list with a schema stay the same CEL values.
    JoinedListsHoldValues,
    /// `add` and `sub` do not change the quantity that is their receiver.
    SumsLeaveQuantitiesUnchanged,
    /// A double is an integer, or a multiple of a schema's `multipleOf`, if it is near the nearest integer or multiple.
    WholeDoublesAreNearIntegers,
    /// New policies, bindings and webhook configurations must not have names that end with `.static.k8s.io`.
    StaticNamesAreRefused,
    /// Schemas with `x-kubernetes-list-type: set` whose items are objects or lists cause a warning.
    SetsOfObjectsAreWarnedOf,
    /// Errors in metadata are more precise. For example, errors of owner references name the reference.
    MetadataErrorsArePrecise,
    /// The cost of `startsWith`, `endsWith` and `matches` depends on the number of bytes that they read.
    CostsAreOfWhatIsRead,
    /// A call of `flatten` with a depth below zero costs as much as a call with a depth of one.
    FailedFlattenCostsOneLevel,
    /// Cost estimates use a maximum length for names of resources.
    NamesOfResourcesAreBounded,
    /// All audited failures of a request are written into one annotation.
    FailuresAreAuditedTogether,
    /// Some defaults of Pods, StatefulSets and CSIDrivers are different.
    WorkloadDefaults,
    /// A running API server validates bindings declaratively, too (see `Validator::of_a_running_server` of the crate `gavel-policy`).
    BindingsAreValidatedDeclaratively,
    /// Webhooks are not called for reviews of users and permissions. Rules of webhook configurations that name such reviews cause a warning.
    ReviewsCallNoWebhooks,
    /// `request`, `namespaceObject`, objects of built-in kinds and the values within them are compared by their Go types, and cannot be the
    /// values of JSON patches.
    RequestsAreGoStructs,
}

impl Difference {
    /// The bit of this difference in a set.
    pub(super) const fn bit(self) -> u64 {
        1 << self as u32
    }
}
