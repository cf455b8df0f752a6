//! What an environment declares: everything that the checker and the planner look up by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::{FunctionDecl, OverloadDecl, TypeProvider, TypeProviders};
use crate::types::Type;

/// Variables, functions, types and options.
#[derive(Debug, Clone, Default)]
pub struct Declarations {
    pub(crate) container: SmolStr,
    pub(crate) variables: FxHashMap<SmolStr, Type>,
    /// Shared with the environments that extend this one.
    functions: Arc<FxHashMap<SmolStr, Arc<FunctionDecl>>>,
    /// Those that libraries brought, by name.
    pub(crate) library_types: BTreeMap<SmolStr, Type>,
    pub(crate) providers: TypeProviders,
    pub(crate) options: EnvOptions,
}

/// Choices that are neither variables nor functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvOptions {
    /// Whether `1 < 1.5` may be written without `dyn()`: in Kubernetes since 1.28.
    pub cross_type_numeric_comparisons: bool,
    /// Whose rules hold where Kubernetes and CEL's specification differ.
    pub rules: Rules,
    /// The corrections that a later version of cel-go made to what Kubernetes' first ones do.
    pub corrections: Corrections,
}

/// What later versions of cel-go do as the specification has it, while earlier ones do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Corrections {
    /// Variables of comprehensions come first, even before longer names that start with theirs, and names with a leading
    /// dot pass them by.
    pub names: bool,
    /// What an optional holds stays as it is when the optional is read.
    pub held_values: bool,
    /// `or` and `orValue` fail where their receiver turns out to be no optional.
    pub receivers_of_or: bool,
    /// The name before the braces of a struct literal is that of a type, whatever variables there are.
    pub struct_names: bool,
}

/// Whose rules hold where Kubernetes and CEL's specification differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rules {
    /// Those of the version of CEL in Kubernetes.
    #[default]
    Kubernetes,
    /// Those of the specification: a loop variable hides all other names but those with a leading dot; keys of map
    /// literals are bools, ints, uints and strings, no two of them equal; a constant that cannot be a key fails where it
    /// is looked up, not ahead of it; what is neither map nor list has no fields that could be absent; of the type of
    /// null and another that allows null the other counts; and what an optional holds stays as it is when the optional is
    /// read.
    Specification,
}

impl Default for EnvOptions {
    fn default() -> Self {
        EnvOptions {
            cross_type_numeric_comparisons: true,
            rules: Rules::Kubernetes,
            corrections: Corrections::default(),
        }
    }
}

impl Declarations {
    /// Adds one overload of a function, unless an overload of its id is there already.
    pub(crate) fn add_overload(&mut self, function: SmolStr, overload: OverloadDecl) {
        let declared = Arc::make_mut(&mut self.functions).entry(function.clone());
        let decl = Arc::make_mut(declared.or_insert_with(|| {
            Arc::new(FunctionDecl {
                name: function,
                overloads: Vec::new(),
            })
        }));
        if decl.overloads.iter().all(|known| known.id != overload.id) {
            decl.overloads.push(Arc::new(overload));
        }
    }

    /// The prefix against which names are resolved; empty in Kubernetes.
    pub fn container(&self) -> &str {
        &self.container
    }

    /// The type of a variable.
    pub fn variable(&self, name: &str) -> Option<&Type> {
        self.variables.get(name)
    }

    /// A function by its name.
    pub fn function(&self, name: &str) -> Option<&Arc<FunctionDecl>> {
        self.functions.get(name)
    }

    /// All functions by name.
    pub fn functions(&self) -> Vec<&Arc<FunctionDecl>> {
        let mut functions: Vec<_> = self.functions.values().collect();
        functions.sort_by(|a, b| a.name.cmp(&b.name));
        functions
    }

    /// The type of this name that a library or the host brought.
    pub fn find_type(&self, name: &str) -> Option<Type> {
        match self.library_types.get(name) {
            Some(ty) => Some(ty.clone()),
            None => self.provider().find_type(name),
        }
    }

    /// Whether a library brought a type of this name, which then is a value, too. The names of a host's types are none.
    pub fn has_library_type(&self, name: &str) -> bool {
        self.library_types.contains_key(name)
    }

    /// The types that hosts brought.
    pub fn provider(&self) -> &dyn TypeProvider {
        &self.providers
    }

    /// The options.
    pub fn options(&self) -> &EnvOptions {
        &self.options
    }

    /// The corrections in force. An environment that follows CEL's specification always has those that the specification demands.
    pub(crate) fn corrections(&self) -> Corrections {
        match self.follows_specification() {
            true => Corrections {
                names: true,
                held_values: true,
                ..self.options.corrections
            },
            false => self.options.corrections,
        }
    }

    /// Whether the rules of CEL's specification hold.
    pub(crate) fn follows_specification(&self) -> bool {
        self.options.rules == Rules::Specification
    }
}
