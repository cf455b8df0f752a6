//! Groups of keys that most schemas do not have.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

use super::{Bounds, Combinations, Docs, Topology, Unsupported};

/// A group of schema keys that is usually empty. An empty group takes only the memory of a pointer. `Rare` dereferences to the group.
#[derive(Clone)]
pub struct Rare<T>(Option<Box<T>>);

/// A group of schema keys that can be stored as a [`Rare`].
pub trait Part: Default + PartialEq + 'static {
    /// The value for schemas without these keys.
    fn empty() -> &'static Self;
}

macro_rules! parts {
    ($($part:ty)*) => {$(
        impl Part for $part {
            fn empty() -> &'static Self {
                static EMPTY: LazyLock<$part> = LazyLock::new(<$part>::default);
                &EMPTY
            }
        }
    )*};
}

parts! { Bounds Combinations Docs Topology Unsupported }

impl<T> Rare<T> {
    /// The group of keys; `None` if the group is absent.
    pub(crate) fn as_option(&self) -> Option<&T> {
        self.0.as_deref()
    }
}

impl<T> Default for Rare<T> {
    fn default() -> Self {
        Rare(None)
    }
}

impl<T: Part> From<T> for Rare<T> {
    fn from(part: T) -> Self {
        Rare((part != *T::empty()).then(|| Box::new(part)))
    }
}

impl<T: Part> Deref for Rare<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            Some(part) => part,
            None => T::empty(),
        }
    }
}

impl<T: Part> DerefMut for Rare<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

/// An empty group equals an absent group.
impl<T: Part> PartialEq for Rare<T> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            _ => **self == **other,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Rare<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(part) => part.fmt(f),
            None => f.write_str("-"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_exists_once_it_is_written() {
        let mut rare = Rare::<Bounds>::default();
        assert!(rare.max_length.is_none() && rare.as_option().is_none());
        rare.max_length = Some(3);
        assert_eq!(
            rare.as_option().and_then(|bounds| bounds.max_length),
            Some(3)
        );
        assert_ne!(rare, Rare::default());
        rare.max_length = None;
        assert_eq!(rare, Rare::default());
    }
}
