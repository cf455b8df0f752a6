//! The features that each Kubernetes version offers to expressions, in one table (apiserver `pkg/cel/environment/base.go`).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use gavel_apimachinery::server::{Difference, Server};
use gavel_apimachinery::version::KubeVersion;
use gavel_engine::check::validators;
use gavel_engine::decl::Overload;
use gavel_engine::env::{Corrections, Env, EnvBuilder, EnvOptions, Rules, Validator};
use gavel_engine::stdlib;
use gavel_engine::syntax::{self, Macro, Macros, ParserOptions};
use gavel_engine::types::{OPTIONAL, Type, TypeTextError};

use crate::cel::format::FORMAT_BEFORE_4;
use crate::cel::format::validator::format_calls_before_4;
use crate::cel::lists::{LISTS, LISTS_FLATTENED_ONCE_AT_LEAST, LISTS_WITH_BOUNDED_RANGE};
use crate::cel::optionals::OPTIONALS;
use crate::cel::sets::SETS;
use crate::cel::strings::{
    STRINGS, STRINGS_BEFORE_2, STRINGS_INDEX_FROM, STRINGS_INDEX_FROM_ZERO, STRINGS_SINCE_1,
    STRINGS_SINCE_2,
};
use crate::cel::two_variable::TWO_VARIABLE;
use crate::kubernetes::authorizer::{AUTHORIZER, AUTHORIZER_SELECTORS};
use crate::kubernetes::cidr::{CIDR, CIDRS};
use crate::kubernetes::equality::EQUALITY;
use crate::kubernetes::format::{FORMATS, FORMATS_IN_CHARACTERS};
use crate::kubernetes::ip::{IP, IPS};
use crate::kubernetes::lists::{LISTS as KUBERNETES_LISTS, LISTS_SINCE_1};
use crate::kubernetes::quantity::{QUANTITY, QUANTITY_SUMS_OF_COPIES};
use crate::kubernetes::regex::REGEX;
use crate::kubernetes::semver::SEMVER;
use crate::kubernetes::urls::URLS;

