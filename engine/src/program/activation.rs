//! The values of variables.

use super::invariants::Invariants;
use crate::value::{HostTypes, Value, same_text};

/// The number of bindings that need no allocation.
const FEW: usize = 4;

/// A name with its value.
type Binding<'a> = (&'a str, Value<'a>);

/// The variables of an evaluation with their values.
///
/// An activation can be used again after its arena is reset:
///
/// ```
/// use gavel_engine::env::Env;
/// use gavel_engine::program::{Activation, EvalOptions};
/// use gavel_engine::types::Type;
/// use gavel_engine::value::Arena;
///
/// let env = Env::builder().variable("x", Type::Bool).build()?;
/// let program = env.plan(&env.compile("x").expect("an expression")).expect("a program");
/// let (mut arena, mut activation) = (Arena::new(), Activation::new());
/// for x in [true, false] {
///     activation.bind("x", x);
///     let evaluation = program.eval(&activation, &arena, &EvalOptions::default());
///     assert_eq!(evaluation.result.expect("a value").as_bool(), Some(x));
///     arena.reset();
/// }
/// # Ok::<(), gavel_engine::types::TypeTextError>(())
/// ```
// A `SmallVec` would make the activation invariant in `'a`. It could then not outlive the borrow of a single arena.
#[derive(Debug, Clone, Default)]
pub struct Activation<'a> {
    /// The first bindings, without gaps.
    few: [Option<Binding<'a>>; FEW],
    /// The bindings for which `few` has no room.
    more: Vec<Binding<'a>>,
}

impl<'a> Activation<'a> {
    /// An activation without variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Binds a value to a variable. It replaces an earlier value of the variable. Expressions ignore variables that they do not read.
    #[inline]
    pub fn bind(&mut self, name: &'a str, value: impl Into<Value<'a>>) -> &mut Self {
        let binding = (name, value.into());
        for place in &mut self.few {
            match place {
                Some((known, _)) if *known != name => {}
                place => {
                    *place = Some(binding);
                    return self;
                }
            }
        }
        match self.more.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => *known = binding,
            None => self.more.push(binding),
        }
        self
    }

    /// The value of a variable; `None` if the variable is not bound.
    #[inline]
    pub fn resolve(&self, name: &str) -> Option<Value<'a>> {
        let mut value = None;
        self.resolve_into(name, &mut value);
        value
    }
}

/// The values of variables. Unlike a closure, an implementation can be inlined always.
pub(super) trait Variables<'a> {
    /// Stores the value of a variable in `place`, if the variable is bound.
    fn resolve_into(&self, name: &str, place: &mut Option<Value<'a>>);

    /// The types of the lists and maps of the values; `None` if all are plain JSON.
    fn types(&self) -> Option<&'a dyn HostTypes> {
        None
    }

    /// The results that the evaluation shares with others.
    fn invariants(&self) -> Invariants<'a> {
        Invariants::default()
    }
}

/// Variables whose lists and maps have types of the host.
pub(super) struct Typed<'a, F> {
    pub(super) resolve: F,
    pub(super) types: Option<&'a dyn HostTypes>,
    pub(super) invariants: Invariants<'a>,
}

impl<'a, F: Fn(&str) -> Option<Value<'a>>> Variables<'a> for Typed<'a, F> {
    #[inline(always)]
    fn resolve_into(&self, name: &str, place: &mut Option<Value<'a>>) {
        *place = (self.resolve)(name);
    }

    #[inline(always)]
    fn types(&self) -> Option<&'a dyn HostTypes> {
        self.types
    }

    #[inline(always)]
    fn invariants(&self) -> Invariants<'a> {
        self.invariants
    }
}

impl<'a, F: Fn(&str) -> Option<Value<'a>>> Variables<'a> for F {
    #[inline(always)]
    fn resolve_into(&self, name: &str, place: &mut Option<Value<'a>>) {
        *place = self(name);
    }
}

impl<'a> Variables<'a> for Activation<'a> {
    #[inline(always)]
    fn resolve_into(&self, name: &str, place: &mut Option<Value<'a>>) {
        let few = self.few.iter().map_while(Option::as_ref);
        for (known, value) in few.chain(&self.more) {
            if same_text(known, name) {
                *place = Some(*value);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Arena;

    #[test]
    fn a_variable_has_the_value_that_was_bound_last() {
        let names: Vec<String> = (0..3 * FEW).map(|n| format!("x{n}")).collect();
        let mut activation = Activation::new();
        for value in [1_i64, 2] {
            for name in &names {
                activation.bind(name, value);
                assert_eq!(
                    activation.resolve(name).and_then(|v| v.as_int()),
                    Some(value)
                );
            }
        }
        assert!(activation.resolve("y").is_none());
    }

    #[test]
    fn an_activation_outlives_the_arenas_that_it_is_used_with() {
        fn shorter<'s>(activation: &'s Activation<'static>, _: &'s Arena) -> &'s Activation<'s> {
            activation
        }
        let activation = Activation::new();
        for _ in 0..2 {
            let arena = Arena::new();
            assert!(shorter(&activation, &arena).resolve("x").is_none());
        }
    }
}
