//! Values that equal parts of policies share, so that each is kept in memory once.

use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustc_hash::FxHashMap;

/// The smallest number of entries at which entries without users are removed.
const MIN_ENTRIES: usize = 64;

/// Values by the hashes of their keys. A value is dropped with its last user. Of several keys with the same hash, only the value of the last
/// one is shared.
#[derive(Debug)]
pub(crate) struct Shared<T> {
    hasher: RandomState,
    entries: Mutex<Entries<T>>,
}

#[derive(Debug)]
struct Entries<T> {
    of_hash: FxHashMap<u64, Weak<T>>,
    /// The number of entries at which entries without users are removed next.
    limit: usize,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Shared {
            hasher: RandomState::new(),
            entries: Mutex::new(Entries {
                of_hash: FxHashMap::default(),
                limit: MIN_ENTRIES,
            }),
        }
    }
}

impl<T> Shared<T> {
    /// Returns the value with this key, or makes and stores it. `has_key` tells whether a value has the key.
    pub(crate) fn get_or_insert(
        &self,
        key: impl Hash,
        has_key: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        let hash = self.hasher.hash_one(key);
        let known = self.with(|entries| entries.of_hash.get(&hash)?.upgrade());
        if let Some(known) = known.filter(|known| has_key(known)) {
            return known;
        }
        // Other threads can use the entries meanwhile.
        let made = Arc::new(make());
        self.with(|entries| entries.insert(hash, Arc::downgrade(&made)));
        made
    }

    fn with<R>(&self, use_entries: impl FnOnce(&mut Entries<T>) -> R) -> R {
        let entries = self.entries.lock();
        use_entries(&mut entries.unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> Entries<T> {
    fn insert(&mut self, hash: u64, value: Weak<T>) {
        if self.of_hash.len() >= self.limit {
            self.of_hash.retain(|_, value| value.strong_count() > 0);
            self.limit = self.of_hash.len().saturating_mul(2).max(MIN_ENTRIES);
        }
        self.of_hash.insert(hash, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_users_are_removed() {
        let shared = Shared::default();
        let get = |key: usize| shared.get_or_insert(key, |known| *known == key, || key);
        let kept = get(0);
        (0..10 * MIN_ENTRIES).for_each(|key| drop(get(key)));
        assert!(shared.with(|entries| entries.of_hash.len()) <= MIN_ENTRIES);
        assert!(Arc::ptr_eq(&kept, &get(0)));
        let used: Vec<_> = (0..10 * MIN_ENTRIES).map(get).collect();
        assert!(used.iter().all(|value| Arc::ptr_eq(value, &get(**value))));
        assert!(Arc::ptr_eq(&kept, &used[0]));
    }

    #[test]
    fn a_value_with_another_key_of_the_same_hash_is_not_shared() {
        let shared = Shared::default();
        let get = |key: &str| {
            let has_key = |known: &String| known == key;
            shared.get_or_insert((), has_key, || key.to_owned())
        };
        assert_eq!(
            [get("a"), get("b"), get("a")].map(|value| value.to_string()),
            ["a", "b", "a"]
        );
    }
}
