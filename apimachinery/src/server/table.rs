//! The table of differences.

use super::Difference;
use crate::version::KubeVersion;

/// A difference between versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The difference.
    pub difference: Difference,
    /// The first version with the new behavior.
    pub since: KubeVersion,
    /// The effect.
    pub effect: Effect,
    /// The new behavior and the behavior before, in a sentence.
    pub what: &'static str,
    /// The change in upstream's code, with its file.
    pub upstream: &'static str,
}

/// The most severe effect of a difference on an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// A verdict or the value of an expression.
    Verdict,
    /// A cost or a cost estimate.
    Cost,
    /// The wording of a message.
    Message,
}

/// All differences, the oldest first; within a version ordered by effect.
pub const DIFFERENCES: &[Row] = &[
    row(
        Difference::RulesShowValues,
        35,
        Effect::Message,
        "Errors of a CustomResourceDefinition's rules show the value (nothing for objects and lists); before, the type that the schema names (`Invalid value: \"object\"`)",
        "apiextensions-apiserver pkg/apiserver/schema/cel/validation.go, validateExpressions",
    ),
    row(
        Difference::LabelsAreMeasuredInBytes,
        35,
        Effect::Message,
        "Lengths of labels, annotation keys and other qualified names are said to be in bytes; before, in characters. A key with two slashes is no `valid label key`; before, no `qualified name`",
        "apimachinery pkg/api/validate/content/kube.go",
    ),
    row(
        Difference::FormatsDependOnTypes,
        36,
        Effect::Verdict,
        "`format` is known for the type that it is of: `int32` and `int64` bound integers, `float` and `double` numbers; formats of other types are ignored, with a warning",
        "apiextensions-apiserver pkg/apiserver/validation/formats.go",
    ),
    row(
        Difference::UnknownParamsAreDyn,
        36,
        Effect::Message,
        "Type checking of a policy declares `params` also where no schema of their kind is known; before, each use of them caused a warning",
        "apiserver pkg/admission/plugin/policy/validating/typechecking.go, buildEnvSet",
    ),
    row(
        Difference::StaticNamesAreWarnedOf,
        36,
        Effect::Message,
        "Names of policies, bindings and webhook configurations that end with `.static.k8s.io` cause a warning",
        "kubernetes pkg/apis/admissionregistration/validation/static_suffix.go",
    ),
    row(
        Difference::RangeIsBounded,
        37,
        Effect::Verdict,
        "`lists.range` fails for a size below zero or above 1,000,000; before, the former was an empty list",
        "cel-go ext/lists.go, genRange",
    ),
    row(
        Difference::PositionsStartAtZero,
        37,
        Effect::Verdict,
        "`s.indexOf('', -5)` fails, as does `lastIndexOf`, and past the end the empty text is found at the end; before, the position came back as it was",
        "cel-go ext/strings.go, indexOfOffset",
    ),
    row(
        Difference::DurationsAreNoNumbers,
        37,
        Effect::Verdict,
        "`duration(1)` finds no overload; before, it was declared and refused",
        "cel-go common/stdlib/standard.go",
    ),
    row(
        Difference::IdentifiersAreEscaped,
        37,
        Effect::Verdict,
        "Fields may be written between backticks: {'a-b': 1}.`a-b`",
        "cel-go parser/parser.go, NewParser",
    ),
    row(
        Difference::LoopVariablesComeFirst,
        37,
        Effect::Verdict,
        "A variable of a comprehension hides longer names that start with it, and a leading dot passes it by: in `l.all(l, .l == l)`, `.l` is the list",
        "cel-go checker/env.go, resolveSimpleIdent",
    ),
    row(
        Difference::OrNeedsAnOptional,
        37,
        Effect::Verdict,
        "`dyn(1).orValue(2)` fails, as does `or`; before, what is no optional came back as it was",
        "cel-go cel/library.go, evalOptionalOrValue",
    ),
    row(
        Difference::OptionalsKeepValues,
        37,
        Effect::Verdict,
        "What an optional holds stays as it is when the optional is read; before, a list of a schema became any list, and the value of a library nothing",
        "cel-go interpreter/attributes.go, refQualify",
    ),
    row(
        Difference::JoinedListsHoldValues,
        37,
        Effect::Verdict,
        "Lists of a schema with others appended hold CEL values, and sets and list maps are equal only if each has all that the other has; before, what was appended was read anew by the schema, and `self.set == ['x', 'x']` held for the set of `x` and `y`",
        "apiserver pkg/cel/common/valuesunstructured.go",
    ),
    row(
        Difference::StaticNamesAreRefused,
        37,
        Effect::Verdict,
        "New policies, bindings and webhook configurations must not have names that end with `.static.k8s.io`",
        "kubernetes pkg/registry/admissionregistration",
    ),
    row(
        Difference::WorkloadDefaults,
        37,
        Effect::Verdict,
        "`maxUnavailable` of a StatefulSet's rolling update is 1 and `preventPodSchedulingIfMissing` of a CSIDriver false where they are not set; requests of a pod as a whole get no defaults before admission",
        "kubernetes pkg/apis/{apps,core,storage}/v1/defaults.go",
    ),
    row(
        Difference::CostsAreOfWhatIsRead,
        37,
        Effect::Cost,
        "`startsWith` and `endsWith` cost by the length of the part, `matches(s, re)` as `s.matches(re)`; before, by the length of the text, and one unit",
        "cel-go interpreter/runtimecost.go, costCall; checker/cost.go",
    ),
    row(
        Difference::FlatteningCostsOnceAtLeast,
        37,
        Effect::Cost,
        "`flatten(-1)`, which fails, costs as much as `flatten(1)`",
        "cel-go ext/lists.go, trackAllocatingListCall",
    ),
    row(
        Difference::NamesOfResourcesAreBounded,
        37,
        Effect::Cost,
        "Estimates of rules take `metadata.name` of an object to have 253 bytes at most; before, as many as a request",
        "apiextensions-apiserver pkg/apiserver/schema/cel/model/schemas.go, WithTypeAndObjectMeta",
    ),
    row(
        Difference::StructNamesAreTypes,
        37,
        Effect::Message,
        "The name before the braces of `a{b: 1}` is looked up among types alone, so that a variable of this name is one error and not two",
        "cel-go checker/env.go, resolveTypeIdent",
    ),
    row(
        Difference::OptionalTypeHasAParameter,
        37,
        Effect::Message,
        "The type of `optional_type` is `type(optional_type(dyn))`; before, `type(optional_type)`",
        "cel-go common/types/optional.go",
    ),
    row(
        Difference::MetadataIsValidatedAnew,
        37,
        Effect::Message,
        "Errors of owner references name the reference (`ownerReferences[1].kind: Required value`), `managedFields[].operation` names the values that are supported, duplicate conditions are told at the condition, and `generation` below zero is an error also of an update",
        "apimachinery pkg/api/validation/objectmeta.go, pkg/apis/meta/v1/validation",
    ),
    row(
        Difference::FailuresAreAuditedTogether,
        37,
        Effect::Message,
        "The audit annotation `validation_failure` holds the failures of all policies, bindings and expressions, 50 at most; before, the first that was written, and an error in the log for each of the rest",
        "apiserver pkg/admission/plugin/policy/validating/dispatcher.go, publishValidationFailureAnnotations",
    ),
];

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
