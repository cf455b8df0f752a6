//! Values by hashes that are computed before the lookup.

use nohash_hasher::BuildNoHashHasher;
use rpds::HashTrieMapSync;
use smallvec::SmallVec;

/// Values by their hashes. Values with equal hashes share a bucket. Cloning is cheap: a clone shares its data.
#[derive(Debug, Clone)]
pub(crate) struct ByHash<T>(HashTrieMapSync<u64, Bucket<T>, BuildNoHashHasher<u64>>);

type Bucket<T> = SmallVec<[T; 1]>;

impl<T> Default for ByHash<T> {
    fn default() -> Self {
        ByHash(HashTrieMapSync::default())
    }
}

impl<T> ByHash<T> {
    /// The value with this hash that `is` accepts.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is: impl Fn(&T) -> bool) -> Option<&T> {
        self.0.get(&hash)?.iter().find(|value| is(value))
    }

    /// All values, in any order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.values().flatten()
    }

    /// Whether there are no values.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Clone> ByHash<T> {
    /// Removes the value with this hash that `is` accepts, if there is one, and inserts the new value, if any.
    pub(crate) fn replace(&mut self, hash: u64, is: impl Fn(&T) -> bool, new: Option<T>) {
        let mut bucket = self.0.get(&hash).cloned().unwrap_or_default();
        bucket.retain(|value| !is(value));
        bucket.extend(new);
        match bucket.is_empty() {
            true => {
                self.0.remove_mut(&hash);
            }
            false => self.0.insert_mut(hash, bucket),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_equal_hashes_are_kept_apart() {
        let mut values = ByHash::default();
        for value in ["a", "b", "a"] {
            values.replace(7, |known| *known == value, Some(value));
        }
        let earlier = values.clone();
        values.replace(7, |known| *known == "b", None);
        assert_eq!(values.find(7, |known| *known == "a"), Some(&"a"));
        assert_eq!(values.find(7, |known| *known == "b"), None);
        assert_eq!(earlier.iter().count(), 2);
        values.replace(7, |known| *known == "a", None);
        assert!(values.is_empty() && !earlier.is_empty());
    }
}
