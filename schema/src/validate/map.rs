//! Objects (kube-openapi `pkg/validation/validate/object_validator.go`).

use gavel_engine::value::Json;
use serde_json::Map;

use super::fault::{Cause, Outcome};
use super::node::Node;
use super::trail::Trail;
use crate::correlate::Correlated;

/// What a schema says of objects.
#[derive(Debug)]
pub(super) struct MapRules {
    pub(super) properties: Properties,
    pub(super) others: Others,
    pub(super) required: Box<[String]>,
    pub(super) max_properties: Option<i64>,
    pub(super) min_properties: Option<i64>,
}

/// What a schema says of fields that it does not name.
#[derive(Debug)]
pub(super) enum Others {
    /// Nothing.
    Any,
    /// There may be none.
    None,
    /// Their schema.
    Schema(Box<Node>),
}

/// Schemas by the names of their properties, in order. A definition has thousands: they take no more memory than they
/// need.
#[derive(Debug)]
pub(super) struct Properties(Box<[(Box<str>, Node)]>);

impl Properties {
    /// Of schemas in the order of their names.
    pub(super) fn new(sorted: impl Iterator<Item = (Box<str>, Node)>) -> Self {
        Properties(sorted.collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        let found = self.0.binary_search_by(|(key, _)| (**key).cmp(name));
        let (_, node) = found.ok().and_then(|at| self.0.get(at))?;
        Some(node)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.0.iter().map(|(_, node)| node)
    }
}

impl MapRules {
    pub(super) fn check<'f>(
        &'f self,
        fields: &'f Map<String, Json>,
        trail: &Trail<'_, 'f>,
        was: Option<Correlated<'_, '_>>,
        outcome: &mut Outcome<'f>,
    ) {
        self.check_size(fields, trail, outcome);
        // Nobody sees changes to the type of the object, so they are not held against the old one.
        let is_root = trail.is_root();
        let was_field = |name: &str| match name {
            "apiVersion" | "kind" if is_root => None,
            name => was.and_then(|was| was.key(name)),
        };
        for (name, value) in fields {
            match &self.others {
                Others::Any => break,
                _ if self.properties.get(name).is_some() => {}
                Others::None => outcome.add(trail, Cause::UnknownProperty { name }),
                Others::Schema(schema) => {
                    let trail = trail.entry(name);
                    outcome.merge(schema.check(value, &trail, was_field(name)));
                }
            }
        }
        for (name, value) in fields {
            if let Some(schema) = self.properties.get(name) {
                let trail = trail.property(name);
                outcome.merge(schema.check(value, &trail, was_field(name)));
            }
        }
        for name in &self.required {
            if !fields.contains_key(name) {
                outcome.add(&trail.entry(name), Cause::Required);
            }
        }
    }

    fn check_size<'f>(
        &self,
        fields: &Map<String, Json>,
        trail: &Trail<'_, 'f>,
        outcome: &mut Outcome<'f>,
    ) {
        let actual = i64::try_from(fields.len()).unwrap_or(i64::MAX);
        let mut fault = |cause| outcome.add(trail, cause);
        if let Some(least) = self.min_properties.filter(|least| actual < *least) {
            fault(Cause::TooFewProperties { least, actual });
        }
        if let Some(most) = self.max_properties.filter(|most| actual > *most) {
            fault(Cause::TooManyProperties { most, actual });
        }
    }
}
