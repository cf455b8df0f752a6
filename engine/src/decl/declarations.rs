//! The declarations of an environment: everything that the checker and the planner look up by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use smol_str::SmolStr;

use super::{FunctionDecl, FunctionIndex, Functions, OverloadDecl, TypeProvider, TypeProviders};
use crate::ast::{Call, NameFilter};
use crate::types::Type;

/// The first part of names such as `google.protobuf.Timestamp`, which every environment declares.
const PROTOCOL_BUFFERS: &str = "google";

/// The variables, functions, types and options of an environment.
#[derive(Debug, Clone, Default)]
pub struct Declarations {
    pub(crate) container: SmolStr,
    variables: FxHashMap<SmolStr, Type>,
    /// The variables whose values vary between evaluations that share [`Invariants`](crate::program::Invariants).
    varying: SmallVec<[SmolStr; 2]>,
    /// The functions, shared with the environments that extend this one.
    functions: Arc<Functions>,
    /// The types of libraries, by name.
    library_types: BTreeMap<SmolStr, Type>,
    pub(crate) providers: TypeProviders,
    pub(crate) options: EnvOptions,
    /// The first parts of the dotted names of variables, functions and libraries' types.
    roots: FxHashSet<SmolStr>,
    root_filter: NameFilter,
}

/// The kinds of declarations that dotted names with a given first part may refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum NamesBelow {
    /// Nothing.
    #[default]
    None,
    /// Only types of the host.
    OfHost,
    /// Any declaration.
    Declared,
}

/// The options of an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnvOptions {
    /// Whether `1 < 1.5` is allowed without `dyn()`. Kubernetes allows it since 1.28.
    pub cross_type_numeric_comparisons: bool,
    /// Whether Kubernetes' rules or the rules of CEL's specification apply where they differ.
    pub rules: Rules,
    /// Which corrections of later cel-go versions apply.
    pub corrections: Corrections,
}

/// Behavior that later versions of cel-go corrected to follow the specification. A field is true if the correction applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Corrections {
    /// A comprehension variable takes precedence, even over longer dotted names that begin with its name. A name with a leading dot never
    /// refers to a comprehension variable.
    pub names: bool,
    /// Reading an optional returns its value unchanged. Without this correction, the value is converted to a Go value and back.
    pub held_values: bool,
    /// `or` and `orValue` fail if their receiver is not an optional.
    pub receivers_of_or: bool,
    /// The name before the braces of a struct literal always means a type, even if a variable has the same name.
    pub struct_names: bool,
}

/// The rules that apply where Kubernetes and CEL's specification differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rules {
    /// The rules of the version of CEL that Kubernetes uses.
    #[default]
    Kubernetes,
    /// The rules of the specification:
    ///
    /// - a loop variable hides all other names except those with a leading dot;
    /// - keys of map literals are bools, ints, uints or strings, and no two keys of a literal are equal;
    /// - an index by a constant that cannot be a key fails at run time, not at planning;
    /// - a test for a field or key is an error, not false, if the value is neither a map, a list nor an optional;
    /// - the common type of null and a nullable type is the nullable type;
    /// - reading an optional returns its value unchanged, without a conversion to a Go value and back.
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
    /// Adds a variable. It replaces an earlier variable with this name.
    pub(crate) fn add_variable(&mut self, name: SmolStr, ty: Type) {
        self.add_root(&name);
        self.variables.insert(name, ty);
    }

    /// Marks a variable as varying.
    pub(crate) fn add_varying(&mut self, name: SmolStr) {
        self.varying.push(name);
    }

    /// Whether any variable is marked as varying.
    pub(crate) fn has_varying(&self) -> bool {
        !self.varying.is_empty()
    }

    /// Whether a variable is marked as varying.
    pub(crate) fn is_varying(&self, name: &str) -> bool {
        self.varying.iter().any(|varying| varying == name)
    }

    /// Adds the type of a library. It replaces an earlier library type with this name.
    pub(crate) fn add_library_type(&mut self, name: SmolStr, ty: Type) {
        self.add_root(&name);
        self.library_types.insert(name, ty);
    }

    fn add_root(&mut self, name: &str) {
        if let Some((root, _)) = name.split_once('.')
            && !self.roots.contains(root)
        {
            self.root_filter.add(root);
            self.roots.insert(root.into());
        }
    }

    /// What names that begin with `root` and a dot may refer to.
    pub(crate) fn names_below(&self, root: &str) -> NamesBelow {
        let is_root = self.root_filter.may_have(root) && self.roots.contains(root);
        if is_root || !self.container.is_empty() || root == PROTOCOL_BUFFERS {
            NamesBelow::Declared
        } else if self.providers.has_names_below(root) {
            NamesBelow::OfHost
        } else {
            NamesBelow::None
        }
    }

    /// Adds an overload of a function, unless the function has an overload with this id.
    pub(crate) fn add_overload(&mut self, function: SmolStr, overload: OverloadDecl) {
        self.add_root(&function);
        Arc::make_mut(&mut self.functions).add(function, overload);
    }

    /// The container in which names are resolved (see [`resolve_name`](crate::check::resolve_name)); empty in Kubernetes.
    pub fn container(&self) -> &str {
        &self.container
    }

    /// The type of a variable; `None` if the variable is not declared.
    pub fn variable(&self, name: &str) -> Option<&Type> {
        self.variables.get(name)
    }

    /// The function with this name; `None` if it is not declared.
    pub fn function(&self, name: &str) -> Option<&FunctionDecl> {
        self.function_at(self.function_index(name)?)
    }

    /// The position of the function with this name among the functions of the environment.
    pub(crate) fn function_index(&self, name: &str) -> Option<FunctionIndex> {
        self.functions.index(name)
    }

    /// The function that a call with this name means, if the environment has no container.
    pub(crate) fn called(&self, call: &Call<'_>) -> Option<FunctionIndex> {
        match call.name.given() {
            Some(position) => self.functions.given(position),
            None => self.functions.index(call.function),
        }
    }

    /// The function at this position.
    pub(crate) fn function_at(&self, index: FunctionIndex) -> Option<&FunctionDecl> {
        self.functions.at(index)
    }

    /// The functions, which checked expressions share.
    pub(crate) fn shared_functions(&self) -> Arc<Functions> {
        Arc::clone(&self.functions)
    }

    /// All functions, sorted by name.
    pub fn functions(&self) -> Vec<&FunctionDecl> {
        let mut functions: Vec<_> = self.functions.iter().collect();
        functions.sort_by(|a, b| a.name.cmp(&b.name));
        functions
    }

    /// The type with this name that a library, the language or the host provides, in this order; `None` if none of them provides one.
    pub fn find_type(&self, name: &str) -> Option<Type> {
        let library = self.library_types.get(name).cloned();
        let known = library.or_else(|| Type::named(name));
        known.or_else(|| self.provider().find_type(name))
    }

    /// Whether a library provides a type with this name. The name of a library's type is also a value; the name of a host's type is not.
    pub fn has_library_type(&self, name: &str) -> bool {
        self.library_types.contains_key(name)
    }

    /// The types that hosts provide.
    pub fn provider(&self) -> &dyn TypeProvider {
        &self.providers
    }

    /// The options.
    pub fn options(&self) -> &EnvOptions {
        &self.options
    }

    /// The corrections that apply. If the environment follows CEL's specification, they include those that the specification requires.
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

    /// Whether the rules of CEL's specification apply.
    pub(crate) fn follows_specification(&self) -> bool {
        self.options.rules == Rules::Specification
    }
}
