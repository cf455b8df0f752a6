//! Unification: which types agree, and which types the type variables stand for (cel-go `checker/types.go`, `mapping.go`).

use std::cell::Cell;

use smallvec::SmallVec;

use crate::types::{Primitive, Signature, Type, TypeName};

/// The number of types that one check can visit; real expressions need far fewer. A short expression can have a type that is too large for
/// memory, such as `[0].map(a, {a: a}).map(a, {a: a})…` with more calls of `map`. Upstream's check of such an expression does not end.
const MAX_STEPS: u32 = 5_000_000;

/// The nesting limit of the types of variables and fields. Without it, each loop over the result of another could nest its type deeper, such
/// as in `[0].map(a, [[[a]]]).map(a, [[[a]]])…`. Code that visits types recursively needs stack for their depth.
const MAX_NESTED: usize = 500;

/// The types that type variables stand for. Bindings last until the check of the expression ends. The bindings of a failed attempt are
/// undone.
#[derive(Debug)]
pub(super) struct Bindings {
    /// The binding of each variable, by its number.
    bound: SmallVec<[Option<Type>; 8]>,
    /// The number of the next variable.
    next: usize,
    /// The bindings that the current attempt has replaced, the latest last.
    undo: SmallVec<[(usize, Option<Type>); 4]>,
    steps: Cell<u32>,
}

impl Bindings {
    pub(super) fn new() -> Self {
        Bindings {
            bound: SmallVec::new(),
            next: 0,
            undo: SmallVec::new(),
            steps: Cell::new(0),
        }
    }

