//! The named schemas of a schema, such as those of its properties.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::{JsonSchema, OptionalList};

/// Schemas by name, sorted by name, in a list without spare capacity.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SchemaMap(OptionalList<(SmolStr, Arc<JsonSchema>)>);

impl SchemaMap {
    /// The schema of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<JsonSchema>> {
        let at = self.find(name)?;
        self.0.get(at).map(|(_, schema)| schema)
    }

    /// The schema with this name, mutable.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut JsonSchema> {
        let at = self.find(name)?;
        self.0.get_mut(at).map(|(_, schema)| Arc::make_mut(schema))
    }

    /// Whether there is a schema with this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The names.
    pub fn keys(&self) -> impl Iterator<Item = &SmolStr> {
        self.iter().map(|(name, _)| name)
    }

    /// The schemas.
    pub fn values(&self) -> impl Iterator<Item = &Arc<JsonSchema>> {
        self.iter().map(|(_, schema)| schema)
    }

    /// The names with their schemas.
    pub fn iter(&self) -> impl Iterator<Item = (&SmolStr, &Arc<JsonSchema>)> {
        self.into_iter()
    }

    /// Whether the map is present, even if it is empty.
    pub fn is_present(&self) -> bool {
        self.0.is_present()
    }

    /// Whether the map is absent or empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of schemas.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Applies a function to every schema; the names stay the same.
    pub(super) fn map(
        &self,
        mut other: impl FnMut(&Arc<JsonSchema>) -> Arc<JsonSchema>,
    ) -> SchemaMap {
        let entries = self.0.iter();
        SchemaMap(
            entries
                .map(|(name, schema)| (name.clone(), other(schema)))
                .collect(),
        )
    }

    fn find(&self, name: &str) -> Option<usize> {
        let found = self
            .0
            .binary_search_by(|(known, _)| known.as_str().cmp(name));
        found.ok()
    }
}

/// If several schemas have the same name, the last one wins.
impl FromIterator<(SmolStr, Arc<JsonSchema>)> for SchemaMap {
    fn from_iter<I: IntoIterator<Item = (SmolStr, Arc<JsonSchema>)>>(schemas: I) -> Self {
        let schemas: BTreeMap<_, _> = schemas.into_iter().collect();
        SchemaMap(schemas.into_iter().collect())
    }
}

type Entry<'s> = (&'s SmolStr, &'s Arc<JsonSchema>);

impl<'s> IntoIterator for &'s SchemaMap {
    type Item = Entry<'s>;
    type IntoIter = std::iter::Map<
        std::slice::Iter<'s, (SmolStr, Arc<JsonSchema>)>,
        fn(&'s (SmolStr, Arc<JsonSchema>)) -> Entry<'s>,
    >;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(name, schema)| (name, schema))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_the_last_of_a_name_counts() {
        let entry = |name: &str, kind: &str| {
            let schema = JsonSchema {
                kind: kind.into(),
                ..JsonSchema::default()
            };
            (name.into(), Arc::new(schema))
        };
        let entries = [entry("b", "1"), entry("a", "2"), entry("b", "3")];
        let map: SchemaMap = entries.into_iter().collect();
        let found: Vec<_> = map
            .iter()
            .map(|(name, schema)| (name.as_str(), schema.kind.as_str()))
            .collect();
        assert_eq!(found, [("a", "2"), ("b", "3")]);
        assert_eq!(map.get("b").map(|schema| schema.kind.as_str()), Some("3"));
        assert!(map.contains_key("a") && !map.contains_key("c"));
    }
}
