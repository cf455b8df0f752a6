//! The table of differences.

use super::Difference;
use crate::version::KubeVersion;

/// The description of a difference between versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The difference.
    pub difference: Difference,
    /// The first version with the new behavior.
    pub since: KubeVersion,
    /// The effect.
    pub effect: Effect,
    /// A sentence that describes the new behavior, and the behavior before.
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

/// All differences, the oldest first. Differences of one version are ordered by effect.
pub const DIFFERENCES: &[Row] = &[
    row(
        Difference::SelectableFieldsMayStay,
        35,
        Effect::Verdict,
        "An update of a CustomResourceDefinition may keep more than eight `selectableFields`; before, it was refused",
        "apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go, findTooManySelectableFieldsAllowed",
    ),
    row(
        Difference::RulesShowValues,
        35,
        Effect::Message,
        "Errors of a CustomResourceDefinition's rules show the value, but no value for objects and lists; before, they showed the type in the schema (`Invalid value: \"object\"`)",
        "apiextensions-apiserver pkg/apiserver/schema/cel/validation.go, validateExpressions",
    ),
    row(
        Difference::LengthLimitsAreInBytes,
        35,
        Effect::Message,
        "Messages give the length limits of labels, annotation keys and other qualified names in bytes; before, in characters. The error for a key with two slashes contains `a valid label key must consist`; before, `a qualified name must consist`",
        "apimachinery pkg/api/validate/content/kube.go",
    ),
    row(
        Difference::SchemesAreOfLine111,
        35,
        Effect::Message,
        "Errors of objects with an unknown kind end with `in scheme \"pkg/runtime/scheme.go:111\"`; before, with `scheme.go:110`",
        "apimachinery pkg/runtime/scheme.go, NewScheme",
    ),
    row(
        Difference::FormatsDependOnTypes,
        36,
        Effect::Verdict,
        "A `format` applies only to its own type: `int32` and `int64` limit integers, `float` and `double` limit numbers; a format of another type is ignored with a warning",
        "apiextensions-apiserver pkg/apiserver/validation/formats.go",
    ),
    row(
        Difference::InternalErrorsHaveValues,
        36,
        Effect::Message,
        "Internal errors of the rules of a CustomResourceDefinition have an empty object as their `badValue`, and those of the expressions of a policy the error itself; before, they had none",
        "apimachinery pkg/util/validation/field/errors.go, InternalError",
    ),
    row(
        Difference::UnknownParamsAreDyn,
        36,
        Effect::Message,
        "Type checking of a policy declares `params` even if the schema of their kind is unknown; before, each use of them caused a warning",
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
        "`lists.range` fails for a size below zero or above 1,000,000; before, a size below zero gave an empty list",
        "cel-go ext/lists.go, genRange",
    ),
    row(
        Difference::PositionsStartAtZero,
        37,
        Effect::Verdict,
        "`s.indexOf('', -5)` and `s.lastIndexOf('', -5)` fail. With a position past the end, both find the empty text at the end. Before, both returned the position unchanged",
        "cel-go ext/strings.go, indexOfOffset",
    ),
    row(
        Difference::DurationsAreNoNumbers,
        37,
        Effect::Verdict,
        "`duration(1)` does not type-check, because no overload takes an int; before, the overload was declared but failed for every number",
        "cel-go common/stdlib/standard.go",
    ),
    row(
        Difference::FieldNamesCanBeQuoted,
        37,
        Effect::Verdict,
        "Fields can be written between backticks: {'a-b': 1}.`a-b`",
        "cel-go parser/parser.go, NewParser",
    ),
    row(
        Difference::LoopVariablesComeFirst,
        37,
        Effect::Verdict,
        "The variable `x` of a comprehension hides all declared variables with qualified names such as `x.y`: in the comprehension, `x.y` reads the field `y` of `x`. A name with a leading dot does not refer to the variable: in `l.all(l, .l == l)`, `.l` is the list",
        "cel-go checker/env.go, resolveSimpleIdent",
    ),
    row(
        Difference::OrNeedsAnOptional,
        37,
        Effect::Verdict,
        "`orValue` and `or` fail if the receiver is not an optional, as in `dyn(1).orValue(2)`; before, they returned the receiver unchanged",
        "cel-go cel/library.go, evalOptionalOrValue",
    ),
    row(
        Difference::OptionalsKeepValues,
        37,
        Effect::Verdict,
        "Reading an optional returns its value unchanged; before, a list with a schema lost its list type, and a value of a library type became an error",
        "cel-go interpreter/attributes.go, refQualify",
    ),
    row(
        Difference::JoinedListsHoldValues,
        37,
        Effect::Verdict,
        "Elements that are appended to a list with a schema stay unchanged; before, they were converted by the schema. Two sets, or two list maps, are equal only if each contains all members of the other; before, `self.set == ['x', 'x']` was true for the set of `x` and `y`",
        "apiserver pkg/cel/common/valuesunstructured.go",
    ),
    row(
        Difference::SumsLeaveQuantitiesUnchanged,
        37,
        Effect::Verdict,
        "`add` and `sub` of quantities do not change their receiver. Before, they changed a receiver that had more than 18 digits, or a binary suffix and a fraction: `[quantity('1.5Gi')].all(q, q.add(quantity('1Gi')) == q)` was true",
        "apiserver pkg/cel/library/quantity.go, quantityAdd",
    ),
    row(
        Difference::WholeDoublesAreNearIntegers,
        37,
        Effect::Verdict,
        "A double counts as an integer if it differs from the nearest integer by less than a billionth of that integer. Before, it counted as an integer if it was positive and exceeded an integer by less than about two billionths of that integer. So 1.15 is a multiple of a `multipleOf` of 0.01, and 123456789.125 is no longer of type `integer`",
        "go-openapi/swag convert.go, IsFloat64AJSONInteger",
    ),
    row(
        Difference::StaticNamesAreRefused,
        37,
        Effect::Verdict,
        "New policies, bindings and webhook configurations must not have names that end with `.static.k8s.io`",
        "kubernetes pkg/registry/admissionregistration",
    ),
    row(
        Difference::RequestsAreGoStructs,
        37,
        Effect::Verdict,
        "A JSON patch fails if its `value` is or contains `request`, `namespaceObject`, `params` of a built-in kind, or an object, list or map within them, such as `request.userInfo` or `params.data`. If the policy has match conditions, the same applies to `object` and `oldObject` of built-in kinds. `request.options` and values within an `Object{…}` are allowed. Before, all were allowed. In conditions, these values are compared by their Go types: `object.spec == 'x'` fails, and structs that differ only in the notation of quantities, such as `1Gi` and `1073741824`, or in empty and absent lists, are equal. A key that is not a text, as in `object[0]`, is an error, and `optional.ofNonZeroValue` holds empty ones, too. An apply configuration fails if a field is a list or object of a document that contains null, or a computed list or map that contains one of these values",
        "apiserver pkg/cel/common/valuesschemalesstyped.go; pkg/admission/conversion.go, CELValue",
    ),
    row(
        Difference::WorkloadDefaults,
        37,
        Effect::Verdict,
        "`maxUnavailable` of a StatefulSet's rolling update defaults to 1, and `preventPodSchedulingIfMissing` of a CSIDriver to false. Pod-level resource requests get no defaults before admission",
        "kubernetes pkg/apis/{apps,core,storage}/v1/defaults.go",
    ),
    row(
        Difference::CostsAreOfWhatIsRead,
        37,
        Effect::Cost,
        "The cost of `startsWith` and `endsWith` depends on the length of the prefix or suffix; before, it depended on the length of the whole text. `matches(s, re)` costs as much as `s.matches(re)`; before, it cost one unit",
        "cel-go interpreter/runtimecost.go, costCall; checker/cost.go",
    ),
    row(
        Difference::FailedFlattenCostsOneLevel,
        37,
        Effect::Cost,
        "`flatten(-1)`, which fails, costs as much as `flatten(1)`",
        "cel-go ext/lists.go, trackAllocatingListCall",
    ),
    row(
        Difference::NamesOfResourcesAreBounded,
        37,
        Effect::Cost,
        "Estimates of rules assume that `metadata.name` has at most 253 bytes; before, they assumed that it can be as long as a request",
        "apiextensions-apiserver pkg/apiserver/schema/cel/model/schemas.go, WithTypeAndObjectMeta",
    ),
    row(
        Difference::StructNamesAreTypes,
        37,
        Effect::Message,
        "In `a{b: 1}`, `a` can only be the name of a type. If a variable is named `a`, there is one error; before, there were two",
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
        Difference::ListAndMapAreOfDyn,
        37,
        Effect::Message,
        "The type of `list` is `type(list(dyn))` and that of `map` is `type(map(dyn, dyn))`; before, `type(list(A))` and `type(map(A, B))`. `list{}` is an error of the planner; before, of the checker",
        "cel-go cel/library.go, stdLibrary",
    ),
    row(
        Difference::MetadataErrorsArePrecise,
        37,
        Effect::Message,
        "Errors of owner references name the reference (`ownerReferences[1].kind: Required value`), errors of `managedFields[].operation` list the supported values, duplicate conditions are reported at the condition, and a `generation` below zero is an error in updates too",
        "apimachinery pkg/api/validation/objectmeta.go, pkg/apis/meta/v1/validation",
    ),
    row(
        Difference::SetsOfObjectsAreWarnedOf,
        37,
        Effect::Message,
        "A schema with `x-kubernetes-list-type: set` whose items are objects or lists causes a warning",
        "apiextensions-apiserver pkg/registry/customresourcedefinition/strategy.go, getNonScalarListTypeSetWarnings",
    ),
    row(
        Difference::ReviewsCallNoWebhooks,
        37,
        Effect::Message,
        "API servers call no webhooks for reviews of users and permissions (`tokenreviews`, `subjectaccessreviews` and similar resources). A rule of a webhook configuration that names such a resource causes a warning",
        "kubernetes pkg/apis/admissionregistration/validation/warnings.go",
    ),
    row(
        Difference::BindingsAreValidatedDeclaratively,
        37,
        Effect::Message,
        "The API server validates bindings declaratively: an absent `policyName` or `validationActions` is reported after all other errors, as `Required value` without an explanation. `gavel batch` answers without declarative validation",
        "kubernetes pkg/apis/admissionregistration/v1/zz_generated.validations.go; apiserver pkg/registry/rest/validate.go",
    ),
    row(
        Difference::FailuresAreAuditedTogether,
        37,
        Effect::Message,
        "The audit annotation `validation_failure` lists up to 50 failures of all policies, bindings and expressions; before, it contained only the first failure, and the API server logged an error for every other failure",
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
