//! The answers of an API server about one object or request, as facts that can be compared.

use std::collections::BTreeMap;

/// The topic of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// The error with which an API server would reject the creation of the object.
    Creation,
    /// A warning for the client that creates the object.
    Warning,
    /// The compile error of an expression that is read from storage.
    Compilation,
    /// A warning in a policy's `status.typeChecking`.
    TypeChecking,
    /// The upper bound of an expression's cost, in cost units.
    Estimate,
    /// The message of a denial.
    Decision,
    /// The object of a request after mutating policies.
    Mutation,
    /// The cost of one expression, or of all rules of a definition, for a request; in cost units.
    Cost,
    /// An annotation of the audit event.
    Audit,
}

/// The identity of a fact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) field: String,
    pub(crate) topic: Topic,
    /// The kind or expression, if the field alone does not identify the fact; otherwise empty.
    pub(crate) about: String,
}

/// The facts about one object or request. Several facts with the same key are lines of one text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts(BTreeMap<Key, String>);

impl Topic {
    /// The name in machine-readable output.
    pub const fn name(self) -> &'static str {
        self.names().0
    }

    /// The title in texts for people.
    pub const fn title(self) -> &'static str {
        self.names().1
    }

    /// The name and the title.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Topic::Creation => ("creation", "creation"),
            Topic::Warning => ("warning", "warning"),
            Topic::Compilation => ("compilation", "compilation"),
            Topic::TypeChecking => ("typeChecking", "type checking"),
            Topic::Estimate => ("estimate", "cost at most"),
            Topic::Decision => ("decision", "decision"),
            Topic::Mutation => ("mutation", "mutation"),
            Topic::Cost => ("cost", "cost"),
            Topic::Audit => ("audit", "audit annotation"),
        }
    }
}

impl Facts {
    /// Adds a fact about a field.
    pub(crate) fn add(&mut self, topic: Topic, field: impl Into<String>, text: impl AsRef<str>) {
        self.add_about(topic, field, "", text);
    }

    /// Adds a fact about a field and a kind or expression.
    pub(crate) fn add_about(
        &mut self,
        topic: Topic,
        field: impl Into<String>,
        about: impl Into<String>,
        text: impl AsRef<str>,
    ) {
        let key = Key {
            field: field.into(),
            topic,
            about: about.into(),
        };
        let text = text.as_ref();
        self.0
            .entry(key)
            .and_modify(|lines| *lines = format!("{lines}\n{text}"))
            .or_insert_with(|| text.to_owned());
    }

    /// The text of a fact.
    pub(crate) fn get(&self, key: &Key) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// The keys whose facts differ, in order.
    pub(crate) fn differences<'f>(&'f self, other: &'f Facts) -> Vec<&'f Key> {
        let keys = self.0.keys().chain(other.0.keys());
        let mut keys: Vec<&Key> = keys.filter(|key| self.get(key) != other.get(key)).collect();
        keys.sort_unstable();
        keys.dedup();
        // If an expression does not compile on one server, its cost is not compared.
        let both_known = |key: &Key| self.get(key).is_some() && other.get(key).is_some();
        keys.retain(|key| key.topic != Topic::Estimate || both_known(key));
        keys
    }
}