    /// Whether the check has visited [`MAX_STEPS`] types. Its results are then unreliable.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps.get() >= MAX_STEPS
    }

    /// The type of a variable or field, unless it is nested too deep. The check then ends as if it had visited [`MAX_STEPS`] types.
    #[inline]
    pub(super) fn bounded(&self, ty: Type) -> Type {
        match !ty.can_contain_variables() || self.is_within(&ty, MAX_NESTED) {
            true => ty,
            false => {
                self.steps.set(MAX_STEPS);
                Type::Error
            }
        }
    }

    /// Whether the type is nested at most `levels` deep.
    fn is_within(&self, ty: &Type, levels: usize) -> bool {
        if !ty.can_contain_variables() {
            return true;
        }
        let Some(levels) = levels.checked_sub(1).filter(|_| self.step()) else {
            return false;
        };
        match ty {
            Type::Var(variable) => {
                (self.binding(*variable)).is_none_or(|ty| self.is_within(ty, levels))
            }
            Type::List(element) => self.is_within(element, levels),
            Type::Map(entry) => {
                self.is_within(&entry.0, levels) && self.is_within(&entry.1, levels)
            }
            Type::Type(Some(ty)) => self.is_within(ty, levels),
            Type::Opaque(opaque) => opaque
                .parameters
                .iter()
                .all(|ty| self.is_within(ty, levels)),
            _ => true,
        }
    }

    /// Creates a type variable.
    pub(super) fn fresh(&mut self) -> Type {
        Type::Var(self.fresh_block(1))
    }

    /// Creates `count` variables; returns the number of the first.
    pub(super) fn fresh_block(&mut self, count: usize) -> usize {
        let first = self.next;
        self.next = first.saturating_add(count);
        first
    }

    /// Whether a value of type `actual` can be used where type `expected` is required. If it can, binds the type variables accordingly.
    pub(super) fn assignable(&mut self, actual: &Type, expected: &Type) -> bool {
        self.attempt(|bindings| bindings.unify(actual, expected))
    }

    /// The result type of a call, if the argument types fit the signature. If they fit, binds the type variables accordingly. `first` is the
    /// number of the first variable that stands for a type parameter.
    #[inline]
    pub(super) fn call(
        &mut self,
        signature: &Signature,
        arguments: &[&Type],
        first: usize,
    ) -> Option<Type> {
        if let [one, other] = arguments
            && signature.compares
            && !one.can_contain_variables()
            && !other.can_contain_variables()
        {
            return self.unify(other, one).then(|| signature.result.clone());
        }
        let names = signature.type_parameters();
        self.call_if_it_fits(signature, arguments, &Scheme { names, first })
    }

    #[inline(never)]
    fn call_if_it_fits(
        &mut self,
        signature: &Signature,
        arguments: &[&Type],
        scheme: &Scheme<'_>,
    ) -> Option<Type> {
        let mut pairs = arguments.iter().zip(&signature.parameters);
        let fits = self.attempt(|bindings| {
            pairs.all(|(actual, formal)| bindings.fits(actual, formal, scheme))
        });
        fits.then(|| match scheme.names {
            [] => signature.result.clone(),
            _ => scheme.instantiate(&signature.result, &|variable| self.substitute(&variable)),
        })
    }

    fn attempt(&mut self, try_it: impl FnOnce(&mut Self) -> bool) -> bool {
        self.undo.clear();
        if try_it(self) {
            return true;
        }
        while let Some((variable, before)) = self.undo.pop() {
            if let Some(slot) = self.slot(variable) {
                *slot = before;
            }
        }
        false
    }

    /// Unifies an argument's type with the type of a parameter. Instantiates the parameter's type only as far as needed.
    fn fits(&mut self, actual: &Type, formal: &Type, scheme: &Scheme<'_>) -> bool {
        if scheme.names.is_empty() {
            return self.unify(actual, formal);
        }
        match (actual, formal) {
            (_, Type::Param(name)) => self.unify(actual, &scheme.variable(name)),
            (Type::List(actual), Type::List(formal)) => self.fits(actual, formal, scheme),
            (Type::Map(actual), Type::Map(formal)) => {
                self.fits(&actual.0, &formal.0, scheme) && self.fits(&actual.1, &formal.1, scheme)
            }
            (Type::Var(_), Type::List(_) | Type::Map(_) | Type::Opaque(_) | Type::Type(_)) => {
                self.unify(actual, &scheme.instantiate(formal, &|variable| variable))
            }
            (Type::Opaque(actual), Type::Opaque(formal)) => {
                let mut pairs = actual.parameters.iter().zip(&formal.parameters);
                actual.name == formal.name
                    && actual.parameters.len() == formal.parameters.len()
                    && pairs.all(|(actual, formal)| self.fits(actual, formal, scheme))
            }
            _ => self.unify(actual, formal),
        }
    }

    /// The type with all bound variables replaced.
    pub(super) fn substitute(&self, ty: &Type) -> Type {
        self.replaced(ty, false).unwrap_or_else(|| ty.clone())
    }

    /// The type with bound variables replaced by their types and unbound ones by `dyn`; `None` if nothing changes.
    pub(super) fn resolved(&self, ty: &Type) -> Option<Type> {
        self.replaced(ty, true)
    }

    /// The type with variables replaced; `None` if nothing changes.
    #[inline(always)]
    fn replaced(&self, ty: &Type, free_is_dyn: bool) -> Option<Type> {
        match self.step() && ty.can_contain_variables() {
            true => self.replaced_parts(ty, free_is_dyn),
            false => None,
        }
    }

    #[inline(never)]
    fn replaced_parts(&self, ty: &Type, free_is_dyn: bool) -> Option<Type> {
        let again = |ty: &Type| self.replaced(ty, free_is_dyn);
        match ty {
            Type::Var(number) => match self.binding(*number) {
                Some(bound) => Some(again(bound).unwrap_or_else(|| bound.clone())),
                None => free_is_dyn.then_some(Type::Dyn),
            },
            Type::Param(_) => free_is_dyn.then_some(Type::Dyn),
            Type::List(element) => again(element).map(Type::list),
            Type::Map(entry) => match (again(&entry.0), again(&entry.1)) {
                (None, None) => None,
                (key, value) => Some(Type::map(
                    key.unwrap_or_else(|| entry.0.clone()),
                    value.unwrap_or_else(|| entry.1.clone()),
                )),
            },
            Type::Type(Some(ty)) => again(ty).map(Type::type_of),
            Type::Opaque(opaque) => {
                let parts = opaque.parameters.iter().enumerate();
                let mut changed = parts.filter_map(|(n, part)| Some((n, again(part)?)));
                let first = changed.next()?;
                let mut parameters = opaque.parameters.clone();
                for (n, part) in std::iter::once(first).chain(changed) {
                    if let Some(parameter) = parameters.get_mut(n) {
                        *parameter = part;
                    }
                }
                Some(Type::opaque(opaque.name.clone(), parameters))
            }
            _ => None,
        }
    }

    fn unify(&mut self, actual: &Type, expected: &Type) -> bool {
        if !self.step() || (!actual.can_contain_variables() && actual == expected) {
            return true;
        }
        if let Type::Var(variable) = expected {
            match self.stands_for(*variable, actual) {
                Standing::Agrees => return true,
                Standing::Conflicts => return false,
                Standing::Occurs => {}
            }
        }
        if let Type::Var(variable) = actual {
            return matches!(self.stands_for(*variable, expected), Standing::Agrees);
        }
        match (actual, expected) {
            (Type::Dyn | Type::Any | Type::Error | Type::Param(_), _)
            | (_, Type::Dyn | Type::Any | Type::Error | Type::Param(_)) => true,
            (Type::Null, other) | (other, Type::Null) => is_nullable(other),
            (Type::List(a), Type::List(b)) => self.unify(a, b),
            (Type::Map(a), Type::Map(b)) => self.unify(&a.0, &b.0) && self.unify(&a.1, &b.1),
            (Type::Opaque(a), Type::Opaque(b)) => {
                a.name == b.name
                    && a.parameters.len() == b.parameters.len()
                    && (a.parameters.iter().zip(&b.parameters)).all(|(a, b)| self.unify(a, b))
            }
            (Type::Type(_), Type::Type(_)) => true,
            _ => is_same(actual, expected),
        }
    }

    /// Makes `variable` stand for `ty` if possible: binds the variable, or widens its binding.
    fn stands_for(&mut self, variable: usize, ty: &Type) -> Standing {
        if *ty == Type::Var(variable) {
            return Standing::Agrees;
        }
        let Some(bound) = self.binding(variable).cloned() else {
            if self.occurs(variable, ty) {
                return Standing::Occurs;
            }
            self.bind(variable, ty.clone());
            return Standing::Agrees;
        };
        if self.is_exact(ty, &bound) {
            return Standing::Agrees;
        }
        if !self.unify(ty, &bound) {
            return Standing::Conflicts;
        }
        let general = self.most_general(ty.clone(), bound);
        if !self.occurs(variable, &general) {
            self.bind(variable, general);
        }
        Standing::Agrees
    }

    fn occurs(&self, variable: usize, within: &Type) -> bool {
        if !self.step() {
            return false;
        }
        match within {
            Type::Var(number) if *number == variable => true,
            Type::Var(number) => self
                .binding(*number)
                .is_some_and(|ty| self.occurs(variable, ty)),
            Type::List(element) => self.occurs(variable, element),
            Type::Map(entry) => self.occurs(variable, &entry.0) || self.occurs(variable, &entry.1),
            Type::Type(Some(ty)) => self.occurs(variable, ty),
            Type::Opaque(opaque) => opaque.parameters.iter().any(|ty| self.occurs(variable, ty)),
            _ => false,
        }
    }

    /// Returns the more general of two types that unify.
    pub(super) fn most_general(&self, first: Type, second: Type) -> Type {
        if self.is_as_general(&first, &second) {
            first
        } else {
            second
        }
    }

    fn is_as_general(&self, first: &Type, second: &Type) -> bool {
        if !self.step() {
            return true;
        }
        match (first, second) {
            (Type::Dyn | Type::Any | Type::Var(_) | Type::Param(_), _) => true,
            (_, Type::Dyn | Type::Any | Type::Var(_) | Type::Param(_)) => false,
            (Type::List(a), Type::List(b)) => self.is_as_general(a, b),
            (Type::Map(a), Type::Map(b)) => {
                self.is_as_general(&a.0, &b.0) && self.is_as_general(&a.1, &b.1)
            }
            (Type::Opaque(a), Type::Opaque(b)) => {
                a.name == b.name
                    && a.parameters.len() == b.parameters.len()
                    && (a.parameters.iter().zip(&b.parameters))
                        .all(|(a, b)| self.is_as_general(a, b))
            }
            (Type::Type(_), Type::Type(_)) => true,
            _ => is_same(first, second),
        }
    }

    /// Whether two types are equal, ignoring whether primitives may be null.
    pub(super) fn is_exact(&self, first: &Type, second: &Type) -> bool {
        if !self.step() {
            return true;
        }
        match (first, second) {
            (Type::List(a), Type::List(b)) => self.is_exact(a, b),
            (Type::Map(a), Type::Map(b)) => self.is_exact(&a.0, &b.0) && self.is_exact(&a.1, &b.1),
            (Type::Type(Some(a)), Type::Type(Some(b))) => self.is_exact(a, b),
            (Type::Opaque(a), Type::Opaque(b)) => {
                a.name == b.name
                    && a.parameters.len() == b.parameters.len()
                    && (a.parameters.iter().zip(&b.parameters)).all(|(a, b)| self.is_exact(a, b))
            }
            _ => is_same(first, second),
        }
    }

    fn binding(&self, variable: usize) -> Option<&Type> {
        self.bound.get(variable)?.as_ref()
    }

    fn slot(&mut self, variable: usize) -> Option<&mut Option<Type>> {
        self.bound.get_mut(variable)
    }

    fn bind(&mut self, variable: usize, ty: Type) {
        let length = variable.saturating_add(1);
        if self.bound.len() < length {
            self.bound.resize(length, None);
        }
        let before = self.slot(variable).and_then(|slot| slot.replace(ty));
        self.undo.push((variable, before));
    }

    /// Counts a visit of a type. Returns false if there were too many.
    fn step(&self) -> bool {
        self.steps.set(self.steps.get().saturating_add(1));
        !self.is_exhausted()
    }
}

