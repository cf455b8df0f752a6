//! Schemas by name.

use super::JsonSchema;

/// Schemas by name, in the order of names. In exactly as much memory as they need: a schema is large, and the nodes of a
/// tree hold more of them than most schemas have properties.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SchemaMap(Vec<(String, JsonSchema)>);

impl SchemaMap {
    /// The schema of this name.
    pub fn get(&self, name: &str) -> Option<&JsonSchema> {
        let at = self.find(name)?;
        self.0.get(at).map(|(_, schema)| schema)
    }

    /// The schema of this name, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut JsonSchema> {
        let at = self.find(name)?;
        self.0.get_mut(at).map(|(_, schema)| schema)
    }

    /// Whether there is a schema of this name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The names.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.iter().map(|(name, _)| name)
    }

    /// The schemas.
    pub fn values(&self) -> impl Iterator<Item = &JsonSchema> {
        self.iter().map(|(_, schema)| schema)
    }

    /// The names with their schemas.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &JsonSchema)> {
        self.into_iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn find(&self, name: &str) -> Option<usize> {
        let found = self
            .0
            .binary_search_by(|(known, _)| known.as_str().cmp(name));
        found.ok()
    }
}

/// Of schemas of the same name the last one counts.
impl FromIterator<(String, JsonSchema)> for SchemaMap {
    fn from_iter<I: IntoIterator<Item = (String, JsonSchema)>>(schemas: I) -> Self {
        let mut schemas: Vec<_> = schemas.into_iter().collect();
        // Stable: of the same name, the last one comes last.
        schemas.sort_by(|(a, _), (b, _)| a.cmp(b));
        schemas.reverse();
        schemas.dedup_by(|(later, _), (kept, _)| later == kept);
        schemas.reverse();
        schemas.shrink_to_fit();
        SchemaMap(schemas)
    }
}

type Entry<'s> = (&'s String, &'s JsonSchema);

impl<'s> IntoIterator for &'s SchemaMap {
    type Item = Entry<'s>;
    type IntoIter = std::iter::Map<
        std::slice::Iter<'s, (String, JsonSchema)>,
        fn(&'s (String, JsonSchema)) -> Entry<'s>,
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
                kind: kind.to_owned(),
                ..JsonSchema::default()
            };
            (name.to_owned(), schema)
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