/// A feature of an environment.
#[derive(Debug, Clone, Copy)]
pub enum Feature {
    /// The name of a library, and tables of its functions.
    Functions(&'static str, &'static [&'static [Overload]]),
    /// Macros.
    Macros(&'static [Macro]),
    /// A library's type, whose name expressions can use as a value.
    TypeName(&'static str),
    /// A check that runs when an expression is compiled, such as a check of its literals.
    Validator(Validator),
    /// Comparisons of numbers of different types without `dyn()`, such as `1 < 1.5`.
    CrossTypeNumericComparisons,
    /// The syntax `.?`, `[?` and `{?`.
    OptionalSyntax,
    /// Field names between backticks.
    EscapedIdentifiers,
    /// The name of a type with parameters, and the type that is its value.
    NamedType(&'static str, fn() -> Type),
    /// Corrections that later versions of cel-go made.
    Corrections(fn(&mut Corrections)),
    /// The rules of CEL's specification instead of the rules of Kubernetes that differ from them.
    Specification,
}

/// A feature, with the versions that have it.
#[derive(Debug, Clone, Copy)]
pub struct Gated {
    /// The first version that has the feature; 1.0 if all versions have it.
    pub introduced: KubeVersion,
    /// The first version that no longer has the feature. Another feature replaces it and includes all its functions.
    pub removed: Option<KubeVersion>,
    /// Whether the feature has a gate that current API servers turn on by default. If so, expressions can use the feature for every
    /// Kubernetes version, even for versions before `introduced`.
    pub ungated: bool,
    /// If set, only servers that have (`true`) or lack (`false`) this difference have the feature.
    pub servers: Option<(Difference, bool)>,
    /// The feature itself.
    pub feature: Feature,
}

/// The features in the order in which they are added.
#[rustfmt::skip] // One row per line.
pub const FEATURES: &[Gated] = &[
    // If several rows declare the same overload, the first row is used.
    since(0, Feature::Functions("standard", &[EQUALITY])),
    with(Difference::CostsAreOfWhatIsRead, since(0, Feature::Functions("standard", &[stdlib::COSTED_BY_WHAT_IS_READ]))),
    since(0, Feature::Functions("standard", stdlib::TABLES)),
    without(Difference::DurationsAreNoNumbers, since(0, Feature::Functions("standard", &[stdlib::DURATION_OF_INT]))),
    with(Difference::FieldNamesCanBeQuoted, since(0, Feature::EscapedIdentifiers)),
    with(Difference::LoopVariablesComeFirst, since(0, Feature::Corrections(|all| all.names = true))),
    with(Difference::StructNamesAreTypes, since(0, Feature::Corrections(|all| all.struct_names = true))),
    with(Difference::ListAndMapAreOfDyn, since(0, Feature::NamedType("list", || Type::list(Type::Dyn)))),
    with(Difference::ListAndMapAreOfDyn, since(0, Feature::NamedType("map", || Type::map(Type::Dyn, Type::Dyn)))),
    with(Difference::OrNeedsAnOptional, since(28, Feature::Corrections(|all| all.receivers_of_or = true))),
    with(Difference::OptionalsKeepValues, since(28, Feature::Corrections(|all| all.held_values = true))),
    since(0, Feature::Macros(syntax::STANDARD)),
    since(0, Feature::Validator(validators::homogeneous_literals)),
    since(0, Feature::Functions("kubernetes.urls", &[URLS])),
    since(0, Feature::Functions("kubernetes.regex", &[REGEX])),
    since(0, Feature::Functions("kubernetes.lists", &[KUBERNETES_LISTS])),
    since(37, Feature::Functions("kubernetes.lists", &[LISTS_SINCE_1])),
    with(Difference::PositionsStartAtZero, since(0, Feature::Functions("strings", &[STRINGS_INDEX_FROM_ZERO]))),
    since(0, Feature::Functions("strings", &[STRINGS, STRINGS_INDEX_FROM])),
    until(29, Feature::Functions("strings", &[STRINGS_BEFORE_2])),
    since(27, Feature::Functions("kubernetes.authorizer", &[AUTHORIZER])),
    since(28, Feature::CrossTypeNumericComparisons),
    since(28, Feature::OptionalSyntax),
    with(Difference::OptionalTypeHasAParameter, since(28, Feature::NamedType(OPTIONAL, || Type::optional(Type::Dyn)))),
    without(Difference::OptionalTypeHasAParameter, since(28, Feature::TypeName(OPTIONAL))),
    since(28, Feature::Macros(syntax::OPTIONALS)),
    since(28, Feature::Functions("optionals", &[OPTIONALS])),
    with(Difference::SumsLeaveQuantitiesUnchanged, since(28, Feature::Functions("kubernetes.quantity", &[QUANTITY_SUMS_OF_COPIES]))),
    since(28, Feature::Functions("kubernetes.quantity", &[QUANTITY])),
    since(29, Feature::Validator(validators::duration_literals)),
    since(29, Feature::Validator(validators::timestamp_literals)),
    since(29, Feature::Validator(validators::regex_literals)),
    since(29, Feature::Functions("strings", &[STRINGS_SINCE_1, STRINGS_SINCE_2, FORMAT_BEFORE_4])),
    since(29, Feature::Validator(format_calls_before_4)),
    since(29, Feature::Functions("sets", &[SETS])),
    since(30, Feature::TypeName(IP)),
    since(30, Feature::Functions("kubernetes.net.ip", &[IPS])),
    since(30, Feature::TypeName(CIDR)),
    since(30, Feature::Functions("kubernetes.net.cidr", &[CIDRS])),
    Gated { ungated: true, ..since(31, Feature::Functions("kubernetes.authorizer", &[AUTHORIZER_SELECTORS])) },
    without(Difference::LengthLimitsAreInBytes, since(31, Feature::Functions("kubernetes.format", &[FORMATS_IN_CHARACTERS]))),
    since(31, Feature::Functions("kubernetes.format", &[FORMATS])),
    since(32, Feature::Macros(syntax::TWO_VARIABLE)),
    since(32, Feature::Functions("comprehensions", &[TWO_VARIABLE])),
    since(33, Feature::Functions("kubernetes.Semver", &[SEMVER])),
    since(34, Feature::Macros(syntax::SORT_BY)),
    with(Difference::RangeIsBounded, since(34, Feature::Functions("lists", &[LISTS_WITH_BOUNDED_RANGE]))),
    with(Difference::FailedFlattenCostsOneLevel, since(34, Feature::Functions("lists", &[LISTS_FLATTENED_ONCE_AT_LEAST]))),
    since(34, Feature::Functions("lists", &[LISTS])),
];

const fn since(minor: u32, feature: Feature) -> Gated {
    Gated {
        introduced: KubeVersion::v1(minor),
        removed: None,
        ungated: false,
        servers: None,
        feature,
    }
}

/// A feature of only the servers that have a difference.
const fn with(difference: Difference, gated: Gated) -> Gated {
    Gated {
        servers: Some((difference, true)),
        ..gated
    }
}

/// A feature of only the servers that lack a difference.
const fn without(difference: Difference, gated: Gated) -> Gated {
    Gated {
        servers: Some((difference, false)),
        ..gated
    }
}

const fn until(minor: u32, feature: Feature) -> Gated {
    Gated {
        introduced: KubeVersion::v1(0),
        removed: Some(KubeVersion::v1(minor)),
        ungated: false,
        servers: None,
        feature,
    }
}

impl Feature {
    /// The rows of the feature's functions; empty if the feature has no functions.
    pub fn rows(&self) -> impl Iterator<Item = &'static Overload> {
        let tables = match *self {
            Feature::Functions(_, tables) => tables,
            _ => &[],
        };
        tables.iter().copied().flatten()
    }
}

impl Gated {
    /// Whether a server offers the feature to new expressions.
    pub(crate) fn is_in(&self, server: Server) -> bool {
        let version = server.language();
        (self.ungated || self.introduced <= version)
            && self.removed.is_none_or(|removed| version < removed)
            && self
                .servers
                .is_none_or(|(difference, has)| server.has(difference) == has)
    }
}

/// The environment that a server offers to new expressions, without variables. Each environment is built only once.
pub(crate) fn base_env(server: Server) -> Result<Env, TypeTextError> {
    static BUILT: Mutex<BTreeMap<Server, Env>> = Mutex::new(BTreeMap::new());
    // Versions with the same features share an environment.
    let changes = FEATURES
        .iter()
        .flat_map(|gated| [Some(gated.introduced), gated.removed]);
    let change = changes
        .flatten()
        .filter(|change| *change <= server.language())
        .max();
    let server = server.offering(change.unwrap_or(server.language()));
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(env) = built.get(&server) {
        return Ok(env.clone());
    }
    let features = FEATURES.iter().filter(|gated| gated.is_in(server));
    let env = builder(features.map(|gated| gated.feature)).build()?;
    built.insert(server, env.clone());
    Ok(env)
}

/// A builder with these features.
pub(crate) fn builder(features: impl Iterator<Item = Feature>) -> EnvBuilder {
    let mut options = EnvOptions {
        cross_type_numeric_comparisons: false,
        ..EnvOptions::default()
    };
    let mut parser = ParserOptions {
        optional_syntax: false,
        ..ParserOptions::default()
    };
    let mut macros = Vec::new();
    let builder = features.fold(Env::builder(), |builder, feature| match feature {
        Feature::Functions(_, tables) => tables
            .iter()
            .fold(builder, |builder, rows| builder.overloads(rows)),
        Feature::Macros(table) => {
            macros.push(table);
            builder
        }
        Feature::TypeName(name) => builder.opaque_type(name),
        Feature::NamedType(name, ty) => builder.library_type(name, ty()),
        Feature::Corrections(correct) => {
            correct(&mut options.corrections);
            builder
        }
        Feature::Validator(validator) => builder.validator(validator),
        Feature::CrossTypeNumericComparisons => {
            options.cross_type_numeric_comparisons = true;
            builder
        }
        Feature::Specification => {
            options.rules = Rules::Specification;
            builder
        }
        Feature::OptionalSyntax => {
            parser.optional_syntax = true;
            builder
        }
        Feature::EscapedIdentifiers => {
            parser.escaped_identifiers = true;
            builder
        }
    });
    builder
        .macros(Macros::new(&macros))
        .parser(parser)
        .options(options)
}

#[cfg(test)]
mod tests;
