//! A map by hashes that shares data with its clones.

use std::sync::Arc;

/// The number of children of a branch.
const CHILDREN: u64 = 16;

/// The bits of a hash that choose a child of a branch.
const BITS: u32 = CHILDREN.ilog2();

/// The maximum number of values in a leaf, unless all bits of their hashes are equal.
const MOST_IN_LEAF: usize = 16;

/// Values by 64-bit hashes; several values can have the same hash. Cloning is cheap: a clone shares all data, and a later change copies only
/// the nodes on the path to the changed value.
#[derive(Debug, Clone)]
pub(crate) enum HashTrie<T> {
    /// The values with their hashes.
    Leaf(Arc<[(u64, T)]>),
    /// The tries of the values, by the next bits of their hashes.
    Branch(Arc<[HashTrie<T>; CHILDREN as usize]>),
}

impl<T> Default for HashTrie<T> {
    fn default() -> Self {
        HashTrie::Leaf(Arc::default())
    }
}

impl<T> HashTrie<T> {
    /// The value with this hash that `is` accepts.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is: impl Fn(&T) -> bool) -> Option<&T> {
        let (mut trie, mut bits) = (self, hash);
        loop {
            match trie {
                HashTrie::Leaf(entries) => {
                    let mut entries = entries.iter();
                    let found = entries.find(|(known, value)| *known == hash && is(value));
                    return found.map(|(_, value)| value);
                }
                HashTrie::Branch(children) => {
                    trie = children.get((bits % CHILDREN) as usize)?;
                    bits >>= BITS;
                }
            }
        }
    }

    /// Calls `visit` with each value.
    pub(crate) fn each<'a>(&'a self, visit: &mut impl FnMut(&'a T)) {
        match self {
            HashTrie::Leaf(entries) => entries.iter().for_each(|(_, value)| visit(value)),
            HashTrie::Branch(children) => children.iter().for_each(|child| child.each(visit)),
        }
    }

    /// Whether there are no values.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, HashTrie::Leaf(entries) if entries.is_empty())
    }
}

impl<T: Clone> HashTrie<T> {
    /// Removes the value with this hash that `is` accepts, if there is one, and inserts the new value, if any.
    pub(crate) fn replace(&mut self, hash: u64, is: impl Fn(&T) -> bool, new: Option<T>) {
        let is = |entry: &&(u64, T)| entry.0 == hash && is(&entry.1);
        self.replace_below(0, hash, &is, new);
    }

    fn replace_below(
        &mut self,
        depth: u32,
        hash: u64,
        is: &impl Fn(&&(u64, T)) -> bool,
        new: Option<T>,
    ) {
        match self {
            HashTrie::Leaf(entries) => {
                let others = entries.iter().filter(|entry| !is(entry)).cloned();
                let entries = others.chain(new.map(|new| (hash, new)));
                *self = Self::of(depth, entries.collect());
            }
            HashTrie::Branch(children) => {
                let children = Arc::make_mut(children);
                if let Some(child) = children.get_mut(position(depth, hash)) {
                    child.replace_below(depth.saturating_add(1), hash, is, new);
                }
                if children.iter().all(HashTrie::is_empty) {
                    *self = HashTrie::default();
                }
            }
        }
    }

    fn of(depth: u32, entries: Vec<(u64, T)>) -> Self {
        if entries.len() <= MOST_IN_LEAF || depth >= u64::BITS / BITS {
            return HashTrie::Leaf(entries.into());
        }
        HashTrie::Branch(Arc::new(std::array::from_fn(|child| {
            let inside = |(hash, _): &&(u64, T)| position(depth, *hash) == child;
            let inside = entries.iter().filter(inside).cloned().collect();
            Self::of(depth.saturating_add(1), inside)
        })))
    }
}

/// The position of the child for this hash in a branch at this depth.
fn position(depth: u32, hash: u64) -> usize {
    let bits = hash.unbounded_shr(depth.saturating_mul(BITS));
    (bits % CHILDREN) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_trie_holds_what_a_map_holds_and_its_clones_do_not_change() {
        let (mut trie, mut map) = (HashTrie::default(), BTreeMap::new());
        let mut earlier = Vec::new();
        // Only 97 hashes differ, and they differ only in their highest and lowest bits.
        let hash = |key: u64| (key % 97).rotate_right(4);
        for step in 0..4_000_u64 {
            let key = (step * 2_654_435_761) % 701;
            let new = (step % 3 != 0).then_some((key, step));
            trie.replace(hash(key), |(known, _)| *known == key, new);
            match new {
                Some((_, step)) => map.insert(key, step),
                None => map.remove(&key),
            };
            if step % 500 == 0 {
                earlier.push((trie.clone(), map.clone()));
            }
        }
        earlier.push((trie.clone(), map.clone()));
        for (trie, map) in earlier {
            for key in 0..701 {
                let found = trie.find(hash(key), |(known, _)| *known == key);
                assert_eq!(found.map(|(_, step)| step), map.get(&key));
            }
            let mut all = BTreeMap::new();
            trie.each(&mut |(key, step)| assert_eq!(all.insert(*key, *step), None));
            assert_eq!(all, map);
        }
        for key in 0..701 {
            trie.replace(hash(key), |(known, _)| *known == key, None);
        }
        assert!(trie.is_empty());
    }
}
