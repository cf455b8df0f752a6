//! Objects (kube-openapi `pkg/validation/validate/object_validator.go`).

use std::collections::BTreeMap;

use gavel_engine::value::Json;
use serde_json::Map;

use super::fault::{Cause, Fault, Outcome};
use super::node::Node;
use super::trail::Trail;
use crate::correlate::Correlated;

/// What a schema says of objects.
#[derive(Debug)]
pub(super) struct MapRules {
    pub(super) properties: BTreeMap<String, Node>,
    pub(super) others: Others,
    pub(super) required: Vec<String>,
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
    Schema(Node),
}

impl MapRules {
    pub(super) fn check<'f>(
        &'f self,
        fields: &'f Map<String, Json>,
        trail: &Trail<'_>,
        was: Option<Correlated<'_, '_>>,
        outcome: &mut Outcome<'f>,
    ) {
        self.check_size(fields, trail, outcome);
        // Nobody sees changes to the type of the object, so they are not held against the old one.
        let is_root = matches!(trail, Trail::Root);
        let was_field = |name: &str| match name {
            "apiVersion" | "kind" if is_root => None,
            name => was.and_then(|was| was.key(name)),
        };
        for (name, value) in fields {
            match &self.others {
                Others::Any => break,
                _ if self.properties.contains_key(name) => {}
                Others::None => outcome.faults.push(Fault {
                    path: trail.to_string(),
                    cause: Cause::UnknownProperty { name },
                }),
                Others::Schema(schema) => {
                    let trail = Trail::Entry(trail, name);
                    outcome.merge(schema.check(value, &trail, was_field(name)));
                }
            }
        }
        for (name, value) in fields {
            if let Some(schema) = self.properties.get(name) {
                let trail = Trail::Property(trail, name);
                outcome.merge(schema.check(value, &trail, was_field(name)));
            }
        }
        for name in &self.required {
            if !fields.contains_key(name) {
                outcome.faults.push(Fault {
                    path: Trail::Entry(trail, name).to_string(),
                    cause: Cause::Required,
                });
            }
        }
    }

    fn check_size<'f>(
        &self,
        fields: &Map<String, Json>,
        trail: &Trail<'_>,
        outcome: &mut Outcome<'f>,
    ) {
        let actual = i64::try_from(fields.len()).unwrap_or(i64::MAX);
        let mut fault = |cause| {
            let path = trail.to_string();
            outcome.faults.push(Fault { path, cause });
        };
        if let Some(least) = self.min_properties.filter(|least| actual < *least) {
            fault(Cause::TooFewProperties { least, actual });
        }
        if let Some(most) = self.max_properties.filter(|most| actual > *most) {
            fault(Cause::TooManyProperties { most, actual });
        }
    }
}