/// The relation between a variable and a type.
enum Standing {
    /// The variable stands for the type.
    Agrees,
    /// The variable stands for a type that cannot be unified with this type.
    Conflicts,
    /// The variable is unbound, and the type contains it.
    Occurs,
}

/// The type parameters of a signature, as type variables.
struct Scheme<'s> {
    names: &'s [TypeName],
    first: usize,
}

impl Scheme<'_> {
    fn variable(&self, name: &TypeName) -> Type {
        let position = self.names.iter().position(|known| known == name);
        Type::Var(self.first.saturating_add(position.unwrap_or(0)))
    }

    /// The type with each type parameter replaced by the type that `stands_for` returns for the parameter's variable.
    fn instantiate(&self, ty: &Type, stands_for: &impl Fn(Type) -> Type) -> Type {
        let again = |ty: &Type| self.instantiate(ty, stands_for);
        match ty {
            Type::Param(name) => stands_for(self.variable(name)),
            Type::List(element) => Type::list(again(element)),
            Type::Map(entry) => Type::map(again(&entry.0), again(&entry.1)),
            Type::Type(Some(ty)) => Type::type_of(again(ty)),
            Type::Opaque(opaque) => {
                let parameters = opaque.parameters.iter().map(again);
                Type::opaque(opaque.name.clone(), parameters.collect())
            }
            other => other.clone(),
        }
    }
}

/// Whether the checker accepts `null` as a value of this type.
fn is_nullable(ty: &Type) -> bool {
    match ty {
        Type::Null | Type::Struct(_) | Type::Duration | Type::Timestamp | Type::Wrapper(_) => true,
        // A type without a name has no values.
        Type::Opaque(opaque) => !opaque.name.is_empty(),
        _ => false,
    }
}

/// Whether two types without parameters are equal, ignoring whether they may be null.
fn is_same(first: &Type, second: &Type) -> bool {
    let primitive = |ty: &Type| match ty {
        Type::Wrapper(primitive) => Some(*primitive),
        other => Primitive::of(other),
    };
    match primitive(first) {
        Some(kind) => primitive(second) == Some(kind),
        None => first == second,
    }
}
