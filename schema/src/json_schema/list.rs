//! Lists that may be absent.

use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Deserializer};

/// A list that may be absent. It can be used like a slice. An absent list equals an empty one, as almost everywhere in Kubernetes;
/// [`OptionalList::is_present`] is for the few cases in which Kubernetes distinguishes them.
///
/// ```
/// use gavel_schema::JsonSchema;
///
/// # fn main() -> Result<(), serde_json::Error> {
/// let schema: JsonSchema = serde_json::from_str(r#"{"required": []}"#)?;
/// assert!(schema.required.is_empty() && schema.required.is_present());
/// assert_eq!(schema, JsonSchema::default());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct OptionalList<T>(Option<Box<[T]>>);

impl<T> OptionalList<T> {
    /// Whether the list is present, even if it is empty.
    pub fn is_present(&self) -> bool {
        self.0.is_some()
    }
}

impl<T> Default for OptionalList<T> {
    fn default() -> Self {
        OptionalList(None)
    }
}

impl<T> Default for &OptionalList<T> {
    fn default() -> Self {
        const { &OptionalList(None) }
    }
}

impl<T> Deref for OptionalList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl<T> DerefMut for OptionalList<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.0.as_deref_mut().unwrap_or_default()
    }
}

impl<T> From<Box<[T]>> for OptionalList<T> {
    fn from(list: Box<[T]>) -> Self {
        OptionalList(Some(list))
    }
}

impl<T> FromIterator<T> for OptionalList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        OptionalList(Some(items.into_iter().collect()))
    }
}

impl<'l, T> IntoIterator for &'l OptionalList<T> {
    type Item = &'l T;
    type IntoIter = std::slice::Iter<'l, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: PartialEq> PartialEq for OptionalList<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for OptionalList<T> {}

impl<T: Hash> Hash for OptionalList<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

/// Reads null as an absent list, and a null element as its type's default, as Go's decoder does.
impl<'de, T: Default + Deserialize<'de>> Deserialize<'de> for OptionalList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Option::<Vec<Option<T>>>::deserialize(deserializer)?;
        let items = items.map(|items| items.into_iter().map(Option::unwrap_or_default));
        Ok(OptionalList(items.map(Iterator::collect)))
    }
}
