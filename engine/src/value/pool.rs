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
    places: FrozenVec<Box<OnceCell<T>>>,
    /// The number of places that hold a value. These come first.
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
        let place = match self.places.get(used) {
            Some(place) => place,
            None => self.places.push_get(Box::default()),
        };
        place.get_or_init(|| value)
    }
}

impl<T: Any + Send> Places for Pool<T> {
    fn reset(&mut self) {
        let used = self.used.replace(0);
        let places = self.places.as_mut();
        if used > MOST_KEPT {
            *places = Vec::new();
        }
        for place in places.iter_mut().take(used) {
            place.take();
        }
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool {
            places: FrozenVec::new(),
            used: Cell::default(),
        }
    }
}
