//! The resolution of names (cel-go `common/containers`, and the lookups of `checker/env.go`).

use smallvec::SmallVec;
use smol_str::SmolStr;

use super::Referent;
use crate::decl::{Declarations, FunctionIndex};
use crate::types::Type;

/// Resolves a name in a container: calls `find` with each candidate and returns the first declaration that it finds.
/// In container `a.b`, the candidates of `x` are `a.b.x`, `a.x` and `x`. The only candidate of `.x` is `x`.
pub fn resolve_name<T>(
    container: &str,
    name: &str,
    mut find: impl FnMut(&str) -> Option<T>,
) -> Option<T> {
    if let Some(absolute) = name.strip_prefix('.') {
        return find(absolute);
    }
    let mut prefix = Some(container).filter(|container| !container.is_empty());
    while let Some(container) = prefix {
        if let Some(found) = find(&format!("{container}.{name}")) {
            return Some(found);
        }
        prefix = container.rsplit_once('.').map(|(parent, _)| parent);
    }
    find(name)
}

/// The function with this name in the environment's container.
pub(super) fn find_function(env: &Declarations, name: &str) -> Option<FunctionIndex> {
    resolve_name(env.container(), name, |candidate| {
        env.function_index(candidate)
    })
}

/// The declaration of an identifier.
#[derive(Debug)]
pub(super) struct Declared {
    /// The full name.
    pub(super) name: SmolStr,
    pub(super) ty: Type,
    pub(super) referent: Referent,
}

/// The variables of the comprehensions around an expression, the innermost last.
#[derive(Debug, Default)]
pub(super) struct Scopes<'c>(SmallVec<[(&'c str, Type); 4]>);

impl<'c> Scopes<'c> {
    pub(super) fn depth(&self) -> usize {
        self.0.len()
    }

    pub(super) fn enter(&mut self, name: &'c str, ty: Type) {
        self.0.push((name, ty));
    }

    pub(super) fn leave_to(&mut self, depth: usize) {
        self.0.truncate(depth);
    }

    /// The type of the variable `name`, of a comprehension or of the environment. `None` for other declarations, and for names that are not
    /// the full name of a declaration.
    pub(super) fn find_plain<'s>(&'s self, env: &'s Declarations, name: &str) -> Option<&'s Type> {
        if !env.container().is_empty() || name.starts_with('.') {
            return None;
        }
        match self.local(name) {
            Some((_, ty)) => Some(ty),
            None => env.variable(name),
        }
    }

    /// The declaration of `name`: a variable of a comprehension or of the environment, a type, or a constant of an enumeration.
    pub(super) fn find(&self, env: &Declarations, name: &str) -> Option<Declared> {
        if env.corrections().names {
            return self.find_specified(env, name);
        }
        self.find_in_container(env, name, true)
    }

    /// Finds `name` by the rules of the specification. A comprehension variable takes precedence, even over longer dotted names that begin
    /// with its name. A name with a leading dot never refers to a comprehension variable.
    fn find_specified(&self, env: &Declarations, name: &str) -> Option<Declared> {
        let (absolute, rest) = match name.strip_prefix('.') {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        let root = rest.split_once('.').map_or(rest, |(root, _)| root);
        match self.local(root) {
            Some(local) if !absolute => {
                (root == name).then(|| Declared::variable(local.0.into(), local.1.clone()))
            }
            // The name in the tree keeps its leading dot, because a comprehension variable has the same name.
            Some(_) => self
                .find_in_container(env, name, false)
                .map(|declared| Declared {
                    name: name.into(),
                    ..declared
                }),
            None => self.find_in_container(env, name, false),
        }
    }

    /// The type with this name; variables are ignored.
    pub(super) fn find_type(&self, env: &Declarations, name: &str) -> Option<Declared> {
        resolve_name(env.container(), name, |candidate| {
            let ty = Type::type_of(env.find_type(candidate)?);
            Some(Declared::variable(candidate.into(), ty))
        })
    }

    fn local(&self, name: &str) -> Option<&(&'c str, Type)> {
        self.0.iter().rev().find(|(local, _)| *local == name)
    }

    /// The declaration of `name` in the container. With `locals`, comprehension variables are searched too.
    fn find_in_container(&self, env: &Declarations, name: &str, locals: bool) -> Option<Declared> {
        resolve_name(env.container(), name, |candidate| {
            if let Some((name, ty)) = self.local(candidate).filter(|_| locals) {
                return Some(Declared::variable((*name).into(), ty.clone()));
            }
            let name = || SmolStr::new(candidate);
            if let Some(ty) = env.variable(candidate) {
                return Some(Declared::variable(name(), ty.clone()));
            }
            if let Some(ty) = env.find_type(candidate) {
                return Some(Declared::variable(name(), Type::type_of(ty)));
            }
            (candidate == NULL_VALUE).then(|| Declared {
                name: name(),
                ty: Type::Int,
                referent: Referent::Constant(0),
            })
        })
    }
}

/// The full name of the only enumeration constant that expressions can use.
const NULL_VALUE: &str = "google.protobuf.NullValue.NULL_VALUE";

impl Declared {
    fn variable(name: SmolStr, ty: Type) -> Self {
        Declared {
            referent: Referent::Variable,
            name,
            ty,
        }
    }
}
