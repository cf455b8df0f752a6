//! The memory of computed values with destructors.

use std::any::Any;
use std::cell::{Cell, OnceCell};

use elsa::FrozenVec;

/// The largest number of places for values of one type that a reset retains.
const MOST_KEPT: usize = 1 << 8;

/// Pools of values, one for each type. A reset drops the values, and retains their places for the next values of the same types.
#[derive(Default)]
pub(super) struct Pools(FrozenVec<Box<dyn Places>>);

/// The values of one type.
struct Pool<T> {
    /// The place of the first value. Most evaluations compute few values, so this place takes no allocation of its own.
    first: OnceCell<T>,
    later: FrozenVec<Box<OnceCell<T>>>,
    /// The number of places that hold a value.
    used: Cell<usize>,
}

/// A pool of any type.
trait Places: Any + Send {
    /// Drops the values.
    fn reset(&mut self);
}

impl Pools {
    /// Keeps a value until the pools are reset.
    pub(super) fn hold<T: Any + Send>(&self, value: T) -> &T {
        let of_type = |pool| (pool as &dyn Any).downcast_ref::<Pool<T>>();
        match self.0.iter().find_map(of_type) {
            Some(pool) => pool.hold(value),
            None => {
                self.0.push(Box::new(Pool::<T>::default()));
                self.hold(value)
            }
        }
    }

    /// Drops all values.
    pub(super) fn reset(&mut self) {
        for pool in self.0.as_mut() {
            pool.reset();
        }
    }
}

impl<T> Pool<T> {
    fn hold(&self, value: T) -> &T {
        let used = self.used.get();
        self.used.set(used.saturating_add(1));
        let place = match used.checked_sub(1) {
            None => &self.first,
            Some(index) => match self.later.get(index) {
                Some(place) => place,
                None => self.later.push_get(Box::default()),
            },
        };
        place.get_or_init(|| value)
    }
}

impl<T: Any + Send> Places for Pool<T> {
    fn reset(&mut self) {
        let used = self.used.replace(0);
        let later = self.later.as_mut();
        if used > MOST_KEPT {
            *later = Vec::new();
        }
        self.first.take();
        for place in later.iter_mut().take(used.saturating_sub(1)) {
            place.take();
        }
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool {
            first: OnceCell::new(),
            later: FrozenVec::new(),
            used: Cell::default(),
        }
    }
}
