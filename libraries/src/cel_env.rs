//! The language of CEL's specification with all its extension libraries, including those that Kubernetes does not offer.

use std::sync::OnceLock;

use gavel_engine::ast::operators;
use gavel_engine::decl::Overload;
use gavel_engine::env::Env;
use gavel_engine::stdlib;
use gavel_engine::syntax;
use gavel_engine::types::{OPTIONAL, Type, TypeTextError};

use crate::base_env::{Feature, builder};
use crate::cel::bindings::BINDINGS;
use crate::cel::encoders::ENCODERS;
use crate::cel::format::FORMAT_SINCE_4;
use crate::cel::format::validator::format_calls_since_4;
use crate::cel::lists::LISTS;
use crate::cel::math::{MATH, MATH_MACROS};
use crate::cel::network::NETWORK;
use crate::cel::optionals::OPTIONALS;
use crate::cel::sets::SETS;
use crate::cel::strings::{
    STRINGS, STRINGS_INDEX_FROM_SPECIFIED, STRINGS_SINCE_1, STRINGS_SINCE_2, STRINGS_SINCE_3,
};
use crate::cel::two_variable::TWO_VARIABLE;
use crate::kubernetes::cidr::CIDR;
use crate::kubernetes::ip::IP;

/// The number of slots of `cel.block` that the checker declares as variables. An expression that reads a later slot is rejected.
const BLOCK_SLOTS: usize = 64;

/// The strings library of version 4.
const STRINGS_4: &[&[Overload]] = &[
    STRINGS,
    STRINGS_INDEX_FROM_SPECIFIED,
    STRINGS_SINCE_1,
    STRINGS_SINCE_2,
    STRINGS_SINCE_3,
    FORMAT_SINCE_4,
];

/// The features in the order in which they are added.
pub const CEL_FEATURES: &[Feature] = &[
    Feature::Specification,
    // If several rows have the same id, the first row is used.
    Feature::Functions("standard", &[stdlib::SPECIFIED]),
    Feature::Functions("standard", stdlib::TABLES),
    Feature::Functions("standard", &[stdlib::DURATION_OF_INT]),
    Feature::Macros(syntax::STANDARD),
    Feature::CrossTypeNumericComparisons,
    Feature::OptionalSyntax,
    Feature::EscapedIdentifiers,
    Feature::TypeName(OPTIONAL),
    Feature::Macros(syntax::OPTIONALS),
    Feature::Functions("optionals", &[OPTIONALS]),
    Feature::Macros(syntax::TWO_VARIABLE),
    Feature::Functions("comprehensions", &[TWO_VARIABLE]),
    Feature::Macros(syntax::SORT_BY),
    Feature::Functions("lists", &[LISTS]),
    Feature::Functions("sets", &[SETS]),
    Feature::Macros(syntax::BINDINGS),
    Feature::Macros(syntax::BLOCK),
    Feature::Functions("bindings", &[BINDINGS]),
    Feature::Functions("encoders", &[ENCODERS]),
    Feature::Macros(MATH_MACROS),
    Feature::Functions("math", &[MATH]),
    Feature::Functions("strings", STRINGS_4),
    Feature::Validator(format_calls_since_4),
    Feature::TypeName(IP),
    Feature::TypeName(CIDR),
    Feature::Functions("network", &[NETWORK]),
];

/// The environment of CEL's specification, without variables. It is built only once.
///
/// # Errors
///
/// A table of functions is malformed.
pub fn cel_env() -> Result<Env, TypeTextError> {
    static BUILT: OnceLock<Result<Env, TypeTextError>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let slots = (0..BLOCK_SLOTS).map(operators::block_slot);
        let env = builder(CEL_FEATURES.iter().copied());
        slots
            .fold(env, |env, slot| env.variable(slot, Type::Dyn))
            .build()
    });
    built.clone()
}
